// Nothing secret gets through, nothing harmless is lost, and no value can make it throw or run away.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "../core/fault.ts";
import { hideKnown, redactor } from "./redact.ts";

const { text, facts } = redactor([]);

test("secrets of common shapes are hidden wherever they stand in a text", () => {
  const secrets: readonly (readonly [string, string])[] = [
    ["Authorization: Bearer abcdefgh12345678", "abcdefgh12345678"],
    ["sent with bearer abcdefgh12345678 to x", "abcdefgh12345678"],
    ["Basic dXNlcjpwYXNzd29yZA==", "dXNlcjpwYXNzd29yZA"],
    ["http://127.0.0.1:7433/?token=q1w2e3r4", "q1w2e3r4"],
    ["http://127.0.0.1:7433/#link=q1w2e3r4-q1w2e3r4_q1w2e3r4", "q1w2e3r4"],
    ["https://x/?a=b&api_key=q1w2e3r4&c=d", "q1w2e3r4"],
    ["https://x/?key=q1w2e3r4#frag", "q1w2e3r4"],
    ["key sk-proj-abcdefghijklmnop1234 used", "sk-proj-abcdefghijklmnop1234"],
    ["sk-ant-api03-abcdefghijklmnop_-1234", "abcdefghijklmnop"],
    ["xoxb-1234567890-abcdef", "1234567890-abcdef"],
    ["xapp-1-A0B1-123-abcdef", "A0B1"],
    [
      "https://api.telegram.org/bot1234567890:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw/getMe",
      "AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw",
    ],
    ["ghp_abcdefghijklmnopqrstuvwxyz0123456789", "abcdefghij"],
    ["AIzaSyA1234567890abcdefghijklmnopqrstuv", "SyA1234567890"],
    ["AKIAIOSFODNN7EXAMPLE", "IOSFODNN7"],
    ["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl", "eyJzdWIiOiIxMjM0In0"],
    ["postgres://ann:p@ss:w0rd@db:5432/x", "w0rd"],
    ['{"apiKey":"q1w2e3r4","n":1}', "q1w2e3r4"],
    ["{'password': 'q1w2e3r4'}", "q1w2e3r4"],
    ["LLM_API_KEY=q1w2e3r4 node main", "q1w2e3r4"],
    ["run.sh token=q1w2e3r4 x", "q1w2e3r4"],
    ["serve --api-key=q1w2e3r4", "q1w2e3r4"],
    ["serve --password q1w2e3r4 --port 1", "q1w2e3r4"],
    ["cookie: everturn=q1w2e3r4; other=1", "q1w2e3r4"],
    ["-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----\nafter", "MIIE"],
    ["-----BEGIN PRIVATE KEY-----\nMIIE cut off", "MIIE"],
  ];
  for (const [given, secret] of secrets) {
    assert.ok(!text(given).includes(secret), `${given} became ${text(given)}`);
    assert.ok(text(given).includes("[secret]"), given);
  }
});

test("what is around a secret stays", () => {
  assert.equal(text("GET /?token=abc123&x=1 200"), "GET /?token=[secret]&x=1 200");
  assert.equal(text("postgres://ann:pw@db:5432/x"), "postgres://ann:[secret]@db:5432/x");
});

test("ordinary sentences are left alone", () => {
  const sentences = [
    "The gateway listens on http://127.0.0.1:7433/ and has 12 turns",
    "basic understanding of a bot started yesterday",
    "used 1200 tokens in 3 steps; the token was refused",
    "/home/ann/.everturn/state.db is locked at 12:34:56",
    "turn 0190b5f2-7c1e-7b8a-9c55-0a1b2c3d4e5f ended",
    "😀 שלום مرحبا",
    "mail ann@example.org",
  ];
  for (const sentence of sentences) assert.equal(text(sentence), sentence);
});

test("known secrets are hidden in every form they take, the longest first", () => {
  const known = redactor(['pä"ss/word', 'pä"ss/word-and-more', "abc", "", "1234"]);
  assert.equal(known.text('x pä"ss/word-and-more y'), "x [secret] y");
  assert.equal(known.text(JSON.stringify({ a: 'pä"ss/word' })), '{"a":"[secret]"}');
  assert.equal(known.text(`?x=${encodeURIComponent('pä"ss/word')}`), "?x=[secret]");
  assert.equal(known.text(Buffer.from('pä"ss/word').toString("base64")), "[secret]");
  assert.equal(known.text("abc 1234"), "abc [secret]");
  assert.equal(redactor(["\ud800half"]).text("x \ud800half"), "x [secret]");
});

