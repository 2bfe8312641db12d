// What the offline agent does with files, and with what needs its user's word.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { noGrant } from "../../core/grant.ts";
import type { Instant, SessionId, TurnId } from "../../core/ids.ts";
import type { Entry, ToolResult } from "../../core/journal.ts";
import type { FileRef } from "../../core/message.ts";
import type { AgentJob, Step } from "../../ports/agent.ts";
import { anOwner } from "../../testing/samples.ts";
import { echo } from "./index.ts";

const address = { platform: "web", account: "local", chat: "c" };
const file: FileRef = { name: "a.png", mime: "image/png", blob: "b1", bytes: 12 };
const goOn = new AbortController().signal;

function open(t: TestContext) {
  const workspace = mkdtempSync(join(tmpdir(), "everturn-echo-"));
  t.after(() => rmSync(workspace, { recursive: true, force: true }));
  return { agent: echo({ workspace, stepMs: 0, toolMs: 0 }), workspace };
}

function jobFor(text: string, files: readonly FileRef[], journal: readonly Entry[]): AgentJob {
  return {
    session: "s" as SessionId,
    address,
    turn: "t" as TurnId,
    attempt: 1,
    input: { key: "k", from: address, sender: "owner", body: { kind: "text", text, files }, sentAt: 1 as Instant },
    journal,
    note: null,
    history: async () => [],
    journalOf: async () => [],
    summary: async () => null,
    memories: async () => [],
    model: null,
    now: () => 1 as Instant,
    pause: async () => undefined,
    draft: () => undefined,
  };
}

function textIn(step: Step): string {
  assert.equal(step.type, "said");
  assert.equal(step.final, true);
  return step.text;
}

const ended = (result: ToolResult): readonly Entry[] => [{ type: "tool-ended", call: "1", result }];

test("files are heard, with words and without", async (t) => {
  const { agent } = open(t);
  assert.equal(
    textIn(await agent.step(jobFor("look", [file], []), goOn)),
    "You said: look\n\nYou sent me:\n- a.png, 12 bytes",
  );
  assert.equal(textIn(await agent.step(jobFor("", [file], []), goOn)), "You sent me:\n- a.png, 12 bytes");
});

test("files are sent back as a wish of a tool", async (t) => {
  const { agent } = open(t);
  const step = await agent.step(jobFor("send it back", [file], []), goOn);
  assert.equal(step.type, "said");
  const [call] = step.calls;
  const tool = agent.tools.find((one) => one.name === call?.tool) ?? assert.fail("no such tool");
  const context = {
    session: "s" as SessionId,
    turn: "t" as TurnId,
    address,
    key: "k1",
    requester: anOwner,
    grant: noGrant,
    outside: false,
    fence: 1,
    signal: goOn,
    now: () => 1 as Instant,
    tell: () => undefined,
  };
  const result = await tool.run(call?.input, context);
  assert.deepEqual(result, {
    type: "ok",
    output: "sent",
    wishes: [{ type: "send", text: "Here you are.", files: [file] }],
  });
  assert.equal(
    textIn(await agent.step(jobFor("send it back", [file], ended(result)), goOn)),
    "That is all I was given.",
  );
  assert.match(textIn(await agent.step(jobFor("send it back", [], []), goOn)), /Attach a file/);
});

test("a letter is posted only with its user's word; the same letter is bound the same, another is not", async (t) => {
  const { agent, workspace } = open(t);
  const step = await agent.step(jobFor("please ask before you act", [], []), goOn);
  assert.equal(step.type, "said");
  const [call] = step.calls;
  const tool = agent.tools.find((one) => one.name === call?.tool) ?? assert.fail("no such tool");
  assert.equal(tool.effect, "once");
  const vetting = { session: "s" as SessionId, address, requester: anOwner, outside: false, now: () => 1 as Instant };
  const vet = (input: unknown) => tool.vet?.(input, vetting) ?? assert.fail("it is not vetted");
  const verdict = await vet(call?.input);
  assert.equal(verdict.type, "approve");
  assert.match(verdict.what, /I asked before I acted/);
  assert.deepEqual(await vet(call?.input), verdict);
  const other = await vet({ text: "another" });
  assert.equal(other.type, "approve");
  assert.notEqual(other.bound, verdict.bound);
  const context = {
    ...vetting,
    turn: "t" as TurnId,
    key: "k1",
    requester: anOwner,
    grant: noGrant,
    fence: 1,
    signal: goOn,
    tell: () => undefined,
  };
  const result = await tool.run(call?.input, context);
  assert.equal(readFileSync(join(workspace, "letters.log"), "utf8"), "k1 I asked before I acted.\n");
  assert.equal(
    textIn(await agent.step(jobFor("ask before you act", [], ended(result)), goOn)),
    "Done: the letter is posted.",
  );
  const denied = ended({ type: "failed", why: "its user said no" });
  assert.equal(
    textIn(await agent.step(jobFor("ask before you act", [], denied), goOn)),
    "I did not do it: its user said no",
  );
});
