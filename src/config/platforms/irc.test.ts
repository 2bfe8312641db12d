import assert from "node:assert/strict";
import { test } from "node:test";
import * as v from "valibot";
import { irc } from "./irc.ts";

const parse = (sasl: unknown) => v.safeParse(irc, { host: "h", nick: "n", sasl });

test("a login is an account with its password, or a certificate", () => {
  const good: readonly unknown[] = [
    { account: "a", password: "p" },
    { certificate: "/c.pem" },
    { certificate: "C:\\c.pem", key: "/k.pem", account: "a" },
  ];
  for (const sasl of good) assert.equal(parse(sasl).success, true, JSON.stringify(sasl));
  const bad: readonly (readonly [unknown, RegExp])[] = [
    [{}, /account.*password.*certificate/],
    [{ account: "a" }, /account.*password.*certificate/],
    [{ account: "a", password: "p", key: "/k.pem" }, /account.*password.*certificate/],
    [{ account: "a", password: "p", certificate: "/c.pem" }, /account.*password.*certificate/],
    [{ certificate: "c.pem" }, /absolute path/],
  ];
  for (const [sasl, why] of bad) {
    const messages = JSON.stringify(
      parse(sasl).issues?.flatMap((issue) => [issue.message, ...(issue.issues ?? []).map(({ message }) => message)]),
    );
    assert.match(messages, why, JSON.stringify(sasl));
  }
});
