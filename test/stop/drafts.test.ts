// What is shown of a growing answer when a stop comes: a turn that is put aside leaves it, a turn that ends takes it away.

import assert from "node:assert/strict";
import { test } from "node:test";
import { textOf } from "../../src/core/message.ts";
import type { Agent } from "../../src/ports/agent.ts";
import { stage, whenAborted } from "./stage.ts";

/** Shows two halves at once; `stuck` then waits for its abort, anything else is answered. Taken up again, it is answered. */
const agent: Agent = {
  tools: [],
  async step(job, signal) {
    const isResumed = job.journal.some((entry) => entry.type === "resumed");
    job.draft("one");
    job.draft("one, two");
    if (textOf(job.input.body) === "stuck" && !isResumed)
      await new Promise((_, reject) => whenAborted(signal, () => reject(signal.reason)));
    return { type: "said", text: "one, two, three", calls: [], final: true };
  },
  close: async () => undefined,
};

test("a parked turn leaves its draft standing with its last words; the end takes it away", async (t) => {
  const on = await stage(t);
  const drafts: (string | null)[] = [];
  const platforms = { chat: { drafts } };
  for (const kind of ["planned", "restart", "unexpected"] as const) {
    drafts.length = 0;
    const one = await on.start({ agent, platforms });
    await on.say("stuck");
    await on.until(() => drafts.length > 0, "the first sign of an answer");
    await on.stop(one, { class: kind });
    assert.ok(!drafts.includes(null), `${kind}: ${JSON.stringify(drafts)}`);
    assert.equal(drafts.at(-1), "one, two", kind);
    const next = await on.start({ agent, platforms });
    await on.until(() => drafts.includes(null), "the end of the draft");
    await on.stop(next);
    assert.equal(drafts.at(-1), null);
  }
});

test("a cancelled turn takes its draft away", async (t) => {
  const on = await stage(t);
  const drafts: (string | null)[] = [];
  const one = await on.start({ agent, platforms: { chat: { drafts } } });
  await on.say("stuck");
  await on.until(() => drafts.includes("one, two"), "the words so far");
  const [running] = one.gateway.status().running;
  assert.ok(running);
  void one.gateway.cancel(running.turn);
  await on.until(() => drafts.includes(null), "the end of the draft");
  await on.stop(one);
  assert.equal(drafts.at(-1), null);
});
