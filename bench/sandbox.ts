// What the sandbox adds to a command: `true` started as it is, and behind the wall, in turns.

import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { noGrant } from "../src/core/grant.ts";
import { openSandbox } from "../src/sandbox/index.ts";
import { median } from "./load.ts";

const rounds = 60;

export type SandboxFigures = {
  readonly sandbox: string;
  readonly bareMs: number;
  readonly walledMs: number;
  readonly moreMs: number;
  /** The trial and the look at the machine, once a process. */
  readonly firstMs: number;
};

export async function measureSandbox(): Promise<SandboxFigures> {
  const home = mkdtempSync(join(homedir(), "everturn-bench-"));
  try {
    const workspace = join(home, "workspace");
    mkdirSync(workspace);
    const sandbox = openSandbox({ choice: "auto", home, userHome: homedir(), environment: process.env });
    const began = performance.now();
    const state = await sandbox.state();
    const firstMs = performance.now() - began;
    if (state.type !== "on") return { sandbox: "no sandbox", bareMs: 0, walledMs: 0, moreMs: 0, firstMs };
    const env = { PATH: process.env["PATH"] ?? "" };
    const view = { person: "owner", workspace, cwd: workspace, grant: noGrant, home: "person", env } as const;
    const [bare, walled]: [number[], number[]] = [[], []];
    for (let n = 0; n < rounds; n++) {
      bare.push(await timed(async () => ended("true", [], env)));
      walled.push(
        await timed(async () => {
          const { program, words, env: own } = await sandbox.wrap(["true"], view);
          return ended(program, words, own);
        }),
      );
    }
    const [bareMs, walledMs] = [median(bare), median(walled)];
    return { sandbox: state.kind, bareMs, walledMs, moreMs: walledMs - bareMs, firstMs };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

function ended(program: string, words: readonly string[], env: Readonly<Record<string, string>>): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, words, { env, stdio: "ignore" });
    child.once("error", reject);
    child.once("exit", (code) => (code === 0 ? resolve() : reject(new Error(`it ended with ${code}`))));
  });
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}
