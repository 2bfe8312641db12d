// File and environment to a Config, or all faults at once. The only reader of the process's environment.
// Never prints, and loads the YAML parser only when there is a config.yaml.

import { readFile, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { check } from "./check.ts";
import { Draft } from "./draft.ts";
import { type Variables, overridesIn, parseEnvFile } from "./env.ts";
import { type ConfigFault, faultAt, inOrder } from "./faults.ts";
import { type HomeHints, type Paths, findHome, pathsIn } from "./paths.ts";
import { type Config, configSchema } from "./schema.ts";
import { secretsOf } from "./secret.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export type ConfigInput = HomeHints & {
  readonly readFile: (path: string, maxBytes: number) => Promise<FileRead>;
};

export type FileRead =
  | { readonly type: "read"; readonly bytes: Uint8Array }
  | { readonly type: "missing" }
  | { readonly type: "too-large" }
  | { readonly type: "unreadable"; readonly why: string };

/** Which places had a say; null and empty where they had none. */
export type Sources = {
  readonly config: string | null;
  readonly env: string | null;
  readonly variables: readonly string[];
};

export type LoadedConfig =
  | {
      readonly type: "loaded";
      readonly config: Config;
      readonly paths: Paths;
      readonly sources: Sources;
      /** Everything known to be secret, of the configuration and of the variables beside it. */
      readonly secrets: readonly string[];
    }
  | { readonly type: "wrong"; readonly faults: readonly ConfigFault[]; readonly paths: Paths };

const fileBytesMax = 1_048_576;

/** Rejects only with a Fault when no home folder can be named. */
export async function loadConfig(input: ConfigInput): Promise<LoadedConfig> {
  const paths = pathsIn(findHome(input));
  const faults: ConfigFault[] = [];
  const [envText, configText] = await Promise.all([
    readText(paths.env, input, faults),
    readText(paths.config, input, faults),
  ]);
  const fromFile = parseEnvFile(envText ?? "", paths.env);
  const variables: Variables = new Map([...fromFile.variables, ...fromProcess(input.env)]);
  const { overrides, faults: misspelt } = overridesIn(variables, Object.keys(configSchema.entries));
  faults.push(...fromFile.faults, ...misspelt);

  const draft = new Draft();
  if (configText !== null) {
    const { parseYaml } = await import("./yaml.ts");
    const parsed = parseYaml(configText, paths.config);
    if (parsed.type === "wrong") faults.push(...parsed.faults);
    else draft.read(parsed.value, parsed.lines, paths.config, faults);
  }
  draft.fill(variables, faults);
  for (const override of overrides) draft.override(override, faults);
  const keys = draft.fillKeys(variables);

  const checked = await check(draft);
  if (checked.type === "wrong") faults.push(...checked.faults);
  const usable = checked.type === "right" ? checked.config : checked.rest;
  if (usable !== null) await checkWorkspace(usable, paths, input, draft, faults);
  const whole = usable === null ? null : await withInstructions(usable, paths, input, draft, faults);
  const config = checked.type === "right" ? whole : null;
  if (config === null || faults.length > 0) return { type: "wrong", faults: inOrder(faults, paths.config), paths };
  const sources = {
    config: configText === null ? null : paths.config,
    env: envText === null ? null : paths.env,
    variables: [...overrides.map(({ variable }) => variable), ...keys],
  };
  return { type: "loaded", config, paths, sources, secrets: [...secretsOf(config), ...secretVariables(variables)] };
}

const secretName = /(token|key|password|passwd|passphrase|secret|credentials?)$/i;

/** Variables whose names say that they are secrets, whether the configuration uses them or not. */
function secretVariables(variables: Variables): readonly string[] {
  return [...variables].flatMap(([name, { text }]) =>
    secretName.test(name) && text.trim() !== "" ? [text.trim()] : [],
  );
}

const workspaceKey = ["agent", "tools", "workspace"];

/** Tools would fail only at their first call, and after a long time. */
async function checkWorkspace(
  { agent }: Config,
  paths: Paths,
  input: ConfigInput,
  draft: Draft,
  faults: ConfigFault[],
): Promise<void> {
  const named = agent.tools.workspace;
  const folder = named === undefined ? paths.workspace : resolve(paths.home, named);
  const found = await input.readFile(folder, 0);
  if (found.type !== "read" && found.type !== "too-large") return;
  const origin = draft.originOf(workspaceKey);
  faults.push(
    faultAt(origin, workspaceKey.join("."), `is ${folder}, which is a file`, "move the file away or name a folder"),
  );
}

