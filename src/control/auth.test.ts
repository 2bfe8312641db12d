// The token file: made once, kept private, and never guessed from the time an answer takes.

import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Fault } from "../core/fault.ts";
import { openToken, readToken, sameToken } from "./auth.ts";
import { folder } from "./samples.ts";

test("a token is made once, with 32 random bytes, for its owner only", (t) => {
  const file = join(folder(t), "control.token");
  const token = openToken(file);
  assert.equal(Buffer.from(token, "base64url").length, 32);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal(openToken(file), token);
  assert.equal(readToken(file), token);
  assert.equal(readFileSync(file, "utf8"), `${token}\n`);
});

test("a token that others could read is closed to them; an empty one is replaced", (t) => {
  const file = join(folder(t), "control.token");
  const token = openToken(file);
  chmodSync(file, 0o644);
  assert.equal(openToken(file), token);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  writeFileSync(file, "");
  assert.equal(readToken(file), null);
  assert.notEqual(openToken(file), token);
});

test("a place where no token can be is a fault that names it", (t) => {
  const file = join(folder(t), "control.token");
  mkdirSync(file);
  assert.throws(
    () => openToken(file),
    (error) => error instanceof Fault && error.message.includes(file),
  );
});

test("tokens are compared whole", () => {
  assert.ok(sameToken("abc", "abc"));
  for (const other of ["", "ab", "abcd", "abC"]) assert.ok(!sameToken(other, "abc"));
});
