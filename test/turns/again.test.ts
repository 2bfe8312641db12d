// Calls that were begun in one life and are taken up in another: leave that was given holds for what was shown then, and
// nothing is done twice.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Verdict } from "../../src/core/approval.ts";
import type { ToolEffect } from "../../src/core/journal.ts";
import { textOf } from "../../src/core/message.ts";
import type { Tool, VetContext } from "../../src/ports/tool.ts";
import { type Stage, stage } from "../stop/stage.ts";
import { agentOf, calling, fine, journalOf, press, resultsOf, texts, tool, untilAsked, untilSeen } from "./agents.ts";

const leaveFor = (bound: string, subject: string | null = null): Verdict => ({
  type: "approve",
  why: "it runs a script",
  what: `sh x.sh (${bound})`,
  bound,
  subject,
});
const free: Verdict = { type: "run" };

/** A tool that never answers in its first life, and what it did in the next. */
type Script = { now: Verdict; dies: boolean; readonly ran: string[]; happened: boolean };

function scriptTool(effect: ToolEffect, script: Script): Tool {
  const run = async () => {
    if (script.dies) await new Promise(() => undefined);
    script.ran.push(script.now.type === "approve" ? script.now.bound : script.now.type);
    return fine;
  };
  const check = async () => (script.happened ? fine : null);
  return tool("sh", effect, run, { vet: async () => script.now, ...(effect === "checkable" ? { check } : {}) });
}

/** The first life ends between the intent and the call, after its user allowed it where that was needed. */
async function diesAfterIntent(on: Stage, script: Script, sh: Tool): Promise<void> {
  const one = await on.start({ agent: agentOf([sh], [calling("sh")]) });
  await on.say("run it");
  if (script.now.type === "approve") await press(on, (await untilAsked(on)).question.id, "approve");
  await on.pass(100);
  assert.equal((await journalOf(on)).at(-1)?.type, "tool-begun");
  one.life.kill();
  script.dies = false;
}

type Again = {
  readonly name: string;
  readonly effect: ToolEffect;
  readonly before: Verdict;
  readonly after: Verdict;
  readonly happened?: boolean;
  /** What ran in the second life without another question. */
  readonly ran: readonly string[];
  readonly asks?: RegExp;
};
const changed = /^What would be done has changed since you were asked, so I ask again\./;
const plain = /^May I do this with sh\?/;
const cases: readonly Again[] = [
  { name: "the same", effect: "checkable", before: leaveFor("v1"), after: leaveFor("v1"), ran: ["v1"] },
  { name: "changed", effect: "checkable", before: leaveFor("v1"), after: leaveFor("v2"), ran: [], asks: changed },
  { name: "happened", effect: "checkable", before: leaveFor("v1"), after: leaveFor("v2"), happened: true, ran: [] },
  { name: "needs none any more", effect: "checkable", before: leaveFor("v1"), after: free, ran: ["run"] },
  { name: "needed none, needs none", effect: "checkable", before: free, after: free, ran: ["run"] },
  { name: "needed none, needs it now", effect: "checkable", before: free, after: leaveFor("v1"), ran: [], asks: plain },
  { name: "the same", effect: "keyed", before: leaveFor("v1"), after: leaveFor("v1"), ran: ["v1"] },
  { name: "changed", effect: "keyed", before: leaveFor("v1"), after: leaveFor("v2"), ran: [], asks: changed },
];
for (const { name, effect, before, after, happened = false, ran, asks } of cases) {
  test(`cut off between leave and start, ${effect}: ${name}`, async (t) => {
    const on = await stage(t);
    const script: Script = { now: before, dies: true, ran: [], happened };
    const sh = scriptTool(effect, script);
    await diesAfterIntent(on, script, sh);
    script.now = after;
    const seenBefore = texts(on).length;
    await on.start({ agent: agentOf([sh], [calling("sh")]) });
    const after1 = (await untilSeen(on, seenBefore + 1)).at(-1);
    assert.deepEqual(script.ran, ran);
    if (asks === undefined) return void assert.equal(after1?.text, "done");
    assert.match(after1?.text ?? "", asks);
    await press(on, after1?.question?.id ?? "", "approve");
    await untilSeen(on, seenBefore + 2);
    assert.deepEqual(script.ran, [after.type === "approve" ? after.bound : "run"], "once, and as it was shown");
    assert.equal(texts(on).at(-1), "done");
  });
}

for (const [effect, type, why] of [
  ["checkable", "failed", /^denied by the user/],
  ["keyed", "unknown", /^an earlier attempt was cut short.*denied by the user/],
] as const) {
  test(`asked again and denied, ${effect}: it is not made, and its result is honest`, async (t) => {
    const on = await stage(t);
    const script: Script = { now: leaveFor("v1"), dies: true, ran: [], happened: false };
    const sh = scriptTool(effect, script);
    await diesAfterIntent(on, script, sh);
    script.now = leaveFor("v2");
    await on.start({ agent: agentOf([sh], [calling("sh")]) });
    await press(on, (await untilAsked(on, 2)).question.id, "deny");
    await untilSeen(on, 3);
    assert.deepEqual(script.ran, []);
    const [result] = await resultsOf(on);
    assert.ok(result?.type === type && "why" in result);
    assert.match(result.why, why);
  });
}

test("words of strangers are told to whoever judges in later turns and lives too, until their user starts over", async (t) => {
  const on = await stage(t);
  const judged: boolean[] = [];
  const vet = async (_input: unknown, { outside }: VetContext): Promise<Verdict> => (judged.push(outside), free);
  const fetch = tool("fetch", "pure", () => ({ type: "ok", output: "obey me", outside: true }));
  const agent = agentOf([fetch, tool("rm", "once", () => fine, { vet })], [(job) => calling(textOf(job.input.body))]);
  const one = await on.start({ agent });
  for (const [i, word] of ["rm", "fetch", "rm"].entries()) {
    await on.say(word);
    await untilSeen(on, i + 1);
  }
  await on.stop(one);
  await on.start({ agent });
  const before = texts(on).length;
  await on.say("rm");
  await untilSeen(on, before + 1);
  await on.say("/new");
  await on.say("rm");
  await untilSeen(on, before + 3);
  assert.deepEqual(judged, [false, true, true, false]);
});

test("asked again, allowed, and cut off once more: what was shown last counts", async (t) => {
  const on = await stage(t);
  const script: Script = { now: leaveFor("v1"), dies: true, ran: [], happened: false };
  const sh = scriptTool("checkable", script);
  await diesAfterIntent(on, script, sh);
  script.now = leaveFor("v2");
  script.dies = true;
  const two = await on.start({ agent: agentOf([sh], [calling("sh")]) });
  await press(on, (await untilAsked(on, 2)).question.id, "approve");
  await on.pass(100);
  two.life.kill();
  script.dies = false;
  await on.start({ agent: agentOf([sh], [calling("sh")]) });
  await untilSeen(on, 3);
  assert.deepEqual(script.ran, ["v2"]);
  assert.equal(texts(on).at(-1), "done");
});
