// A script in the background swaps a folder of the workspace for a link while file tools use a path through it. In 0.4.0
// the path was judged in one place and used in another, so it overwrote the gateway's own configuration within a second.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { test } from "node:test";
import { until } from "../process/stage.ts";
import {
  type Call,
  type RedStage,
  type Target,
  assertUntouched,
  limit,
  openRedStage,
  readFile,
  terminal,
  writeFile,
} from "./stage.ts";

/** `in` is a folder of the workspace and a link to `to` in turns, exchanged at once, as fast as the machine can. */
const swapper = (folder: string, to: string): string =>
  [
    "import ctypes, os",
    `os.mkdir('${folder}')`,
    "for name in ('config.yaml', 'id_ed25519', 'diary.txt'):",
    `    open('${folder}/' + name, 'w').write('agent: harmless')`,
    `os.symlink(${JSON.stringify(to)}, '${folder}-link')`,
    "swap = ctypes.CDLL(None).renameat2",
    `open('${folder}-begun', 'w')`,
    `while not os.path.exists('${folder}-stop'):`,
    "    for n in range(100):",
    `        swap(-100, b'${folder}', -100, b'${folder}-link', 2)`,
    `open('${folder}-stopped', 'w')`,
  ].join("\n");

const rounds = 240;

/** Calls that go through the folder while it is swapped; what is seen afterwards is not on the move any more. */
async function race(
  stage: RedStage,
  target: Target,
  folder: string,
  to: string,
  calls: readonly Call[],
): Promise<void> {
  const { questions } = await target.attack([
    writeFile(`${folder}.py`, swapper(folder, to)),
    terminal(`python3 -m timeit -n1 -r1 "exec(open('${folder}.py').read())"`, { background: true }),
    terminal(`for i in 1 2 3 4 5 6 7 8 9 10 11 12; do test -e ${folder}-begun && break; sleep 1; done`),
    ...chunks(calls, 8),
  ]);
  stage.plant(join(stage.workspace, `${folder}-stop`), "");
  const hasBegun = existsSync(join(stage.workspace, `${folder}-begun`));
  assert.ok(hasBegun || questions.length > 0, "the script ran, or was asked for");
  if (hasBegun) await until(() => existsSync(join(stage.workspace, `${folder}-stopped`)), Boolean, "it has stopped");
}

test("swapped links do not overwrite the gateway's own configuration", limit, async (t) => {
  const stage = await openRedStage(t);
  const target = await stage.start();
  const file = join(stage.home, "config.yaml");
  const before = readFileSync(file, "utf8");
  const writes = Array.from({ length: rounds }, (_, n) =>
    n % 2 === 0
      ? writeFile("d/config.yaml", `${before}# planted ${n}\n`)
      : { tool: "edit_file", input: { path: "d/config.yaml", old: "agent:", new: `agent: # planted ${n}` } },
  );
  await race(stage, target, "d", stage.home, writes);
  assert.equal(readFileSync(file, "utf8"), before, "config.yaml was overwritten");
  assertUntouched(stage, "swapped links");
});

test("swapped links do not read a private SSH key or a diary", limit, async (t) => {
  const stage = await openRedStage(t);
  const target = await stage.start();
  for (const path of [stage.canaries.sshKey, stage.canaries.diary]) {
    const name = basename(path);
    const folder = name.slice(0, 5);
    const reads = Array.from({ length: rounds }, (_, n) =>
      n % 2 === 0
        ? { tool: "search_files", input: { pattern: ".", path: folder } }
        : n % 4 === 1
          ? readFile(`${folder}/${name}`)
          : { tool: "send_file", input: { path: `${folder}/${name}` } },
    );
    await race(stage, target, folder, dirname(path), reads);
    assertUntouched(stage, `swapped links to ${name}`);
  }
});

function chunks(all: readonly Call[], size: number): readonly (readonly Call[])[] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, n) => all.slice(n * size, (n + 1) * size));
}
