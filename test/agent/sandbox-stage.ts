// A sandbox around commands of a throw-away home.

import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type Grant, noGrant } from "../../src/core/grant.ts";
import type { Sandbox, SandboxView } from "../../src/ports/sandbox.ts";
import { openSandbox } from "../../src/sandbox/index.ts";
import { atEnd } from "../process/stage.ts";

/** Not below /tmp, which a sandbox has anew, and where this clone may be. */
export const apart = homedir();

export function newFolder(t: TestContext, name: string): string {
  const folder = mkdtempSync(join(apart, `everturn-${name}-`));
  atEnd(t, () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export type SandboxStage = {
  readonly home: string;
  readonly workspace: string;
  readonly sandbox: Sandbox;
  view(change?: Partial<SandboxView>): SandboxView;
  /** What a script of bash says and how it ends. */
  run(script: string, change?: Partial<SandboxView>): Promise<RunEnd>;
};

export type RunEnd = { readonly code: number | string; readonly said: string };

export function stageSandbox(t: TestContext, userHome: string | null = null): SandboxStage {
  const home = newFolder(t, "sandbox");
  const workspace = join(home, "workspace");
  mkdirSync(workspace);
  const sandbox = openSandbox({
    choice: "bwrap",
    home,
    userHome,
    environment: { PATH: "/usr/local/bin:/usr/bin:/bin" },
  });
  const view = (change: Partial<SandboxView> = {}): SandboxView => {
    const defaults: SandboxView = {
      person: "owner",
      workspace,
      cwd: workspace,
      grant: noGrant,
      home: "person",
      env: {},
    };
    return { ...defaults, ...change };
  };
  return {
    home,
    workspace,
    sandbox,
    view,
    async run(script, change) {
      const { program, words, env } = await sandbox.wrap(["bash", "-c", script], view(change));
      return new Promise((resolve) => {
        execFile(program, [...words], { env: { ...env }, maxBuffer: 64 * 1024 * 1024 }, (error, out, err) => {
          resolve({ code: error === null ? 0 : (error.code ?? error.signal ?? "?"), said: `${out}${err}` });
        });
      });
    },
  };
}

export function granting(change: Partial<Grant>): Pick<SandboxView, "grant"> {
  return { grant: { ...noGrant, ...change } };
}

/** Why the tests here cannot run; false when they can. */
export async function sandboxMissing(): Promise<string | false> {
  const home = mkdtempSync(join(apart, "everturn-trial-"));
  try {
    const state = await openSandbox({ choice: "bwrap", home, userHome: null, environment: process.env }).state();
    return state.type === "on" ? false : state.why;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}
