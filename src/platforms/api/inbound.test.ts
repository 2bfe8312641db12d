// What callers send, against payloads as clients send them: which words are new, what comes with them, what is refused.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { ChatRequest } from "./api.ts";
import { recognise } from "./asked/recognise.ts";
import type { Refusal } from "./faults.ts";
import { firstText, idOf, isFirst, plainText, readKey, readRequest, readSession, takeApart } from "./inbound.ts";

const sample = (name: string) => readFileSync(join(import.meta.dirname, "samples", `${name}.json`), "utf8");

function read(body: string): ChatRequest {
  const found = readRequest(body);
  return "status" in found ? assert.fail(found.message) : found;
}

function apart(body: string) {
  const found = takeApart(read(body).messages);
  return "status" in found ? assert.fail(found.message) : found;
}

test("a request as the SDK of OpenAI sends it", () => {
  const { model, stream, includeUsage, user, messages } = read(sample("openai-node-stream"));
  assert.deepEqual([model, stream, includeUsage, user], ["everturn", true, true, "user-1234"]);
  assert.deepEqual(
    messages.map(({ role }) => role),
    ["system", "user"],
  );
});

test("pictures, sound and files come with the words; what has no bytes is named in them", () => {
  const { newest, system } = apart(sample("content-parts"));
  assert.deepEqual(system, ["Answer in one line."]);
  assert.equal(
    newest.text,
    "What is this?\n\n[picture: https://example.com/cat.jpg]\n\n[file file-abc123 was only named, not sent: its content must come as file_data]",
  );
  assert.deepEqual(
    newest.files.map(({ name, mime, bytes }) => [name, mime, Buffer.from(bytes).toString("latin1")]),
    [
      ["picture-1.png", "image/png", "\x89PNG\r\n\x1a\n"],
      ["sound-2.wav", "audio/wav", "RIFF"],
      ["report.pdf", "application/pdf", "%PDF-"],
    ],
  );
});

test("of a whole history only the newest words are new", () => {
  const { newest, before, system } = apart(sample("chat-ui-history"));
  assert.equal(newest.text, "and now?");
  assert.deepEqual(
    before.map(({ role, text }) => [role, text]),
    [
      ["user", "hello there"],
      ["assistant", "You said: hello there"],
    ],
  );
  assert.deepEqual(system, ["Today is 2026-11-15."]);
});

test("a first message has the new words in front, and is known again whatever the app wants then", () => {
  const asked = apart(sample("chat-ui-history"));
  const text = firstText(asked);
  assert.match(
    text,
    /^and now\?\n\n\[What was said.*\]\nuser: hello there\n\nassistant: You said.*Today is 2026-11-15\.$/s,
  );
  assert.ok(isFirst(text, plainText(asked)));
  assert.ok(isFirst(firstText({ ...asked, system: ["Today is another day."] }), plainText(asked)));
  assert.ok(isFirst(plainText(asked), plainText(asked)));
  assert.ok(!isFirst(`${plainText(asked)} more`, plainText(asked)));
  const command = { ...asked.newest, text: "/new" };
  assert.equal(firstText({ ...asked, newest: command }), "/new");
});

describe("what is refused", () => {
  const messages = [{ role: "user", content: "hi" }];
  const cases: readonly (readonly [what: string, body: unknown, param: string | undefined])[] = [
    ["no JSON", "{", undefined],
    ["no object", [1], undefined],
    ["nothing", null, undefined],
    ["no messages", {}, "messages"],
    ["empty messages", { messages: [] }, "messages"],
    ["a message that is none", { messages: ["hi"] }, "messages[0]"],
    ["a role that is none", { messages: [{ role: "god", content: "hi" }] }, "messages[0].role"],
    ["a role from the prototype", { messages: [{ role: "constructor", content: "hi" }] }, "messages[0].role"],
    ["a content that is none", { messages: [{ role: "user", content: 7 }] }, "messages[0].content"],
    ["a part that is none", { messages: [{ role: "user", content: [7] }] }, "messages[0].content[0]"],
    [
      "a part of another kind",
      { messages: [{ role: "user", content: [{ type: "video" }] }] },
      "messages[0].content[0].type",
    ],
    [
      "no base64",
      {
        messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,%%" } }] }],
      },
      "messages[0].content[0].image_url",
    ],
    [
      "another kind of address",
      { messages: [{ role: "user", content: [{ type: "image_url", image_url: "file:///etc/passwd" }] }] },
      "messages[0].content[0].image_url",
    ],
    ["tools", { messages, tools: [{ type: "function", function: { name: "f" } }] }, "tools"],
    ["functions", { messages, functions: [{ name: "f" }] }, "functions"],
    ["two answers", { messages, n: 2 }, "n"],
    ["a stream that is no answer", { messages, stream: "yes" }, "stream"],
  ];
  for (const [what, body, param] of cases) {
    test(what, () => {
      const found = readRequest(typeof body === "string" ? body : JSON.stringify(body)) as Refusal;
      assert.deepEqual([found.status, found.param], [400, param]);
      assert.match(found.message, /\.$/);
    });
  }

  test("nothing to answer", () => {
    const role = (of: string, content: unknown) => ({ role: of, content });
    for (const list of [
      [role("system", "be kind")],
      [role("user", "hi"), role("assistant", "hello")],
      [role("user", " ")],
      [role("user", Array(21).fill({ type: "file", file: { file_data: "aGk=" } }))],
    ])
      assert.equal((takeApart(read(JSON.stringify({ messages: list })).messages) as Refusal).status, 400);
  });
});

