// One connection to an ACP agent after the other, as over the months of a gateway's life.

import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openLink } from "../../src/agents/acp/link.ts";
import { acpPace } from "../../src/agents/acp/options.ts";
import { openProcesses } from "../../src/host/processes.ts";
import { root } from "../process/stage.ts";
import { peerHost } from "./peer-host.ts";

test("a program that has ended leaves no listener behind", { timeout: 120_000 }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "everturn-acp-"));
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const processes = openProcesses({ graceMs: 0 });
  const { signal } = new AbortController();
  const options = {
    program: { command: [process.execPath, join(root, "test", "fakes", "acp", "agent.ts"), folder, "load"] },
    host: peerHost(folder, (program, words, more) => processes.spawn({ program, words, options: more })),
    log: () => undefined,
  };
  for (let life = 0; life < 3; life++) {
    const link = await openLink(options, acpPace, { person: "owner", folder, files: folder }, signal);
    assert.equal(getEventListeners(signal, "abort").length, 1);
    await link.close("its life is over");
    assert.equal(getEventListeners(signal, "abort").length, 0);
  }
});
