// The tool `terminal`: one command line in a shell, as a job that outlives the gateway. Asked after a death what became of
// it, the job itself answers: how it ended, or that it still runs and is waited for, or that it never began.

import * as v from "valibot";
import type { Grant } from "../../core/grant.ts";
import type { ToolResult } from "../../core/journal.ts";
import { formatAddress } from "../../core/message.ts";
import type { Job, JobSandbox, JobSpec, JobState, Jobs } from "../../ports/jobs.ts";
import type { SandboxState } from "../../ports/sandbox.ts";
import type { Tool, ToolContext } from "../../ports/tool.ts";
import { define, failed, ok } from "../define.ts";
import { sandboxEnvironment, toolEnvironment } from "../environment.ts";
import { maybe, pathText, whole, words } from "../input.ts";
import { type CommandHost, isReadOnly, judgeCommand } from "../policy/index.ts";
import { interactiveWhy } from "./interactive.ts";
import { type TerminalOptions, terminalLimits } from "./options.ts";
import { type Folders, foldersOf, requestOf } from "./request.ts";
import { type ShellCommand, shellFor } from "./shell.ts";
import { watched } from "./watch.ts";
import { endWords, noted, outputWords, resultWords, shownHead, shownTail, statusWords } from "./words.ts";

const hostText = v.pipe(
  v.string(),
  v.regex(
    /^(?:\*|(?:\*\.)?[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::\d{1,5})?)$/,
    'must be a host as example.org or example.org:8443, without "https://"',
  ),
  v.maxLength(253, "is longer than a host may be"),
);

const schema = v.strictObject({
  command: words(100_000),
  cwd: maybe(pathText),
  timeoutSeconds: maybe(whole(1, terminalLimits.background)),
  background: maybe(v.boolean()),
  hosts: maybe(v.pipe(v.array(hostText), v.maxLength(20, "must be at most 20"))),
  paths: maybe(
    v.pipe(
      v.array(v.strictObject({ path: pathText, access: v.picklist(["read", "write"], "must be read or write") })),
      v.maxLength(10, "must be at most 10"),
    ),
  ),
  credentials: maybe(v.boolean()),
  outside: maybe(v.boolean()),
});
type Input = v.InferOutput<typeof schema>;

const description =
  "Runs a command line in a shell and returns its output and exit status. No input can be typed, so no editors, pagers or password prompts. Starts in the workspace. For servers and anything long use background, then the process tool. Usually in a sandbox: only the workspace, HOME and /tmp exist, and no network. Ask for more with hosts, paths and credentials; the user decides.";

const face = {
  properties: {
    command: { type: "string" },
    cwd: { type: "string", description: "Folder to run in; the workspace if left out" },
    timeoutSeconds: {
      type: "integer",
      description: `Killed after this; at most ${terminalLimits.most}, in the background ${terminalLimits.background}`,
    },
    background: { type: "boolean", description: "Return at once with the id of a process that goes on" },
    hosts: { type: "array", items: { type: "string" }, description: "Hosts it must reach: example.org, *.example.org" },
    paths: {
      type: "array",
      description: "Folders or files outside the workspace",
      items: {
        type: "object",
        properties: { path: { type: "string" }, access: { enum: ["read", "write"] } },
        required: ["path", "access"],
      },
    },
    credentials: { type: "boolean", description: "Sign in at its git hosts as the user" },
    outside: { type: "boolean", description: "Without the sandbox; mostly refused" },
  },
  required: ["command"],
};

/** How long a command in the background is watched, so that one that fails at once is told so. */
const firstLookMs = 1_000;
/** For the few commands that run without a question and without a sandbox. */
const systemPath = "/usr/local/bin:/usr/bin:/bin";

