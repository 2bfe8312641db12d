// What an agent wants to be allowed for its own tools: an approval in the store, on the way to people, and for their words.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Step } from "../../src/ports/agent.ts";
import { at } from "../../src/testing/samples.ts";
import { stage } from "../stop/stage.ts";
import { agentOf, journalOf, seen, texts, untilAsked, untilSeen } from "./agents.ts";

const secret = "sk-planted-0002";
const wants: Step = {
  type: "asked",
  kind: "approval",
  text: `May I? ${secret}`,
  choices: ["approve", "deny"],
  what: `echo ${secret}`,
  bound: "b",
  until: at(1e9),
};

test("an agent's approval is answered by /approve and by clear words alone, and keeps no secret", async (t) => {
  for (const [words, choice] of [
    ["/approve", "approve"],
    ["always", "approve"],
    ["/deny not now", "deny: not now"],
  ] as const) {
    const on = await stage(t);
    await on.start({ agent: agentOf([], [wants]), hide: (text) => text.replaceAll(secret, "[hidden]") });
    await on.say("go");
    await untilAsked(on);
    const [asked] = await on.store.asked(10);
    assert.equal(asked?.kind, "approval");
    assert.equal(seen(on)[0]?.question?.kind, "approval");
    await on.say(words);
    await untilSeen(on, 2);
    const [first, answer] = await journalOf(on);
    assert.ok(first?.type === "asked" && first.what === "echo [hidden]" && first.bound === "b", JSON.stringify(first));
    assert.equal(answer?.type === "answered" ? answer.choice : null, choice);
    assert.ok(!JSON.stringify(await journalOf(on)).includes(secret));
  }
});

test("an approval that is none is the agent's failure", async (t) => {
  const on = await stage(t);
  const broken = { ...wants, what: 7 } as unknown as Step;
  let given = 0;
  const agent = agentOf([], [() => (given++ === 0 ? broken : wants)]);
  await on.start({ agent });
  await on.say("go");
  await untilAsked(on);
  assert.equal(given, 2);
  assert.match(texts(on)[0] ?? "", /^May I\?/);
});
