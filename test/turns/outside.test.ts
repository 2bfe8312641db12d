// Messages that hold strangers' words: their conversation is marked in the commit that takes them in, so that whatever is
// judged from then on is judged more strictly, in this life and the next, until its user starts over.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { AgentJob } from "../../src/ports/agent.ts";
import { stage } from "../stop/stage.ts";
import { agentOf, calling, fine, tool, turnsOf, untilSeen } from "./agents.ts";

/** Calls one tool in every turn; what its judgement was told is noted. */
function judging(told: boolean[], during: (job: AgentJob) => Promise<unknown> = async () => undefined) {
  const look = tool("look", "pure", () => fine, {
    vet: async (_input, { outside }) => {
      told.push(outside);
      return { type: "run" };
    },
  });
  const first = async (job: AgentJob) => {
    await during(job);
    return calling("look");
  };
  return agentOf([look], [first]);
}

test("the conversation is marked with the message, and stays so for what comes later", async (t) => {
  const on = await stage(t);
  const told: boolean[] = [];
  const marks: (boolean | undefined)[] = [];
  const living = await on.start({
    agent: judging(told, async ({ session }) => marks.push((await on.store.session(session))?.outside)),
  });
  await on.say("of the user");
  await untilSeen(on, 1);
  await on.say("of strangers", { outside: true });
  await untilSeen(on, 2);
  await on.say("of the user again");
  await untilSeen(on, 3);
  assert.deepEqual(told, [false, true, true]);
  assert.deepEqual(marks, [false, true, true], "stored before the turn begins");
  living.life.kill();
  await on.start({ agent: judging(told) });
  await on.say("after a death");
  await untilSeen(on, 4);
  await on.say("/new");
  await untilSeen(on, 5);
  await on.say("started over");
  await untilSeen(on, 6);
  assert.deepEqual(told.slice(3), [true, false]);
});

test("the first message of a conversation marks it too, and its line says whose words they are", async (t) => {
  const on = await stage(t);
  const told: boolean[] = [];
  await on.start({ agent: judging(told) });
  await on.say("/stop everything", { outside: true });
  await untilSeen(on, 1);
  assert.deepEqual(told, [true]);
  const [turn] = await turnsOf(on);
  const lines = await on.store.history(turn?.session ?? assert.fail("there is no turn"), 10);
  assert.deepEqual(
    lines.map(({ role, outside }) => [role, outside]),
    [
      ["user", true],
      ["assistant", undefined],
    ],
  );
});

test("one that joins a running turn counts at once", async (t) => {
  const on = await stage(t);
  const told: boolean[] = [];
  const look = tool("look", "pure", () => fine, {
    vet: async (_input, { outside }) => {
      told.push(outside);
      if (told.length === 1) await on.write("of strangers", { outside: true });
      return { type: "run" };
    },
  });
  const agent = agentOf([look], [calling("look"), calling("look")]);
  await on.start({ agent, settings: { chat: { busy: "steer" } } });
  await on.say("of the user");
  await untilSeen(on, 1);
  assert.deepEqual(told, [false, true]);
});

test("answered again, they are still strangers' words", async (t) => {
  const on = await stage(t);
  const told: boolean[] = [];
  const inputs: (true | undefined)[] = [];
  await on.start({ agent: judging(told, async ({ input }) => inputs.push(input.outside)) });
  await on.say("of strangers", { outside: true, task: "look" });
  await untilSeen(on, 1);
  await on.say("/retry");
  await untilSeen(on, 2);
  assert.deepEqual(
    [inputs, told],
    [
      [true, true],
      [true, true],
    ],
  );
});

test("what waits behind them in the same lane is judged with them", async (t) => {
  const on = await stage(t);
  const told: boolean[] = [];
  let isFirst = true;
  const agent = judging(told, async () => {
    if (!isFirst) return;
    isFirst = false;
    await on.write("of strangers", { outside: true });
    await on.write("of the user again");
  });
  await on.start({ agent });
  await on.say("of the user");
  await untilSeen(on, 3);
  assert.deepEqual(told, [true, true, true]);
});
