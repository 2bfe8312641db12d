// One step of the agent: given everything on record, watched for signs of life, and given up when the turn is broken off.
// A late answer is ignored.

import { sentenceOf } from "../../core/fault.ts";
import { later } from "../../core/ids.ts";
import type { Entry } from "../../core/journal.ts";
import type { Hide } from "../../core/hide.ts";
import { limits } from "../../core/limits.ts";
import { memoryScope } from "../../core/memory.ts";
import type { Failure } from "../../core/running/patience.ts";
import { doneCalls, latestText, progressText } from "../../core/running/progress.ts";
import type { AgentJob, Step } from "../../ports/agent.ts";
import { childOf, over } from "../abort.ts";
import type { Parts } from "../parts.ts";
import type { Draft } from "./drafts.ts";
import { checkedStep } from "./checked.ts";
import type { Running } from "./run.ts";

/** Its step, or why there is none: a failure that it told, or one that was found here. */
export type Given = Exclude<Step, { type: "failed" }> | ({ readonly type: "failed" } & Failure);

export async function askAgent(
  parts: Parts,
  running: Running,
  journal: readonly Entry[],
  preview: Draft,
  note: string | null,
): Promise<Given | "aborted"> {
  const { world, agent, archive, store } = parts;
  const { turn, session, abort } = running;
  const step = childOf(abort.signal);
  let lastSign = world.now();
  const done = doneCalls(journal);
  // What was done so far stays in sight while the agent thinks about it.
  if (done.length > 0) preview.show(progressText(latestText(journal), done, []));
  const job: AgentJob = {
    session: session.id,
    address: session.address,
    turn: turn.id,
    attempt: turn.attempt,
    input: turn.input,
    journal,
    note,
    history: (limit) => archive.history(session.id, limit),
    journalOf: (of) => store.journalOf(of),
    summary: () => store.summaryOf(session.id),
    memories: (limit) => store.memories(memoryScope(session.address), limit),
    model: turn.input.options?.model ?? session.model,
    now: () => world.now(),
    pause: (ms) => world.sleep(later(world.now(), ms), step.signal),
    draft(text) {
      lastSign = world.now();
      if (step.signal.aborted) return;
      running.words = text;
      running.trouble = null;
      preview.show(progressText(text, done, []));
    },
  };
  const silence = async (): Promise<Given> => {
    while (!step.signal.aborted && world.now() < later(lastSign, limits.stepSilenceMs)) {
      await world.sleep(later(lastSign, limits.stepSilenceMs), step.signal);
    }
    return { type: "failed", retry: "soon", why: "the agent gave no sign of life for too long" };
  };
  const answer = (async () => hidden(checkedStep(await agent.step(job, step.signal)), parts.hide))().catch(
    (error: unknown): Given => ({ type: "failed", retry: "soon", why: parts.hide(sentenceOf(error)) }),
  );
  const given = await Promise.race([answer, silence()]);
  const aborted = abort.signal.aborted;
  step.abort(over);
  return aborted ? "aborted" : given;
}

/** What it says goes to people and to the store; what only it reads again is left as it is. */
function hidden(step: Given, hide: Hide): Given {
  switch (step.type) {
    case "failed":
      return { ...step, why: hide(step.why) };
    case "compacted":
      return { ...step, summary: hide(step.summary) };
    case "heard":
      return { ...step, text: hide(step.text), ...(step.why === undefined ? {} : { why: hide(step.why) }) };
    case "asked":
      return {
        ...step,
        text: hide(step.text),
        choices: step.choices.map(hide),
        ...(step.what === undefined ? {} : { what: hide(step.what) }),
      };
    case "said":
      return { ...step, text: hide(step.text) };
  }
}
