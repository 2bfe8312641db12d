// The tool `terminal`: one command line in a shell, as a job that outlives the gateway. Asked after a death what became of
// it, the job itself answers: how it ended, or that it still runs and is waited for, or that it never began.

import { mkdir, realpath, stat } from "node:fs/promises";
import { resolve } from "node:path";
import * as v from "valibot";
import { Fault } from "../../core/fault.ts";
import type { ToolResult } from "../../core/journal.ts";
import { formatAddress } from "../../core/message.ts";
import type { Job, JobSandbox, JobState, Jobs } from "../../ports/jobs.ts";
import type { Tool, ToolContext } from "../../ports/tool.ts";
import { define, failed, ok } from "../define.ts";
import { toolEnvironment } from "../environment.ts";
import { maybe, pathText, whole, words } from "../input.ts";
import { interactiveWhy } from "./interactive.ts";
import { type TerminalOptions, terminalLimits } from "./options.ts";
import type { Sandbox } from "./sandbox/sandbox.ts";
import { type Folders, judgeOn, wayOf } from "./sandbox/way.ts";
import { type Shell, shellFor } from "./shell.ts";
import { placesFor, vetCommand } from "./vet.ts";
import { watched } from "./watch.ts";
import { endWords, noted, outputWords, resultWords, shownHead, shownTail, statusWords } from "./words.ts";

const schema = v.strictObject({
  command: words(100_000),
  cwd: maybe(pathText),
  timeoutSeconds: maybe(whole(1, terminalLimits.background)),
  background: maybe(v.boolean()),
});
type Input = v.InferOutput<typeof schema>;

const description =
  "Runs a command line in a shell and returns its output and exit status. No input can be typed, so no editors, pagers or password prompts. Starts in the workspace. For servers and anything long use background, then the process tool.";

/** Whether there is a sandbox is known later; what is said to a model is not to change from one request to the next. */
function describe({ sandbox, network }: TerminalOptions): string {
  if (sandbox === "off" || process.platform !== "linux") return description;
  const reach = network === true ? "" : ", no network";
  return `${description} Mostly in a sandbox, as its result says: only the workspace and a /tmp private to this conversation are writable${reach}.`;
}

const face = {
  properties: {
    command: { type: "string" },
    cwd: { type: "string", description: "Folder to run in; the workspace if left out" },
    timeoutSeconds: {
      type: "integer",
      description: `Killed after this; at most ${terminalLimits.most}, in the background ${terminalLimits.background}`,
    },
    background: { type: "boolean", description: "Return at once with the id of a process that goes on" },
  },
  required: ["command"],
};

/** How long a command in the background is watched, so that one that fails at once is told so. */
const firstLookMs = 1_000;

export function terminalTool(options: TerminalOptions, sandbox: Sandbox): Tool {
  const { jobs } = options;

  /** The same for who vets a command and who runs it. */
  async function looked({ command, cwd }: Input): Promise<Folders & { readonly way: JobSandbox | null }> {
    const real = await folderOf({ cwd }, options.workspace);
    const places = { ...(await placesFor(options)), pid: process.pid };
    const typed = resolve(places.workspace, cwd ?? ".");
    const isOn = (await sandbox.state()).type === "on";
    const confined = { isOn, network: options.network === true, policy: options.approvals };
    const way = wayOf(command, { ...places, cwd: typed }, confined);
    return { way, places, typed, real };
  }

  async function run(input: Input, context: ToolContext): Promise<ToolResult> {
    const why = refusal(input);
    if (why !== null) return failed(why);
    const state = await sandbox.state();
    if (state.type === "missing") return failed(state.why);
    const { way, real: cwd } = await looked(input);
    const place = formatAddress(context.address);
    const shell = shellFor(input.command);
    const isInside = way === "closed" || way === "network";
    const around = isInside ? await sandbox.words({ cwd, network: way === "network" }, place) : [];
    const [program, ...rest] = [...around, ...shell.words] as [string, ...string[]];
    const job = await jobs.start({
      key: context.key,
      place,
      person: context.requester.person,
      title: input.command,
      program,
      words: rest,
      ...verbatim(shell),
      cwd,
      ...(way === null ? {} : { sandbox: way }),
      // Whatever runs there knows whose gateway it must not stop.
      env: toolEnvironment(options.environment, { EVERTURN_INSIDE: options.home }),
      limitMs: limitOf(input, options) * 1_000,
      background: input.background === true,
    });
    return follow(job, context);
  }

  async function follow(job: Job, context: ToolContext): Promise<ToolResult> {
    if (job.background) return begun(jobs, job, context.signal);
    return told(jobs, job, await watched(job, { jobs, signal: context.signal, tell: context.tell }));
  }

  return define({
    name: "terminal",
    description: describe(options),
    effect: "checkable",
    face,
    schema,
    // The holder ends the command at its own limit; this is for a machine that hangs.
    timeoutMs: (terminalLimits.most + terminalLimits.grace) * 1_000,
    async vet(input, context) {
      const why = refusal(input);
      if (why !== null) return { type: "refuse", why };
      const { way, ...folders } = await looked(input);
      return vetCommand({
        command: input.command,
        judgement: judgeOn(way, input.command, folders, options.network === true),
        way,
        cwd: folders.real,
        userHome: folders.places.userHome,
        background: input.background === true,
        policy: options.approvals,
        outside: context.outside,
      });
    },
    run,
    async check(_input, context) {
      const job = await jobs.find(context.key);
      return job === null ? null : follow(job, context);
    },
    drop: ({ key }) => jobs.drop(key, "its turn was stopped"),
  });
}

