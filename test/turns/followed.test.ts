// A command that outlives the gateway: however often that ends beside it, the turn goes on following it. But not for ever:
// what brings the process down every time is given up, and then the command is ended too.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { ToolResult } from "../../src/core/journal.ts";
import { limits } from "../../src/core/limits.ts";
import type { Tool, ToolContext } from "../../src/ports/tool.ts";
import { type Living, type Stage, stage, whenAborted } from "../stop/stage.ts";
import { agentOf, calling, fine, resultsOf, texts, tool, turnsOf, untilSeen } from "./agents.ts";

type Job = { started: number; followed: number; isOver: boolean; readonly dropped: string[] };

function command(job: Job): Tool {
  const follow = ({ signal }: ToolContext): Promise<ToolResult> =>
    job.isOver
      ? Promise.resolve(fine)
      : new Promise((_, fail) => whenAborted(signal, () => fail(signal.reason as Error)));
  const run = (context: ToolContext) => (job.started++, follow(context));
  return tool("build", "checkable", run, {
    check: (_input, context) => (job.followed++, follow(context)),
    drop: async (_input, { key }) => void job.dropped.push(key),
  });
}

/** So many lives, each of which looks at the command for a while and then ends. */
async function livesOf(
  on: Stage,
  job: Job,
  count: number,
  end: (one: Living) => Promise<void>,
  ms = 3 * limits.beatMs,
): Promise<void> {
  for (let n = 1; n <= count; n++) {
    const one = await on.start({ agent: agentOf([command(job)], [calling("build")]) });
    if (n === 1) await on.say("build it");
    await on.until(() => job.started + job.followed >= n, `life ${n} to look at it`);
    await on.pass(ms);
    await end(one);
  }
}

const crash = async (one: Living): Promise<void> => one.life.kill();
const ends: Readonly<Record<string, (on: Stage) => (one: Living) => Promise<void>>> = {
  restarts: (on) => async (one) => void (await on.stop(one, { class: "restart" })),
  stops: (on) => async (one) => void (await on.stop(one, { class: "planned" })),
  crashes: () => crash,
};
for (const [name, end] of Object.entries(ends)) {
  test(`a long command survives nine ${name}, and its result arrives`, async (t) => {
    const on = await stage(t);
    const job: Job = { started: 0, followed: 0, isOver: false, dropped: [] };
    await livesOf(on, job, 9, end(on));
    assert.equal(await on.store.strikes((await on.store.sessions({ limit: 1 }))[0]?.key ?? ""), 0);
    job.isOver = true;
    const before = texts(on).length;
    await on.start({ agent: agentOf([command(job)], [calling("build")]) });
    await untilSeen(on, before + 1);
    assert.equal(texts(on).at(-1), "done");
    assert.deepEqual(await resultsOf(on), [fine]);
    assert.deepEqual([job.started, job.dropped], [1, []]);
  });
}

test("what the process dies beside at once, every time, is given up, and its command ended", async (t) => {
  const on = await stage(t);
  const job: Job = { started: 0, followed: 0, isOver: false, dropped: [] };
  await livesOf(on, job, 1 + limits.strikesMax, crash, 1_000);
  const [turn] = await turnsOf(on);
  assert.equal(turn?.now.state, "running", "not a life too early");
  await on.start({ agent: agentOf([command(job)], [calling("build")]) });
  await untilSeen(on, 1);
  const [given] = await turnsOf(on);
  assert.ok(given?.now.state === "done" && given.now.outcome === "failed");
  assert.match(texts(on).at(-1) ?? "", /gave this up|give this up|could not finish/i);
  const [result] = await resultsOf(on);
  assert.equal(result?.type, "unknown");
  await on.until(() => job.dropped.length === 1, "the end of the command");
});

test("the same command begun anew and died of again is still what the turn dies of", async (t) => {
  const on = await stage(t);
  const again = tool("build", "checkable", () => new Promise(() => undefined), {
    check: async () => ({ type: "unknown", why: "it is gone" }),
  });
  const lives = limits.strikesMax + 1;
  for (let n = 1; n <= lives; n++) {
    const one = await on.start({
      agent: agentOf(
        [again],
        Array.from({ length: 9 }, () => calling("build")),
      ),
    });
    if (n === 1) await on.say("build it");
    await on.pass(1_000);
    one.life.kill();
  }
  await on.start({ agent: agentOf([again], []) });
  await on.pass(60_000);
  const [turn] = await turnsOf(on);
  assert.ok(turn?.now.state === "done" && turn.now.outcome === "failed", JSON.stringify(turn?.now));
});
