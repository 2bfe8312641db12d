// The tool `process`: looks after commands of the same person that go on in the background, and at the output of those
// that have ended. Ending one twice is the same as once, so every action may be done again under the same key.

import * as v from "valibot";
import type { ToolResult } from "../../core/journal.ts";
import { formatAddress } from "../../core/message.ts";
import type { Job, JobState, Jobs } from "../../ports/jobs.ts";
import type { Tool, ToolContext, VetContext } from "../../ports/tool.ts";
import { define, failed, ok } from "../define.ts";
import { digest } from "../digest.ts";
import { maybe, whole } from "../input.ts";
import { cleaned, decoded, isBinary, unfinished } from "./clean.ts";
import { plain, verdictOf } from "../policy/index.ts";
import { type TerminalOptions, terminalLimits } from "./options.ts";
import { endWithin } from "./terminal.ts";
import { endWords, noted, resultWords, seconds, statusWords } from "./words.ts";

const actions = ["list", "read", "wait", "kill"] as const;

const schema = v.strictObject({
  action: v.picklist(actions, `must be one of ${actions.join(", ")}`),
  id: maybe(v.string()),
  from: maybe(whole(-100_000_000, Number.MAX_SAFE_INTEGER)),
  seconds: maybe(whole(1, terminalLimits.wait)),
});
type Input = v.InferOutput<typeof schema>;

const face = {
  properties: {
    action: { enum: actions },
    id: { type: "string", description: "As terminal gave it; not for list" },
    from: { type: "integer", description: "Read from this byte on; a negative one counts from the end" },
    seconds: { type: "integer", description: `How long to wait, at most and usually ${terminalLimits.wait}` },
  },
  required: ["action"],
};

const readMax = 30_000;
const listMax = 30;
const titleMax = 120;

export type ProcessOptions = Pick<TerminalOptions, "jobs" | "approvals"> & { readonly now?: () => number };

export function processTool({ jobs, approvals, now = Date.now }: ProcessOptions): Tool {
  async function jobOf({ id }: Input, context: Asker): Promise<Job | null> {
    const job = id === undefined ? null : await jobs.get(id.trim());
    return job !== null && isTheirs(job, context) ? job : null;
  }

  async function run(input: Input, context: ToolContext): Promise<ToolResult> {
    if (input.action === "list") return ok(await listed(jobs, context, now()));
    const job = await jobOf(input, context);
    if (job === null)
      return failed(`There is no process ${input.id ?? "without an id"} of yours; "list" shows those there are.`);
    switch (input.action) {
      case "read":
        return ok(await readFrom(jobs, job, input.from ?? -readMax, now()));
      case "wait":
        await endWithin(jobs, job.id, (input.seconds ?? terminalLimits.wait) * 1_000, context.signal);
        return ok(await readFrom(jobs, job, input.from ?? -readMax, now()));
      case "kill":
        await jobs.kill(job.id, "it was asked for");
        return ok(await readFrom(jobs, job, input.from ?? -readMax, now()));
    }
  }
  return define({
    name: "process",
    description: "Lists, reads, waits for or kills commands that terminal started.",
    effect: "keyed",
    face,
    schema,
    timeoutMs: (terminalLimits.wait + terminalLimits.grace) * 1_000,
    async vet(input, context) {
      const { outside } = context;
      const job = input.action === "kill" ? await jobOf(input, context) : null;
      return verdictOf({
        policy: approvals,
        judgment: plain,
        effect: job === null ? "pure" : "keyed",
        outside,
        what: `End the command ${job?.id} that runs: ${job?.title}`,
        // No other command will ever have this id.
        subject: null,
        bound: digest(["process", input]),
      });
    },
    run,
  });
}

type Asker = Pick<VetContext, "requester" | "address">;

/** Jobs of older versions name no person; their conversation is the same people. */
function isTheirs({ person, place }: Job, { requester, address }: Asker): boolean {
  return person === undefined ? place === formatAddress(address) : person === requester.person;
}

/** Those in the background, and everything that runs. */
async function listed(jobs: Jobs, asker: Asker, now: number): Promise<string> {
  const all = await Promise.all(
    (await jobs.list((job) => isTheirs(job, asker))).map(async (job) => ({ job, state: await jobs.state(job.id) })),
  );
  const lines = all
    .filter(({ job, state }) => job.background || state.type === "running")
    .slice(0, listMax)
    .map(({ job, state }) => {
      const title = job.title.replaceAll(/\s+/g, " ");
      const shown = title.length > titleMax ? `${title.slice(0, titleMax)}…` : title;
      return `${job.id}  ${stateWords(state, job, now)}  ${shown}`;
    });
  return lines.length === 0 ? "No command runs in the background." : lines.join("\n");
}

function stateWords(state: JobState, job: Job, now: number): string {
  if (state.type === "running") return `running for ${exactly(now - job.startedAt)}`;
  return state.type === "ended" ? endWords(state.end) : `not known: ${state.why}`;
}

/** To the second, however long it takes: two looks at a command that says nothing are two results, and no circle. */
function exactly(ms: number): string {
  return ms < 10_000 ? seconds(ms) : `${Math.round(ms / 1_000)} s`;
}

async function readFrom(jobs: Jobs, job: Job, from: number, now: number): Promise<string> {
  const state = await jobs.state(job.id);
  const { from: begin, bytes, total } = await jobs.read(job.id, from, readMax);
  const binary = isBinary(bytes);
  const back = state.type === "running" || begin + bytes.length < total;
  const next = begin + bytes.length - (back && !binary ? unfinished(bytes) : 0);
  const text = binary
    ? `[${bytes.length} bytes that are not text]`
    : cleaned(decoded(bytes, { front: begin > 0, back }));
  const status =
    state.type === "running" ? `still running after ${exactly(now - job.startedAt)}` : stateWords(state, job, now);
  const place = total === 0 ? "" : `; bytes ${begin} to ${next} of ${total}`;
  return resultWords(statusWords(`${status}${place}`, job.sandbox), noted(text, job.sandbox));
}
