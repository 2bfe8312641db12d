// A gateway as a process of its own, in a session of its own, so that no terminal takes it along. What it says before it
// has a log, and all that it starts says, goes to `logs/gateway.out`.

import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { environment, privateNames } from "../../config/load.ts";
import { type Paths, partsOf } from "../../config/paths.ts";
import { Fault, sentenceOf } from "../../core/fault.ts";
import { exitCodes } from "../../core/lifecycle.ts";
import { refuseObstacles } from "../../host/obstacles.ts";
import { readJsonLine } from "../../log/json.ts";
import { prettyLine } from "../../log/pretty.ts";
import { runningGateway } from "../../services/announce.ts";
import { plainText } from "../print.ts";
import type { Hopeless } from "./ready.ts";

/** A file larger than this is put aside before the next start. */
const outputMax = 1_000_000;

export function startDetached(paths: Paths): Hopeless {
  refuseObstacles(partsOf(paths));
  const file = join(paths.logs, "gateway.out");
  const { handle, from } = openOutput(file, paths);
  const [, main = ""] = process.argv;
  const child = spawn(process.execPath, [...process.execArgv, main, "gateway", "run"], {
    detached: true,
    stdio: ["ignore", handle, handle],
    cwd: paths.home,
    env: { ...inherited(), EVERTURN_HOME: paths.home, EVERTURN_DETACHED: "1" },
    windowsHide: true,
  });
  closeSync(handle);
  let ended: string | null = null;
  child.once("error", (error) => (ended = `It could not be started: ${error.message}.`));
  child.once("exit", (code, signal) => (ended = `It ended with ${signal ?? `code ${code}`}.`));
  child.unref();
  return {
    everyMs: 0,
    async why() {
      // Another one that started at the same moment was faster, which is just as good.
      if (ended === null || (child.exitCode === exitCodes.stayDown && (await runningGateway(paths)) !== null))
        return null;
      return `${lastWords(file, from)}${ended}`;
    },
  };
}

/** Without what was said to this process alone, such as that it was started by a launcher. */
function inherited(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment()).filter(([name]) => !privateNames.has(name)));
}

function openOutput(file: string, paths: Paths): { readonly handle: number; readonly from: number } {
  try {
    mkdirSync(paths.logs, { recursive: true, mode: 0o700 });
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (size > outputMax) renameSync(file, `${file}.1`);
    return { handle: openSync(file, "a", 0o600), from: size > outputMax ? 0 : size };
  } catch (error) {
    const todo = `Give this user the right to write in ${paths.home}, or set EVERTURN_HOME to another folder.`;
    throw new Fault("home-unusable", `${file} cannot be written (${sentenceOf(error)}). ${todo}`, error);
  }
}

/** What it said in this life to people; where that is nothing, what it told its log about trouble. */
function lastWords(file: string, from: number): string {
  const lines = readFileSync(file)
    .subarray(from)
    .toString("utf8")
    .split("\n")
    .filter((one) => one.trim() !== "");
  const records = lines.map(readJsonLine);
  const said = lines.filter((_, i) => records[i] === null);
  const troubled = records
    .filter((one) => one?.level === "error")
    .map((one) => (one === null ? "" : prettyLine(one, false)));
  return (said.length > 0 ? said : troubled)
    .slice(-20)
    .map((one) => `${plainText(one)}\n`)
    .join("");
}