test("values under telling names are masked, counts and flags are not", () => {
  assert.deepEqual(
    facts({
      token: "abc",
      apiKey: "abc",
      "x-api-key": "abc",
      botToken: 5,
      PASSWORD: ["a"],
      headers: { authorization: "abc", "Set-Cookie": "abc", accept: "x" },
      client_secret: "",
      inputTokens: 12,
      hasToken: true,
      secret: null,
      key: "telegram:5",
    }),
    {
      token: "[secret]",
      apiKey: "[secret]",
      "x-api-key": "[secret]",
      botToken: "[secret]",
      PASSWORD: "[secret]",
      headers: { authorization: "[secret]", "Set-Cookie": "[secret]", accept: "x" },
      client_secret: "[secret]",
      inputTokens: 12,
      hasToken: true,
      secret: null,
      key: "telegram:5",
    },
  );
});

test("every kind of value becomes plain data", () => {
  const date = new Date(0);
  const result = facts({
    big: 10n,
    nan: Number.NaN,
    date,
    bad: new Date(Number.NaN),
    bytes: Buffer.from("abc"),
    map: new Map<unknown, unknown>([
      ["token", "x"],
      [{}, 1],
    ]),
    set: new Set([1, "a"]),
    url: new URL("http://x/?token=abc"),
    call: () => 1,
    symbol: Symbol("s"),
    nothing: undefined,
    holes: [1, , 3], // oxlint-disable-line no-sparse-arrays
  });
  assert.deepEqual(JSON.parse(JSON.stringify(result)), {
    big: "10",
    nan: "NaN",
    date: "1970-01-01T00:00:00.000Z",
    bad: "[no date]",
    bytes: "[3 bytes]",
    map: { token: "[secret]", object: 1 },
    set: [1, "a"],
    url: "http://x/?token=[secret]",
    call: "[function]",
    symbol: "Symbol(s)",
    holes: [1, null, 3],
  });
});

test("errors keep their code and causes; a Fault needs no stack", () => {
  const cause = Object.assign(new Error("disk says sk-abcdefghijklmnop1234"), { code: "ENOSPC" });
  const shown = JSON.stringify(facts({ error: new Fault("store-full", "The disk is full.", cause) }));
  const { error } = JSON.parse(shown);
  assert.deepEqual([error.name, error.code, error.message], ["Fault", "store-full", "The disk is full."]);
  assert.equal(error.stack, undefined);
  assert.deepEqual([error.cause.code, error.cause.message], ["ENOSPC", "disk says [secret]"]);
  assert.match(error.cause.stack, /redact\.test/);
  assert.doesNotMatch(shown, /sk-abc/);
  const many = new AggregateError([new Error("one"), "two"], "several");
  assert.match(JSON.stringify(facts(many)), /one.*two/);
});

test("cycles, failing getters, proxies and odd toJSON do not make it throw", () => {
  const cycle: Record<string, unknown> = { name: "x" };
  cycle["self"] = { deeper: cycle };
  const shared = { a: 1 };
  const looped = new Error("loop");
  looped.cause = looped;
  const throwing = new Proxy(
    {},
    {
      ownKeys: () => {
        throw new Error("no");
      },
    },
  ); // prettier-ignore
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  const result = JSON.stringify(
    facts({
      cycle,
      twice: [shared, shared],
      looped,
      getter: {
        get bad() {
          throw new Error("no");
        },
        good: 1,
      },
      throwing,
      revoked: revoked.proxy,
      json: {
        toJSON: () => {
          throw new Error("no");
        },
      },
      endless: endless(),
      nul: Object.create(null),
    }),
  );
  assert.match(result, /"self":\{"deeper":"\[cycle\]"\}/);
  assert.match(result, /"twice":\[\{"a":1\},\{"a":1\}\]/);
  assert.match(result, /"getter":\{"bad":"\[unreadable\]","good":1\}/);
  assert.match(result, /"throwing":"\[unreadable\]","revoked":"\[unreadable\]","json":"\[unreadable\]"/);
  assert.match(result, /"nul":\{\}/);
});

