// A package with the real launcher and a program that only tells what happens to it: one line per event, to standard
// output and to a file that outlives its terminal.

import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { linesIn } from "../lines.ts";

const root = join(import.meta.dirname, "..", "..");

/** Tells its Node, its parent and its arguments, then every signal; the first argument says what to do. */
const program = `
import { appendFileSync } from "node:fs";
const tell = (line) => {
  appendFileSync(new URL("../told.txt", import.meta.url), line + "\\n");
  process.stdout.write(line + "\\n");
};
const [order, value] = process.argv.slice(2);
for (const signal of ["SIGINT", "SIGHUP", "SIGUSR1", "SIGTERM"])
  process.on(signal, () => {
    tell(signal);
    if (signal === "SIGTERM") process.exit(0);
  });
process.stdout.on("error", () => undefined);
tell("node " + process.versions.node);
tell("pid " + process.pid);
tell("parent " + process.ppid);
tell("arguments " + JSON.stringify(process.argv.slice(2)));
if (order === "exit") process.exit(Number(value));
if (order === "die") { process.removeAllListeners(value); process.kill(process.pid, value); }
if (order === "hand-over") {
  const patience = process.env.EVERTURN_SUCCESSOR;
  process.on("message", (message) => {
    tell("heard " + JSON.stringify(message));
    // That the one before has ended is nothing to this one.
    if (message.everturn === "left") return;
    process.exit(message.everturn === "loaded" ? 0 : 5);
  });
  if (!patience) process.send({ everturn: "successor", patienceMs: 1234 });
  else if (value === "broken") process.send({ everturn: "failed", why: "no such key" }, () => process.exit(78));
  else process.send({ everturn: "loaded" }, () => tell("took over after " + patience));
}
setInterval(() => undefined, 60_000);
tell("ready");
`;

export type Tree = {
  readonly launcher: string;
  /** Every line that the program has told so far. */
  told(): readonly string[];
  /** What the line that begins with this word says. */
  fact(word: string): string;
  until(isThere: (told: readonly string[]) => boolean): Promise<void>;
  remove(): void;
};

export function plantTree(options: { readonly withNode: boolean; readonly from: "dist" | "src" }): Tree {
  const folder = mkdtempSync(join(tmpdir(), "everturn-launcher-"));
  const main = options.from === "dist" ? "main.js" : "main.ts";
  for (const name of ["bin", "node_modules", options.from]) mkdirSync(join(folder, name));
  for (const name of ["everturn.js", "attend.js"]) cpSync(join(root, "bin", name), join(folder, "bin", name));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "everturn", version: "9.8.7", type: "module" }));
  writeFileSync(join(folder, options.from, main), program);
  if (options.withNode) {
    const node = dirname(dirname(process.execPath));
    symlinkSync(node, join(folder, "node_modules", basename(node)));
  }
  const told = () => linesIn(join(folder, "told.txt"));
  function fact(word: string): string {
    const line = told().find((one) => one.startsWith(`${word} `));
    if (line === undefined) throw new Error(`the program has not told its ${word}: ${told().join(", ")}`);
    return line.slice(word.length + 1);
  }
  return {
    launcher: join(folder, "bin", "everturn.js"),
    told,
    fact,
    async until(isThere) {
      while (!isThere(told())) await wait(5);
    },
    remove() {
      // Still there when a test has failed; its launcher ends with it.
      const isLeft = told().includes("ready") && !told().includes("SIGTERM");
      if (isLeft) for (const line of told()) if (line.startsWith("pid ")) endProcess(Number(line.slice(4)));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