const instructionsFileKey = ["agent", "instructionsFile"];

/** The owner's words to the agent, where they are in a file of their own; it is named from the home on. */
async function withInstructions(
  config: Config,
  paths: Paths,
  input: ConfigInput,
  draft: Draft,
  faults: ConfigFault[],
): Promise<Config> {
  const { instructionsFile } = config.agent;
  const isFaulty = faults.some(({ key }) => key === instructionsFileKey.join("."));
  if (instructionsFile === undefined || isFaulty) return config;
  const file = resolve(paths.home, instructionsFile);
  const inFile: ConfigFault[] = [];
  const text = await readText(file, input, inFile);
  const [bad] = inFile;
  const wrong = (what: string, todo: string) =>
    faults.push(faultAt(draft.originOf(instructionsFileKey), instructionsFileKey.join("."), what, todo));
  if (bad !== undefined) wrong(`names ${file}, and ${bad.what}`, bad.todo);
  else if (text === null) wrong(`names ${file}, which is not there`, "make the file or correct the name");
  return { ...config, agent: { ...config.agent, instructions: (text ?? "").trim() } };
}

function fromProcess(env: Environment): Variables {
  return new Map(
    Object.entries(env).flatMap(([name, text]) =>
      text === undefined ? [] : [[name, { text, file: null, line: null }]],
    ),
  );
}

/** The text of a file, or null when it is missing or cannot be used; then there is a fault. */
async function readText(path: string, input: ConfigInput, faults: ConfigFault[]): Promise<string | null> {
  const wrong = (what: string, todo: string) => {
    faults.push(faultAt({ file: path, line: null, variable: null }, "", what, todo));
    return null;
  };
  const read = await input.readFile(path, fileBytesMax);
  switch (read.type) {
    case "missing":
      return null;
    case "too-large":
      return wrong("the file is larger than 1 MB", "make it smaller");
    case "unreadable":
      return wrong(
        `the file cannot be read (${read.why})`,
        read.why === notAFile ? "move it away" : "give this user the right to read it, or remove it",
      );
    case "read":
      try {
        return new TextDecoder("utf-8", { fatal: true }).decode(read.bytes);
      } catch (error) {
        if (error instanceof TypeError) return wrong("the file is not UTF-8 text", "save it as UTF-8");
        throw error;
      }
  }
}

/** The process's environment and the real disk. The only door to both. */
export function systemInput(home?: string): ConfigInput {
  const hints = { env: environment(), userHome: userHome(), cwd: process.cwd(), readFile: readBounded };
  return home === undefined ? hints : { ...hints, home };
}

export function environment(): Environment {
  return process.env;
}

/** Said by one of our processes to another; they configure nothing, and whatever a gateway starts must not inherit them. */
export const privateNames: ReadonlySet<string> = new Set([
  "EVERTURN_SUCCESSOR",
  "EVERTURN_ATTENDED",
  "EVERTURN_PARENT",
  "EVERTURN_DETACHED",
  "EVERTURN_SUPERVISOR",
  "EVERTURN_READY_FD",
  "EVERTURN_INSIDE",
]);

/** By which systemd lets a service speak for itself: not for what it starts. */
const supervisorNames = ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"];

/**
 * From now on this process is a gateway: what it starts knows that it runs inside of this home, and is told nothing that
 * was meant for the gateway alone. The answer is the environment as it was.
 */
export function enterGateway(home: string): Environment {
  const before = { ...process.env };
  for (const name of [...privateNames, ...supervisorNames]) delete process.env[name];
  process.env["EVERTURN_INSIDE"] = home;
  return before;
}

function userHome(): string | null {
  try {
    return homedir();
  } catch (error) {
    // A user without an entry in the system's list has none; it only matters when EVERTURN_HOME is not set either.
    if (error instanceof Error) return null;
    throw error;
  }
}

const notAFile = "it is not a file";

/** Asks what it is before opening it, because opening a pipe would wait for ever. */
async function readBounded(path: string, maxBytes: number): Promise<FileRead> {
  try {
    const facts = await stat(path);
    if (!facts.isFile()) return { type: "unreadable", why: notAFile };
    if (facts.size > maxBytes) return { type: "too-large" };
    const bytes = await readFile(path);
    return bytes.length > maxBytes ? { type: "too-large" } : { type: "read", bytes };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    return code === "ENOENT" ? { type: "missing" } : { type: "unreadable", why: code };
  }
}
