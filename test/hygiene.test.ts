// A secret that the gateway knows is planted wherever words can come from, and is found neither at a platform nor in the store
// of what we said: one row for each way out.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { ItemId } from "../src/core/ids.ts";
import { type Inbound, textOf } from "../src/core/message.ts";
import type { OutboxItem, SendResult } from "../src/core/outbox.ts";
import type { Agent, Step } from "../src/ports/agent.ts";
import type { Platform } from "../src/ports/platform.ts";
import { veilPlatform } from "../src/engine/outbox/veil.ts";
import { type Living, type Stage, type StageOptions, at, stage } from "./stop/stage.ts";

const secret = "sk-planted-123456789";
const mask = "[hidden]";
const hide = (text: string): string => text.replaceAll(secret, mask);

/** Lets virtual time pass until it is there. */
async function come<T>(on: Stage, promise: Promise<T>): Promise<T> {
  let isThere = false;
  const there = () => void (isThere = true);
  promise.then(there, there);
  await on.until(() => isThere);
  return promise;
}

/** Says, asks, fails or calls a tool, with the secret in its words. */
const talkative: Agent = {
  tools: [
    {
      name: "send",
      description: "sends a file",
      effect: "keyed",
      input: {},
      run: async () => ({
        type: "ok",
        output: "sent",
        wishes: [{ type: "send", text: `here is ${secret}`, files: [] }],
      }),
    },
    {
      name: "wake",
      description: "reminds",
      effect: "keyed",
      input: {},
      run: async (_input, { now }) => {
        const wish = {
          type: "wake",
          at: (now() + 60_000) as ReturnType<typeof now>,
          text: `remember ${secret}`,
        } as const;
        return { type: "ok", output: "will do", wishes: [wish] };
      },
    },
  ],
  async step({ input, journal, draft, now, pause }): Promise<Step> {
    const text = textOf(input.body);
    const isFirst = journal.length === 0;
    if (text === "draft") {
      draft(`it is ${secret}`);
      await pause(500);
    }
    if (text === "ask" && isFirst)
      return {
        type: "asked",
        text: `${secret}?`,
        choices: [secret, "no"],
        until: (now() + 1e6) as ReturnType<typeof now>,
      };
    if (text === "fail") return { type: "failed", retry: "never", why: `no ${secret}` };
    if (["send", "wake"].includes(text) && isFirst)
      return { type: "said", text: "", calls: [{ call: "1", tool: text, input: {} }], final: false };
    return { type: "said", text: `${text}: it is ${secret}`, calls: [], final: true };
  },
  close: async () => undefined,
};

type Way = {
  readonly name: string;
  readonly options?: StageOptions;
  readonly go: (on: Stage, one: Living) => Promise<unknown>;
  /** How many items have left when it is over. */
  readonly items: number;
};

const say = (text: string, more?: Partial<Inbound>) => (on: Stage) => on.say(text, more);
const inPieces: Platform["parts"] = (text) => text.match(/.{1,7}/gs) ?? [];
const refusing = async (): Promise<SendResult> => ({ type: "refused", why: `no such chat at https://x/${secret}` });
const cannot = () => Promise.reject(new Error(`nobody can, because of ${secret}`));

const ways: readonly Way[] = [
  { name: "an answer", go: say("hello"), items: 1 },
  {
    name: "an answer in parts that would cut it",
    options: { platforms: { chat: { is: { parts: inPieces } } } },
    go: say("hello"),
    items: inPieces(`hello: it is ${mask}`).length,
  },
  { name: "a question and its choices", go: say("ask"), items: 1 },
  { name: "the answer to a question", go: async (on) => (await on.say("ask"), await on.say("1")), items: 2 },
  { name: "the end of a turn that failed", go: say("fail"), items: 1 },
  { name: "a tool that sends", go: say("send"), items: 2 },
  { name: "a reminder", go: async (on) => (await on.say("wake"), await on.pass(120_000)), items: 2 },
  { name: "a preview", options: { platforms: { chat: { drafts: [] } } }, go: say("draft"), items: 1 },
  { name: "the answer to a command", go: async (on) => (await on.say(secret), await on.say("/undo")), items: 2 },
  {
    name: "a message of the operator",
    go: (on, one) => come(on, one.gateway.post(at("a"), `look: ${secret}`, "k")),
    items: 1,
  },
  {
    name: "a restart that cannot be",
    options: { prepareRestart: cannot, settings: { chat: { admins: ["ann"] } } },
    go: say("/restart"),
    items: 1,
  },
  {
    name: "what a platform complains of",
    options: { platforms: { chat: { is: { send: refusing } } } },
    go: say("hello"),
    items: 0,
  },
];