function refusal({ command, timeoutSeconds = 1, background }: Input): string | null {
  if (command.includes("\0")) return "The command holds a zero byte, which no command can. Nothing was done.";
  if (background !== true && timeoutSeconds > terminalLimits.most)
    return `A command may take at most ${terminalLimits.most} s; use "background": true for longer ones. Nothing was done.`;
  const why = interactiveWhy(command, { isRoot: process.getuid?.() === 0 });
  return why === null ? null : `Not run: ${why}.`;
}

function limitOf({ timeoutSeconds, background }: Input, { timeoutSeconds: usual }: TerminalOptions): number {
  if (timeoutSeconds !== undefined) return timeoutSeconds;
  return background === true ? terminalLimits.background : (usual ?? terminalLimits.usual);
}

async function folderOf({ cwd }: Pick<Input, "cwd">, workspace: string): Promise<string> {
  await mkdir(workspace, { recursive: true });
  const folder = resolve(workspace, cwd ?? ".");
  if (!(await isFolder(folder)))
    throw new Fault("not-found", `There is no folder ${folder} to run it in; relative ones begin in ${workspace}.`);
  return realpath(folder);
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    if (error instanceof Error && "code" in error) return false;
    throw error;
  }
}

function verbatim({ isVerbatim }: Shell): { verbatim?: true } {
  return isVerbatim ? { verbatim: true } : {};
}

async function begun(jobs: Jobs, job: Job, signal: AbortSignal): Promise<ToolResult> {
  const ended = await endWithin(jobs, job.id, firstLookMs, signal);
  if (ended !== null) return told(jobs, job, ended);
  const output = await saidBy(jobs, job.id);
  const how = `Look at it with process {"action": "read" | "wait" | "kill", "id": "${job.id}"}.`;
  return ok(
    resultWords(
      statusWords(`runs in the background as ${job.id}`, job.sandbox),
      output === "" ? how : `${output}\n${how}`,
    ),
  );
}

export async function told(jobs: Jobs, job: Job, state: Exclude<JobState, { type: "running" }>): Promise<ToolResult> {
  if (state.type === "unknown") {
    const output = await saidBy(jobs, job.id);
    return { type: "unknown", why: output === "" ? state.why : `${state.why}\nWhat it had said:\n${output}` };
  }
  if (state.end.how === "failed") return failed(`The command was not run: ${endWords(state.end)}.`);
  const said = noted(await saidBy(jobs, job.id), job.sandbox);
  return ok(resultWords(statusWords(endWords(state.end), job.sandbox), said));
}

/** Null when it goes on after that time; rejects when the signal aborts. */
export async function endWithin(
  jobs: Jobs,
  id: string,
  ms: number,
  signal: AbortSignal,
): Promise<Exclude<JobState, { type: "running" }> | null> {
  const late = AbortSignal.timeout(ms);
  try {
    return await jobs.wait(id, AbortSignal.any([late, signal]));
  } catch (error) {
    if (late.aborted && !signal.aborted) return null;
    throw error;
  }
}

async function saidBy(jobs: Jobs, id: string): Promise<string> {
  const [head, tail] = [await jobs.read(id, 0, shownHead), await jobs.read(id, -shownTail, shownTail)];
  return outputWords(id, head, tail);
}
