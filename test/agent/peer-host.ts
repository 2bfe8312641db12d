// Where the tests of MCP and ACP start programs: folders of their own, and no sandbox unless one is given.

import type { ChildProcess, SpawnOptions } from "node:child_process";
import { mkdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { Fault } from "../../src/core/fault.ts";
import { ownerPerson } from "../../src/core/requester.ts";
import { workspaceName } from "../../src/core/workspace.ts";
import type { PeerHost } from "../../src/peers/launch.ts";
import type { Sandbox } from "../../src/ports/sandbox.ts";
import type { FactStore } from "../../src/tools/mcp/options.ts";

export const withoutSandbox: Sandbox = {
  runtime: { node: process.execPath, folder: "" },
  state: async () => ({ type: "off", why: "There is none in this test.", isAccepted: true }),
  wrap: () => Promise.reject(new Fault("not-possible", "There is no sandbox in this test.")),
};

export type SpawnProgram = (program: string, words: readonly string[], options: SpawnOptions) => ChildProcess;

/** `folder` is the owner's workspace. */
export function peerHost(
  folder: string,
  spawn: SpawnProgram,
  sandbox: Sandbox = withoutSandbox,
  home = join(folder, ".gateway"),
): PeerHost {
  mkdirSync(home, { recursive: true });
  return {
    sandbox,
    spawn,
    environment: { PATH: "/usr/bin:/bin" },
    home,
    folder: join(home, "peers"),
    async workspaceFor({ person }) {
      const own = person === ownerPerson ? folder : join(home, "workspaces", workspaceName(person));
      const files = join(home, "attachments", workspaceName(person));
      for (const one of [own, files]) mkdirSync(one, { recursive: true });
      return { person, folder: realpathSync(own), files: realpathSync(files) };
    },
  };
}

/** What a store would hold. */
export function memoryFacts(stored = new Map<string, string>()): FactStore {
  return {
    read: async (name) => stored.get(name) ?? null,
    write: async (name, value) => void stored.set(name, value),
  };
}