function endless(): unknown {
  return { toJSON: () => ({ next: endless() }) };
}

test("depth, width, length and the whole record are bounded", () => {
  let deep: unknown = "bottom";
  for (let i = 0; i < 1_000; i++) deep = { deep };
  assert.match(JSON.stringify(facts(deep)), /"\[deep\]"/);
  const wide = facts(Array.from({ length: 100_000 }, (_, i) => i));
  assert.ok(Array.isArray(wide) && wide.length === 101 && wide[100] === "[99900 more]");
  const keys = facts(Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`k${i}`, 1])));
  assert.match(JSON.stringify(keys), /\[400 more\]/);
  assert.ok(text("x".repeat(1_000_000)).length < 9_000);
  const huge = Array.from({ length: 100 }, () => Array.from({ length: 100 }, () => "y".repeat(100_000)));
  assert.ok(JSON.stringify(facts(huge)).length < 100_000);
});

test("a secret that stands across the cut is not shown in part", () => {
  const known = redactor(["0123456789abcdefghij"]);
  for (let before = 8_170; before < 8_200; before++)
    assert.doesNotMatch(known.text(`${"x".repeat(before)}0123456789abcdefghij`), /0123456789/);
});

test("texts made to be slow are not", () => {
  const hostile = [
    "a".repeat(32_000),
    "://".repeat(10_000),
    "_".repeat(32_000),
    "A_".repeat(16_000),
    "eyJ".repeat(10_000),
  ];
  hostile.push(
    "-----BEGIN ".repeat(3_000),
    '"token":'.repeat(4_000),
    "1".repeat(32_000),
    "x:".repeat(16_000),
    "://a:".repeat(6_000),
  );
  for (const one of hostile) assert.ok(text(one).length <= 9_000);
});

const planted = ["sk-test/planted+key=1234567890", 'pä"ss\\wörd\n&more', "\ud83d\ude00 smile-secret"] as const;

test("a planted key is hidden in every form it takes, whatever stands around it", () => {
  const hide = hideKnown(planted);
  for (const key of planted) {
    const forms: readonly (readonly [string, string])[] = [
      ["plain", key],
      ["json", JSON.stringify({ a: [key] })],
      ["uri", `https://x/?a=${encodeURIComponent(key)}&b=1`],
      ["base64", Buffer.from(key).toString("base64")],
      ["base64url", Buffer.from(key).toString("base64url")],
      ["hex", Buffer.from(key).toString("hex")],
      ["as the password of somebody", Buffer.from(`ann:${key}`).toString("base64")],
      ["in the middle, at 1", Buffer.from(`x${key} and more`).toString("base64")],
      ["in the middle, at 2", Buffer.from(`xx${key} and more`).toString("base64")],
      ["in the middle, at 3", Buffer.from(`xxx${key}, and more`).toString("base64")],
    ];
    for (const [form, text] of forms) {
      const hidden = hide(`before ${text} after`);
      assert.ok(hidden.includes("[secret]"), `${form} of ${key} stayed: ${hidden}`);
      assert.ok(hidden.startsWith("before ") && hidden.endsWith(" after"), hidden);
      assert.ok(!hidden.includes(key), form);
    }
  }
});

test("only what is known is hidden, and nothing is cut or guessed", () => {
  const hide = hideKnown(["planted-key-1", "planted-key-1-and-longer", "abcde", "", "a.c*ef"]);
  const long = `Bearer abcdefgh12345678 sk-proj-abcdefghijklmnop1234 ${"x".repeat(200_000)} abcde`;
  assert.equal(hide(long), long);
  assert.equal(hide("planted-key-1-and-longer planted-key-1"), "[secret] [secret]");
  assert.equal(hide("a.c*ef abcccef"), "[secret] abcccef");
  assert.equal(hide(`${"y".repeat(100_000)}planted-key-1${"z".repeat(100_000)}`).length, 200_000 + "[secret]".length);
  assert.equal(hideKnown([])("planted-key-1"), "planted-key-1");
  assert.equal(hideKnown(["abc", "12345"])("abc 12345"), "abc 12345");
});

test("what is put in place of a secret is not looked at again", () => {
  assert.equal(hideKnown(["secret", "planted-key"])("planted-key secret"), "[secret] [secret]");
});
