// Kill -9 of the process that drives an ACP agent, again and again, at any moment: the turn ends with the right answer, no
// tool is done twice, and no agent of a dead life works on.

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { linesIn } from "../lines.ts";

const fakes = join(import.meta.dirname, "..", "fakes", "acp");
const toolsMax = 30;
const kills = 10;

/** Resolves when it ended by itself, with what it said; null when it was killed. */
async function ended(child: ChildProcess): Promise<string | null> {
  let said = "";
  child.stdout?.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const code = await new Promise<number | null>((done) => child.once("close", done));
  assert.ok(code === 0 || code === null, `it failed with ${code}: ${said}`);
  return code === 0 ? said.trim() : null;
}

test(`${toolsMax} tools, killed ${kills} times: each is done once, and the answer is whole`, {
  timeout: 280_000,
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "everturn-acp-kills-"));
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }));
  const journal = join(folder, "journal");
  const command = [process.execPath, join(fakes, "agent.ts"), folder, "load"];
  const options = JSON.stringify({ program: { command, unsafe: true }, workspace: folder });
  const live = () =>
    spawn(process.execPath, [join(fakes, "driver.ts"), journal, `tools ${toolsMax}`, options], {
      stdio: ["ignore", "pipe", "ignore"],
    });
  const agentsGone = async () => {
    for (const pid of linesIn(join(folder, "starts")).map(Number)) while (isAlive(pid)) await sleep(20);
  };
  let done = 0;
  let text: string | null = null;
  for (let n = 0; text === null; n++) {
    const child = live();
    const end = ended(child);
    if (n < kills) {
      // Some time after it got further than the last one, so that every life gets somewhere, and dies anywhere.
      const goal = Math.min(done + 1 + (n % 3), toolsMax);
      while (linesIn(join(folder, "effects")).length < goal && child.exitCode === null) await sleep(5);
      await sleep(n * 3);
      child.kill("SIGKILL");
    }
    text = await end;
    // A gateway ends what its dead life left before it goes on; the driver has nobody who does, so it is waited for here.
    await agentsGone();
    done = linesIn(join(folder, "effects")).length;
  }
  const names = Array.from({ length: toolsMax }, (_, i) => `tool ${i + 1}`);
  assert.equal(text, `Did ${names.join(", ")}.`);
  assert.deepEqual(linesIn(join(folder, "effects")), names);
  const prompts = linesIn(join(folder, "prompts")).map((line) => (JSON.parse(line) as { readonly text: string }).text);
  assert.equal(prompts.filter((one) => one === `tools ${toolsMax}`).length, 1, "it was told the message once");
  t.diagnostic(`${prompts.length} prompts in ${linesIn(join(folder, "starts")).length} lives of the agent`);
});

function isAlive(pid: number): boolean {
  try {
    // The dead whom nobody collects are still there.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch (error) {
    if (error instanceof Error) return false;
    throw error;
  }
}
