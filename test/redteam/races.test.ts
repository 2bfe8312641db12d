// Links and folders of the workspace are swapped at full speed while every file tool works in it. On 0.4.0 such a script
// overwrote the gateway's own config.yaml within a second and read a private key. EVERTURN_RACE_SECONDS sets the length.

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { type TestContext, describe, test } from "node:test";
import type { ToolResult } from "../../src/core/journal.ts";
import type { Tool } from "../../src/ports/tool.ts";
import { openBlobs } from "../../src/stores/blobs/index.ts";
import { aToolContext } from "../../src/testing/samples.ts";
import { builtinTools } from "../../src/tools/index.ts";
import { type TestRoom, aRoom, withoutSandbox } from "../fakes/room.ts";

const seconds = Number(process.env["EVERTURN_RACE_SECONDS"] ?? 5);
const canary = "CANARY-4711";

/** Each is made as if it had been approved: the wall must hold by itself. */
const calls: readonly (readonly [tool: string, input: (n: number) => object])[] = [
  ["read_file", () => ({ path: "f" })],
  ["read_file", () => ({ path: "d/config.yaml" })],
  ["read_file", () => ({ path: "d/id_ed25519" })],
  ["send_file", () => ({ path: "f" })],
  ["send_file", () => ({ path: "d/config.yaml" })],
  ["write_file", (n) => ({ path: "f", content: `written ${n}` })],
  ["write_file", (n) => ({ path: "d/config.yaml", content: `approvals: never # ${n}` })],
  ["write_file", (n) => ({ path: `d/new/${n % 7}/f`, content: "planted" })],
  ["edit_file", (n) => ({ path: "f", oldText: "harmless", newText: `edited ${n}` })],
  ["edit_file", (n) => ({ path: "d/config.yaml", oldText: "a", newText: `edited ${n}` })],
  ["search_files", () => ({ pattern: "CANARY", path: "d" })],
  ["search_files", () => ({ pattern: "CANARY" })],
  ["search_files", () => ({ glob: "*ed25519*" })],
  // These two are left alone, so that it is seen that the tools work meanwhile.
  ["write_file", (n) => ({ path: "quiet/steady", content: `written ${n}` })],
  [
    "edit_file",
    (n) => ({ path: "quiet/steadier", oldText: n % 2 === 0 ? "even" : "odd", newText: n % 2 === 0 ? "odd" : "even" }),
  ],
];

type Stage = { readonly room: TestRoom; readonly snapshot: () => unknown; readonly swappers: readonly ChildProcess[] };

function stage(t: TestContext, sandbox: "auto" | "off"): Stage {
  const swappers: ChildProcess[] = [];
  // Before the folders go, or a swapper would make them again.
  t.after(() => swappers.forEach((child) => child.kill("SIGKILL")));
  const room = aRoom(t, { sandbox, in: homedir() });
  mkdirSync(room.userHome);
  for (const folder of [room.home, room.userHome]) {
    writeFileSync(join(folder, "config.yaml"), `a: ${canary}\n`);
    writeFileSync(join(folder, "id_ed25519"), `${canary}\n`);
  }
  room.put("quiet/steadier", "even");
  const secret = join(room.userHome, "id_ed25519");
  const program = join(import.meta.dirname, "../fakes/link-swapper.ts");
  const words = [program, room.workspace, secret, room.home, room.userHome];
  for (let n = 0; n < 2; n++) {
    swappers.push(spawn(process.execPath, words, { stdio: ["pipe", "pipe", "inherit"] }));
  }
  /** Everything outside of the workspace that must stay as it is. */
  const snapshot = () =>
    [room.home, room.userHome].map((folder) => [
      readdirSync(folder).filter((name) => !["notes", "blobs", "sandbox"].includes(name)),
      readFileSync(join(folder, "config.yaml"), "utf8"),
      readFileSync(join(folder, "id_ed25519"), "utf8"),
    ]);
  return { room, snapshot, swappers };
}

async function race(t: TestContext, sandbox: "auto" | "off"): Promise<void> {
  const { room, snapshot, swappers } = stage(t, sandbox);
  const blobs = openBlobs(join(room.home, "blobs"));
  const archive = { recall: async () => [] };
  const tools = builtinTools({ ...room, web: { allowPrivate: false }, blobs, archive });
  const named = (name: string): Tool => tools.find((tool) => tool.name === name) ?? assert.fail(name);
  const before = snapshot();
  const until = Date.now() + seconds * 1_000;
  const counts = new Map<string, number>();
  const hasWorked = (): boolean => calls.every(([name]) => counts.has(`${name} ok`));
  for (let n = 0; Date.now() < until || !hasWorked(); n++) {
    const work = calls.map(async ([name, input], i) => {
      const result = await named(name).run(input(n), aToolContext(`k${n} ${i}`));
      await assertHarmless(result, blobs);
      const what = `${name} ${result.type}`;
      counts.set(what, (counts.get(what) ?? 0) + 1);
    });
    await Promise.all(work);
    assert.deepEqual(snapshot(), before);
  }
  const swaps = await Promise.all(swappers.map(endOf));
  const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
  t.diagnostic(`${all} calls against ${swaps.join(" + ")} swaps: ${JSON.stringify(Object.fromEntries(counts))}`);
  assert.ok(swaps.every((count) => count > 0));
  assert.deepEqual(snapshot(), before);
}

async function assertHarmless(result: ToolResult, blobs: ReturnType<typeof openBlobs>): Promise<void> {
  assert.doesNotMatch(JSON.stringify(result), new RegExp(`: ${canary}|\\t.*${canary}`), "read through a link");
  const wishes = result.type === "ok" ? (result.wishes ?? []) : [];
  for (const wish of wishes) {
    for (const { blob } of wish.type === "send" ? wish.files : []) {
      assert.ok(!Buffer.from(await blobs.read(blob)).includes(canary), "sent through a link");
    }
  }
}

async function endOf(child: ChildProcess): Promise<number> {
  let said = "";
  child.stdout?.on("data", (chunk: Buffer) => (said += chunk.toString()));
  child.stdin?.end();
  await once(child, "close");
  return Number(said);
}

const skip = await withoutSandbox();
const timeout = (seconds + 600) * 1_000;

describe("swapped links and folders lead no file tool outside", { timeout }, () => {
  test("with a sandbox", { skip }, (t) => race(t, "auto"));
  test("without a sandbox", { skip: process.platform === "linux" ? false : "asks for every call here" }, (t) =>
    race(t, "off"),
  );
});
