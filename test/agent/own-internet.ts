// Loaded into a gateway before anything else (`--import`): every sandbox that it starts has the internet of
// sandbox-runner.ts, where each name leads to this machine. So programs in the sandbox reach fakes by the real proxy.

import children from "node:child_process";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";

const runner = join(import.meta.dirname, "sandbox-runner.ts");
const real = children.spawn;
const isRunner = (word: string) => /[/\\]sandbox[/\\]runner[/\\]main\.ts$/.test(word);

function spawn(program: string, words: readonly string[], options: children.SpawnOptions): children.ChildProcess {
  return real(
    program,
    words.map((word) => (isRunner(word) ? runner : word)),
    options,
  );
}

Object.assign(children, { spawn });
syncBuiltinESMExports();
