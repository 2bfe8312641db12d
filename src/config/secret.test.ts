// A secret stays one however it is printed, and what is shown of a configuration holds none.

import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { Secret, secretsOf, toPrintable, withoutPassword } from "./secret.ts";

test("a secret does not print in any of the ways things get printed", () => {
  const secret = new Secret("hunter2-very-long");
  const ways = [
    String(secret),
    [secret].join(),
    "".concat(String(secret)),
    JSON.stringify({ secret }),
    inspect({ secret }, { showHidden: true, depth: 9 }),
    JSON.stringify(Object.entries(secret)),
    JSON.stringify(structuredClone(Object.assign({}, secret))),
    new Error(String(secret)).message,
  ];
  for (const way of ways) assert.doesNotMatch(way, /hunter2/);
  assert.equal(secret.reveal(), "hunter2-very-long");
});

test("what is printed of a configuration holds no secret and no password inside an address", () => {
  const config = {
    agent: { apiKey: new Secret("sk-1"), list: [new Secret("sk-2"), "plain", 5, null, 7n] },
    store: { url: "postgres://ann:p@ss:word@db.example:5432/x" },
  };
  assert.deepEqual(toPrintable(config), {
    agent: { apiKey: "[secret]", list: ["[secret]", "plain", 5, null, "7"] },
    store: { url: "postgres://ann:[secret]@db.example:5432/x" },
  });
  assert.deepEqual(secretsOf(config), ["sk-1", "sk-2", "p@ss:word"]);
});

test("an address without a password stays as it is", () => {
  for (const text of ["http://127.0.0.1:80/a@b", "sqlite", "https://ann@host/", "mailto:a@b", "https://host:80/x:y@z"])
    assert.equal(withoutPassword(text), text);
});