test("what is empty or unknown is ignored", () => {
  const messages = [
    { role: "user", content: "hi" },
    { role: "system", content: "briefly" },
  ];
  const asked = read(JSON.stringify({ messages, tools: [], n: 1, seed: 4, stop: ["x"], stream: null, user: " " }));
  assert.deepEqual([asked.model, asked.stream, asked.includeUsage, asked.user], ["everturn", false, false, null]);
  const found = takeApart(asked.messages);
  assert.deepEqual("status" in found ? found : [found.newest.text, found.system], ["hi", ["briefly"]]);
});

test("names of conversations and keys", () => {
  for (const name of ["a", "user@example.com", "ü 1", "x".repeat(200)]) assert.equal(readSession(name), name);
  for (const name of ["", "  ", "a\nb", "x".repeat(201)]) assert.equal(readSession(name), null);
  for (const key of ["a", "{8f-e1}", "x".repeat(255)]) assert.equal(readKey(key), key);
  for (const key of ["", "a b", "ü", "x".repeat(256)]) assert.equal(readKey(key), null);
  assert.equal(idOf("a", "k"), idOf("a", "k"));
  const pairs = ["a,k", "b,k", "a,l", "a,bc", "ab,c"].map((pair) => pair.split(","));
  assert.equal(new Set(pairs.map(([caller = "", key = ""]) => idOf(caller, key))).size, pairs.length);
});

test("megabytes of anything are looked at in no time", async () => {
  const many = (of: string, n = 2_000_000) => of.repeat(n);
  const part = (one: object) => ({ messages: [{ role: "user", content: [one] }] });
  const picture = (url: string) => part({ type: "image_url", image_url: { url } });
  const talk = Array.from({ length: 10_000 }, (_, i) => ({
    role: i % 2 === 0 ? "user" : "assistant",
    content: many("a", 1_000),
  }));
  const cases: readonly (readonly [what: string, body: object | string])[] = [
    ["blanks that are no base64", part({ type: "file", file: { file_data: `${many(" ")}!` } })],
    ["base64 that is none at its end", part({ type: "input_audio", input_audio: { data: `${many("a")}!` } })],
    ["an address of semicolons", picture(`data:${many(";")},a`)],
    ["an address of almost endings", picture(`data:${many(";base64", 300_000)}x,a`)],
    ["a type", picture(`data:${many("a")}/${many("a")};base64,aGk=`)],
    ["a command of blanks", { messages: [{ role: "user", content: `/a ${many(" ")}` }] }],
    ["almost a command", { messages: [{ role: "user", content: `/a@${many("a")} ${many(" ")}x` }] }],
    ["parts", { messages: [{ role: "user", content: Array(300_000).fill({ type: "text", text: "a" }) }] }],
    ["lists in lists", `{"messages":[{"role":"user","content":"hi"}],"stop":${many("[")}${many("]")}}`],
    ["a talk of very many words", { messages: [...talk, { role: "user", content: "and now?" }].slice(1) }],
  ];
  const nobody = { sessions: async () => [], messagesBefore: never, messagesAfter: never, entries: never };
  for (const [what, body] of cases) {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const before = performance.now();
    const asked = readRequest(text);
    const found = "status" in asked ? asked : takeApart(asked.messages);
    if (!("status" in found)) {
      firstText(found);
      await recognise(
        { archive: nobody, store: { turn: never, turnBy: never }, troubleOf: () => null },
        "app",
        found.before,
        () => false,
      );
    }
    const ms = performance.now() - before;
    assert.ok(ms < 10_000, `${what}: ${ms} ms`);
  }
});

const never = (): never => assert.fail("nobody asked for it");
