// The contract of agent backends over the ACP backend, with an agent of our own that can load its sessions and one that
// cannot.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { acp } from "../../src/agents/acp/index.ts";
import { openProcesses } from "../../src/host/processes.ts";
import { agentSuite } from "../../src/testing/index.ts";
import { peerHost } from "./peer-host.ts";

const program = join(import.meta.dirname, "..", "fakes", "acp", "agent.ts");

for (const flag of ["load", "forgetful"]) {
  // One outside world for all lives of a suite, as the suite wants it.
  const folder = mkdtempSync(join(tmpdir(), "everturn-acp-contract-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  agentSuite(`acp, ${flag}`, {
    async open() {
      const processes = openProcesses({ graceMs: 0 });
      const agent = acp({
        program: { command: [process.execPath, program, folder, flag], unsafe: true },
        host: peerHost(folder, (named, words, options) => processes.spawn({ program: named, words, options })),
        log: () => undefined,
      });
      return {
        agent,
        async close() {
          await agent.close("all");
          await processes.killAll("all");
        },
      };
    },
    messages: ["hello", "tools 3", "permit it", "slow words"],
    repeatable: false,
  });
}