export function terminalTool(options: TerminalOptions): Tool {
  const { jobs, sandbox } = options;

  async function run(input: Input, context: ToolContext): Promise<ToolResult> {
    const why = refusal(input);
    if (why !== null) return failed(why);
    const state = await sandbox.state();
    const folders = await foldersOf(input, options, state.type === "on" && !context.grant.outside);
    const started = await startable(input, context, folders, state);
    if (typeof started === "string") return failed(started);
    const job = await jobs.start({
      ...started,
      key: context.key,
      place: formatAddress(context.address),
      person: context.requester.person,
      title: input.command,
      limitMs: limitOf(input, options) * 1_000,
      background: input.background === true,
    });
    return follow(job, context);
  }

  type Startable = Pick<JobSpec, "program" | "words" | "env" | "cwd" | "sandbox" | "verbatim">;

  /** Never with more than the grant of the call says, whatever was judged before. */
  async function startable(
    { command }: Input,
    { grant, requester }: ToolContext,
    { cwd, workspace }: Folders,
    state: SandboxState,
  ): Promise<Startable | string> {
    if (state.type === "missing") return state.why;
    const shell = shellFor(command);
    const [program, ...rest] = shell.words as [string, ...string[]];
    if (state.type === "on" && !grant.outside) {
      const { files, environment } = options;
      const walled = await sandbox.wrap([program, ...rest], {
        person: requester.person,
        workspace,
        cwd,
        grant,
        // Nothing that an earlier command left in the HOME may use what this call is given.
        home: grant.credentials.length + grant.paths.length > 0 ? "empty" : "person",
        ...(files === undefined ? {} : { files }),
        env: sandboxEnvironment(environment),
      });
      return { ...walled, cwd: workspace, sandbox: grant.hosts.length > 0 ? "network" : "closed" };
    }
    if (!grant.outside) return "Not run: there is no sandbox, and this call was not approved without one.";
    const isPast: JobSandbox | null = state.type === "on" ? "past" : null;
    const path = state.type === "off" && isReadOnly(command) ? { PATH: systemPath } : {};
    return {
      program,
      words: rest,
      ...verbatim(shell),
      cwd,
      ...(isPast === null ? {} : { sandbox: isPast }),
      // A command that stops a gateway by mistake learns from it which one is its own.
      env: toolEnvironment(options.environment, { EVERTURN_INSIDE: options.home, ...path }),
    };
  }

  async function follow(job: Job, context: ToolContext): Promise<ToolResult> {
    const { grant } = context;
    if (job.background) return begun(jobs, job, grant, context.signal);
    return told(jobs, job, grant, await watched(job, { jobs, signal: context.signal, tell: context.tell }));
  }

  return define({
    name: "terminal",
    description,
    effect: "checkable",
    face,
    schema,
    // The runner ends the command at its own limit; this is for a machine that hangs.
    timeoutMs: (terminalLimits.most + terminalLimits.grace) * 1_000,
    async vet(input, context) {
      const state = await sandbox.state();
      const host: CommandHost = { sandbox: state, isRoot: isRoot(), isWindows: process.platform === "win32" };
      const folders = await foldersOf(input, options, state.type === "on");
      const request = await requestOf(input, folders, state, context, options);
      if (typeof request === "string") return { type: "refuse", why: request };
      const verdict = judgeCommand(request, options, host);
      const why = verdict.type === "refuse" ? null : refusal(input);
      return why === null ? verdict : { type: "refuse", why };
    },
    run,
    async check(_input, context) {
      const job = await jobs.find(context.key);
      return job === null ? null : follow(job, context);
    },
    drop: ({ key }) => jobs.drop(key, "its turn was stopped"),
  });
}

const isRoot = (): boolean => process.getuid?.() === 0;

function refusal({ command, timeoutSeconds = 1, background }: Input): string | null {
  if (command.includes("\0")) return "The command holds a zero byte, which no command can. Nothing was done.";
  if (background !== true && timeoutSeconds > terminalLimits.most)
    return `A command may take at most ${terminalLimits.most} s; use "background": true for longer ones. Nothing was done.`;
  const why = interactiveWhy(command, { isRoot: isRoot() });
  return why === null ? null : `Not run: ${why}.`;
}

function limitOf({ timeoutSeconds, background }: Input, { timeoutSeconds: usual }: TerminalOptions): number {
  if (timeoutSeconds !== undefined) return timeoutSeconds;
  return background === true ? terminalLimits.background : (usual ?? terminalLimits.usual);
}

function verbatim({ isVerbatim }: ShellCommand): { verbatim?: true } {
  return isVerbatim ? { verbatim: true } : {};
}

async function begun(jobs: Jobs, job: Job, grant: Grant, signal: AbortSignal): Promise<ToolResult> {
  const ended = await endWithin(jobs, job.id, firstLookMs, signal);
  if (ended !== null) return told(jobs, job, grant, ended);
  const output = await saidBy(jobs, job.id);
  const how = `Look at it with process {"action": "read" | "wait" | "kill", "id": "${job.id}"}.`;
  return ok(
    resultWords(
      statusWords(`runs in the background as ${job.id}`, job.sandbox),
      output === "" ? how : `${output}\n${how}`,
    ),
  );
}

async function told(
  jobs: Jobs,
  job: Job,
  grant: Grant,
  state: Exclude<JobState, { type: "running" }>,
): Promise<ToolResult> {
  if (state.type === "unknown") {
    const output = await saidBy(jobs, job.id);
    return { type: "unknown", why: output === "" ? state.why : `${state.why}\nWhat it had said:\n${output}` };
  }
  if (state.end.how === "failed") return failed(`The command was not run: ${endWords(state.end)}.`);
  const said = noted(await saidBy(jobs, job.id), job.sandbox, grant.hosts);
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
