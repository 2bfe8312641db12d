// What the Windows tests stand on: the real program, built and run by Node for Windows under wine, in homes that both
// systems see. Processes are known by their Windows numbers; what they say goes to files, because a pipe ends Node there.

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";
import { after, before, type TestContext } from "node:test";
import { buildProgram } from "../../scripts/build.ts";
import { atEnd, environmentOf, root, until, within } from "../process/stage.ts";

const wineRoot = process.env["EVERTURN_WINE"] ?? "";
const wine = join(import.meta.dirname, "wine.sh");
const place = join(wineRoot, "everturn");
const program = join(place, "program");

/** Call once in each file. */
export function windows(): void {
  before(async () => {
    assert.notEqual(wineRoot, "", "EVERTURN_WINE must name a folder that test/windows/get-wine.sh has made");
    rmSync(program, { recursive: true, force: true });
    await buildProgram(join(program, "dist"));
    cpSync(join(root, "bin"), join(program, "bin"), { recursive: true });
    cpSync(join(root, "package.json"), join(program, "package.json"));
  });
  // What Windows itself runs, such as its own services, ends with the last test.
  after(() => runToEnd(spawn(wine, ["wineboot", "--kill"], { env: wineEnvironment({}), stdio: "ignore" })));
}

/** The name that Windows has for a file below the folder of wine. */
export function windowsPath(file: string): string {
  return `Z:\\${relative(wineRoot, file).replaceAll("/", "\\")}`;
}

export const mainFile = windowsPath(join(program, "dist", "main.js"));
export const nodeFile = windowsPath(join(place, "node", "node.exe"));

/** The other way round. */
export function ownPath(file: string): string {
  assert.match(file, /^Z:\\/);
  return join(wineRoot, ...file.split("\\").slice(1));
}

/** A home that both systems see, with a configuration where one is given; ours is the path here. */
export function newHome(t: TestContext, config = "", name = "home"): string {
  const folder = mkdtempSync(join(place, "test-"));
  atEnd(t, () => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 }));
  const home = join(folder, name);
  mkdirSync(home);
  if (config !== "") writeFileSync(join(home, "config.yaml"), config);
  return home;
}

export type Exit = number | NodeJS.Signals;

export type Started = {
  readonly exit: Promise<Exit>;
  out(): string;
  err(): string;
};

function wineEnvironment(own: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...own, PATH: process.env["PATH"], EVERTURN_WINE: wineRoot };
}

async function runToEnd(child: ChildProcess): Promise<Exit> {
  return new Promise((found, fail) => {
    child.once("error", fail);
    child.once("exit", (code, signal) => found(code ?? signal ?? assert.fail("a process ended without a reason")));
  });
}

/** Any Windows program, which ends with the test at the latest. */
export function start(t: TestContext, home: string, words: readonly string[], env: NodeJS.ProcessEnv = {}): Started {
  const said = mkdtempSync(join(home, "..", "said-"));
  const [out, err] = [join(said, "out"), join(said, "err")];
  const files = [out, err].map((file) => openSync(file, "w"));
  const { NODE_EXTRA_CA_CERTS: _, ...own } = environmentOf(windowsPath(home), { env: {} });
  const child = spawn(wine, [...words], {
    env: wineEnvironment({ ...own, ...env }),
    stdio: ["ignore", files[0], files[1]],
  });
  for (const file of files) closeSync(file);
  const exit = runToEnd(child);
  exit.catch(() => undefined);
  atEnd(t, async () => {
    child.kill("SIGKILL");
    await exit.catch(() => undefined);
  });
  return { exit, out: () => readFileSync(out, "utf8"), err: () => readFileSync(err, "utf8") };
}

/** A command of the program. */
export function everturn(t: TestContext, home: string, words: readonly string[], env: NodeJS.ProcessEnv = {}): Started {
  return start(t, home, [nodeFile, mainFile, ...words], env);
}

/** Until it has ended; says what it said when it does not. */
export async function ended({ exit, out, err }: Started): Promise<{ code: Exit; out: string; err: string }> {
  const code = await within(exit, `it did not end; it said ${out()}\n${err()}`);
  return { code, out: out(), err: err() };
}

export type Gateway = Started & {
  readonly url: string;
  readonly token: string;
  /** As Windows counts. */
  readonly pid: number;
};

export async function runGateway(t: TestContext, home: string, words: readonly string[] = []): Promise<Gateway> {
  return whenReady(home, everturn(t, home, ["gateway", "run", ...words]));
}

export async function whenReady(home: string, started: Started): Promise<Gateway> {
  let over: Exit | null = null;
  started.exit.then(
    (code) => (over = code),
    () => (over = 1),
  );
  const url = await until(
    () => /Web chat: (http:\/\/127\.0\.0\.1:\d+)[^\n]*\r?\n.*\n/.exec(started.out())?.[1],
    (found) => found !== undefined || over !== null,
    () => `the gateway is running, which said ${started.err()}`,
  );
  if (url === undefined) assert.fail(`it ended with ${over} and said:\n${started.out()}\n${started.err()}`);
  const { pid } = await stateOf(home);
  return { ...started, url, token: readFileSync(join(home, "control.token"), "utf8").trim(), pid };
}

export type State = {
  readonly pid: number;
  readonly gateway_state: string;
  readonly desired_state: string;
  readonly url: string | null;
};

/** What `gateway_state.json` says. Under wine a file is gone for a moment while another takes its place. */
export function stateOf(home: string): Promise<State> {
  const file = join(home, "gateway_state.json");
  const look = () => (existsSync(file) ? readFileSync(file, "utf8") : "");
  return until(look, (text) => text !== "", "there is a state file").then((text) => JSON.parse(text) as State);
}

/** `taskkill`, as an operator types it. */
export async function taskkill(t: TestContext, home: string, ...words: readonly string[]): Promise<string> {
  const { code, out, err } = await ended(start(t, home, ["taskkill.exe", ...words]));
  assert.equal(code, 0, `${out}\n${err}`);
  return out;
}
