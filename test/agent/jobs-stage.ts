// What the tests of commands stand on: the real tools over real jobs in a home of their own.

import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type Grant, noGrant } from "../../src/core/grant.ts";
import type { Instant, SessionId, TurnId } from "../../src/core/ids.ts";
import { jobId } from "../../src/host/jobs/folder.ts";
import { openJobs } from "../../src/host/jobs/jobs.ts";
import { type Marked, markedProcesses } from "../../src/host/jobs/marked.ts";
import type { Jobs } from "../../src/ports/jobs.ts";
import type { Tool, ToolContext } from "../../src/ports/tool.ts";
import { anOwner } from "../../src/testing/samples.ts";
import { terminalTools } from "../../src/tools/terminal/index.ts";
import type { TerminalOptions } from "../../src/tools/terminal/options.ts";
import { openSandbox } from "../../src/sandbox/index.ts";
import type { SandboxChoice } from "../../src/sandbox/state.ts";
import { atEnd } from "../process/stage.ts";

export type Staged = { readonly terminal: Tool; readonly processes: Tool };

export type StageOptions = Partial<Omit<TerminalOptions, "sandbox">> & { readonly choice?: SandboxChoice };

/** As after an approval, where there is no sandbox. */
export const unwalled: Grant = { ...noGrant, outside: true };

export function stageTools(home: string, jobs: Jobs, { choice = "off", ...more }: StageOptions = {}): Staged {
  const places = { workspace: join(home, "workspace"), home, userHome: homedir() };
  const environment = { ...process.env, EVERTURN_INSIDE: home };
  const sandbox = openSandbox({ choice, isUnsafeAccepted: true, ...places, environment, ...more });
  const [terminal, processes] = terminalTools({
    ...places,
    jobs,
    environment,
    sandbox,
    approvals: "never",
    hosts: [],
    network: false,
    outside: false,
    allowRoot: true,
    ...more,
  }) as [Tool, Tool];
  if (choice !== "off") return { terminal, processes };
  const run: Tool["run"] = (input, context) => terminal.run(input, { ...context, grant: unwalled });
  return { terminal: { ...terminal, run }, processes };
}

export function context(key: string, more: Partial<ToolContext> = {}): ToolContext {
  return {
    session: "s1" as SessionId,
    turn: "t1" as TurnId,
    address: { platform: "web", account: "main", chat: "c1" },
    key,
    requester: anOwner,
    grant: noGrant,
    outside: false,
    fence: 1,
    signal: new AbortController().signal,
    now: () => Date.now() as Instant,
    tell: () => undefined,
    ...more,
  };
}

/** The processes of a job, wherever they have gone. */
export async function marksOf({ home }: { readonly home: string }, key: string): Promise<readonly Marked[]> {
  const folder = join(realpathSync(home), "jobs", jobId(key));
  return (await markedProcesses()).filter((one) => one.folder === folder);
}

export type Home = Staged & { readonly home: string; readonly workspace: string; readonly jobs: Jobs };

/** Whatever still runs at the end is ended. */
export function newJobsHome(t: TestContext, more: StageOptions = {}): Home {
  const home = join(mkdtempSync(join(tmpdir(), "everturn-jobs-")), "home");
  const workspace = join(home, "workspace");
  mkdirSync(workspace, { recursive: true });
  atEnd(t, () => rmSync(join(home, ".."), { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }));
  const jobs = openJobs({ folder: join(home, "jobs") });
  atEnd(t, () => jobs.endAll("the test is over"));
  return { home, workspace, jobs, ...stageTools(home, jobs, more) };
}
