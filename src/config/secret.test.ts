// A secret stays one however it is printed, and what is shown of a configuration holds none.

import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { table } from "../testing/table.ts";
import { Secret, isSecretName, looksSecret, secretsOf, toPrintable, withoutSecrets } from "./secret.ts";

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

table(
  "an address",
  [
    { name: "http://127.0.0.1:80/a@b", secrets: [] },
    { name: "sqlite", secrets: [] },
    { name: "https://ann@host/", secrets: [] },
    { name: "mailto:a@b", secrets: [] },
    { name: "https://host:80/x:y@z", secrets: [] },
    { name: "https://h/v1?page=2&max_tokens=5000&sort=key", secrets: [] },
    { name: "https://h/v1?key=k-1", printed: "https://h/v1?key=[secret]", secrets: ["k-1"] },
    {
      name: "https://h/mcp?a=b&access_token=t%2F1%3D&c=d#id_token=t2",
      printed: "https://h/mcp?a=b&access_token=[secret]&c=d#id_token=[secret]",
      secrets: ["t%2F1%3D", "t/1=", "t2"],
    },
    {
      name: "https://h/?X-Api-Key=k&sig=s%",
      printed: "https://h/?X-Api-Key=[secret]&sig=[secret]",
      secrets: ["k", "s%"],
    },
    {
      name: "http://a:p%40s@h/ and http://b:q@h/?token=t",
      printed: "http://a:[secret]@h/ and http://b:[secret]@h/?token=[secret]",
      secrets: ["p%40s", "p@s", "q", "t"],
    },
  ] satisfies { name: string; printed?: string; secrets: string[] }[],
  ({ name, printed = name, secrets }: { name: string; printed?: string; secrets: string[] }) => {
    assert.equal(withoutSecrets(name), printed);
    assert.deepEqual(secretsOf({ url: name }), secrets);
  },
);

for (const [is, names] of [
  [true, "API_KEY apiKey x-api-key key OPENAIKEY GITHUB_TOKEN TOKEN_1 authToken Authorization X-Auth auth"],
  [true, "DB_PASSWORD_PROD dbPass PGPASSWD PWD_ADMIN CLIENT_SECRET SECRET_KEY_BASE cookie Set-Cookie GH_PAT sig"],
  [false, "NODE_ENV MAX_TOKENS tokens AUTHOR KEYBOARD_LAYOUT PATH LOG_LEVEL AUTH_TYPE TOKEN_URL KEY_FILE passenger"],
] as const)
  for (const name of names.split(" "))
    test(`${name} ${is ? "names" : "does not name"} a secret`, () => assert.equal(isSecretName(name), is));

for (const [is, name, value] of [
  [false, "NODE_ENV", "production"],
  [false, "DESCRIPTION", "Version 2 of what we sell to 14 people"],
  [false, "TZ", "America/Argentina/Buenos_Aires"],
  [false, "Accept", "application/vnd.github.v3+json"],
  [false, "ROOT", "/home/ann/work2/stuff/deep"],
  [false, "ROOT", "../work2/stuff/deeper"],
  [false, "ROOT", "C:\\Users\\ann2\\work"],
  [false, "BASE", "https://api2.example.com/v1"],
  [false, "NODE_OPTIONS", "--max-old-space-size=4096"],
  [false, "CLUSTER", "us-east-production-cluster"],
  [false, "TEAM", "team-4711"],
  [true, "PIN_TOKEN", "4711"],
  [true, "Authorization", "Bearer abc"],
  [true, "X", "9f86d081884c7d659a2feaa0c55ad015"],
  [true, "X", "planted-value-of-a-header-1337"],
  [true, "AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE"],
  [true, "X", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"],
] as const)
  test(`${name}: ${value} is ${is ? "" : "not "}hidden everywhere`, () => assert.equal(looksSecret(name, value), is));

test("what may be a word does not print and is not hidden elsewhere; of a header the key alone is hidden too", () => {
  const env = { a: new Secret("production", true), b: new Secret("Bearer xyz-1") };
  assert.deepEqual(toPrintable(env), { a: "[secret]", b: "[secret]" });
  assert.deepEqual(secretsOf(env), ["Bearer xyz-1", "xyz-1"]);
});