describe("a known secret is told nowhere", () => {
  for (const { name, options = {}, go, items } of ways) {
    test(name, async (t) => {
      const on = await stage(t);
      const shown: (string | null)[] = options.platforms?.["chat"]?.drafts ?? [];
      const one = await on.start({ agent: talkative, hide, ...options });
      await go(on, one);
      const { sent = [] } = on.servers.get("chat") ?? {};
      await on.until(() => sent.length >= items, `${items} items`);
      await on.pass(1_000);
      const lines = (await on.store.messagesAfter(at("a"), 0, 100)).filter(({ role }) => role !== "user");
      const stored = await on.store.items({ limit: 100 });
      const left = JSON.stringify([sent, shown, lines, stored]);
      assert.ok(!left.includes(secret), left);
      assert.ok(!left.includes(secret.slice(0, 7)), "nor a piece of it");
      assert.ok(left.includes(mask) || left.includes(mask.slice(1, 5)), "what was hidden stands there hidden");
      assert.equal(sent.length, items);
      // What people wrote themselves stays theirs.
      if (name.includes("command"))
        assert.ok(JSON.stringify(await on.store.messagesAfter(at("a"), 0, 9)).includes(secret));
      await on.stop(one);
    });
  }
});

test("no way leads around: whatever reaches a platform, and whatever it says, is clean", async () => {
  const given: unknown[] = [];
  const why = `about ${secret}`;
  const note = async (...all: unknown[]): Promise<SendResult> => (given.push(all), { type: "unknown", why });
  const signal = new AbortController().signal;
  const plain: Platform = {
    name: "x",
    account: "a",
    can: { keyedSend: true, draftEveryMs: null },
    parts: (text) => (given.push(text), [text]),
    listen: async () => void given.push("listens"),
    send: note,
    draft: (...all) => void given.push(all),
    drafts: { place: note, fill: note, remove: note },
    typing: (...all) => void given.push(all),
    probe: async () => why,
  };
  const veiled = veilPlatform(plain, hide);
  assert.deepEqual(Object.keys(veiled), Object.keys(plain), "nothing is missing");
  const question = { id: "q", choices: [secret, "no"] };
  const item = { id: "i" as ItemId, text: `it is ${secret}`, question } as unknown as OutboxItem;
  const told = [
    await veiled.send(item, signal),
    await veiled.drafts?.place(at("a"), {}, signal, { id: "k", placedSince: null }),
    await veiled.drafts?.fill(at("a"), "1", secret, signal),
    await veiled.drafts?.remove(at("a"), "1", signal),
    await veiled.probe?.(signal),
    veiled.parts(`it is ${secret}`),
  ];
  veiled.draft(at("a"), secret);
  veiled.draft(at("a"), null);
  veiled.typing?.(at("a"), {});
  assert.equal(given.length, 8);
  assert.ok(!JSON.stringify([given, told]).includes(secret));
  assert.equal(JSON.stringify(told).match(/about \[hidden\]/g)?.length, 5);
  assert.deepEqual(Object.keys(veilPlatform({ ...plain, can: plain.can }, hide)), Object.keys(plain));
  const { drafts: _drafts, typing: _typing, probe: _probe, ...bare } = plain;
  assert.deepEqual(Object.keys(veilPlatform(bare, hide)), Object.keys(bare), "and nothing is there that was not");
});

test("only the outbox sends to platforms, and what is said before a stop", () => {
  const folder = join(import.meta.dirname, "../src/engine");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
  const senders = files.filter((name) => /\bplatform\??\.send\(/i.test(readFileSync(join(folder, name), "utf8")));
  const allowed = ["outbox/pump.ts", "outbox/veil.ts", "stop/notices.ts"].map((name) => join(name));
  assert.deepEqual(senders.toSorted(), allowed);
});
