// `everturn gateway run`: composes the gateway from its parts, runs it, and takes it apart again. The order of the start:
// home, configuration, lock, store, control port, recovery. The end runs every step whatever an earlier one did, and the
// lock goes last. Telling planned stops from others by their markers is not done here yet: every signal is a stop.

import { hostname } from "node:os";
import { join } from "node:path";
import { flushCompileCache } from "node:module";
import type { Output } from "./cli/print.ts";
import { wrongConfig } from "./cli/wrong-config.ts";
import { environment, loadConfig, systemInput } from "./config/load.ts";
import { type Paths, findHome } from "./config/paths.ts";
import type { Config } from "./config/schema.ts";
import { openToken } from "./control/auth.ts";
import { secretsOf } from "./config/secret.ts";
import { Fault, sentenceOf } from "./core/fault.ts";
import type { BootId } from "./core/ids.ts";
import { limits } from "./core/limits.ts";
import { type Boot, newBoot } from "./core/recovery.ts";
import type { PlatformSettings } from "./engine/parts.ts";
import { prepareHome, takeHome } from "./home.ts";
import { type StateFile, machineBootId, ownIdentity, writeStateFile } from "./host/identity.ts";
import { openLogFile } from "./log/file.ts";
import { type Log, both, openLog } from "./log/log.ts";
import { wantsColour } from "./log/pretty.ts";
import { narrate } from "./narrate.ts";
import type { Chat } from "./platforms/chat/index.ts";
import type { Agent } from "./ports/agent.ts";
import type { Gateway, GatewayEvent } from "./ports/gateway.ts";
import type { Archive } from "./ports/store.ts";
import type { World } from "./ports/world.ts";
import { openSqliteStore, placeWarning } from "./stores/sqlite/index.ts";
import { watchSignals } from "./signals.ts";
import { realWorld } from "./world.ts";

export type RunOptions = {
  readonly replace: boolean;
  readonly home: string | undefined;
  readonly version: string;
  readonly pageFolder: string;
  readonly output: Output;
};

/** What a new start cannot cure, so that a supervisor leaves it alone. */
const stayDown = new Set<string>(["config-wrong", "home-unusable", "store-newer", "store-foreign", "store-unsuitable"]);
const exitCodes = { stopped: 0, failed: 1, bug: 70, config: 78, served: 79 } as const;

export async function runGateway(options: RunOptions): Promise<number> {
  const { output } = options;
  try {
    const input = systemInput(options.home);
    // Whatever is made from here on is for this user only.
    process.umask(0o077);
    const isOpenToOthers = prepareHome(findHome(input));
    const loaded = await loadConfig(input);
    if (loaded.type === "wrong") throw wrongConfig(loaded.faults);
    const { config, paths } = loaded;
    const lock = await takeHome(paths, options.replace, config.gateway.drainSeconds * 1000);
    try {
      return await serve({ ...options, config, paths, isOpenToOthers });
    } finally {
      lock.release();
    }
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    output.err(error.message);
    if (error.code === "already-running") return exitCodes.served;
    return stayDown.has(error.code) ? exitCodes.config : exitCodes.failed;
  }
}

type Parts = RunOptions & { readonly config: Config; readonly paths: Paths; readonly isOpenToOthers: boolean };

async function serve(parts: Parts): Promise<number> {
  const { config, paths, version, output } = parts;
  await using open = new AsyncDisposableStack();
  const token = openToken(paths.token);
  const logs = openLogs(config, paths, [...secretsOf(config), token]);
  open.defer(logs.flush);
  const world = realWorld(logs.log);
  exitOnMistake(world, logs.flush);
  if (parts.isOpenToOthers)
    world.log("warn", "others on this machine can read the home folder", { home: paths.home, todo: "chmod 700" });

  const from = performance.now();
  const store = await openSqliteStore({ file: paths.store, writer: "thread" });
  const storeMs = performance.now() - from;
  const warning = placeWarning(paths.store);
  if (warning !== null) world.log("warn", warning);
  open.defer(() => store.close());
  // The writer's thread starts while the rest of the code is loaded.
  const [{ openControl }, { gateway }, agent] = await Promise.all([
    import("./control/server.ts"),
    import("./engine/gateway.ts"),
    openAgent(paths),
  ]);
  const boot = beginBoot(world, version);
  const chats = await openChats(config, store, { boot: boot.id, version });
  const drainMs = config.gateway.drainSeconds * 1000;
  const { recovery } = config;
  const settings = { drainMs, lanesMax: limits.lanesMax, recovery, platforms: platformSettings(config) };
  const gate = gateway({ store, platforms: chats.map((one) => one.platform), agent, world, settings, boot });
  open.defer(gate.watch((event) => tell(world, event)));

  const { host, port } = config.control;
  const routes = chats.map((one) => one.routes);
  const shared = { gateway: gate, store, archive: store, world, routes, token, version, pageFolder: parts.pageFolder };
  const control = await openControl({ ...shared, host, port });
  open.defer(() => control.close());
  const overdue = () => {
    world.log("error", "the stop took too long; the process ends now, and the next start goes on from what is stored");
    process.exit(exitCodes.stopped);
  };
  const signals = watchSignals({ world, drainMs, stop: (intent) => gate.stop(intent), overdue });
  open.defer(() => signals.off());

  const writeState = stateWriter(paths.state, world, boot);
  const running = gate.run();
  const booted = await Promise.race([gate.ready.then(() => "ready" as const), running.then(() => "ended" as const)]);
  await writeState("running", "running", control.url);
  const { turns, items, tookMs } = gate.status().recovered;
  const times = { storeMs: Math.round(storeMs), recoveryMs: tookMs, startMs: Math.round(performance.now()) };
  world.log("info", "messages are accepted and answered", { ...times, turns, items });
  if (booted === "ready") greet(output, gate, parts, config.platforms.web === false ? control.url : control.link);
  flushCompileCache();

  const { intent, clean } = await running;
  if (!clean)
    world.log("warn", "not everything was parked in time; it is taken up from its last step at the next start");
  await writeState("stopped", signals.first() === "SIGINT" ? "stopped" : "running", null);
  if (intent.by !== "fault") return exitCodes.stopped;
  output.err(`The gateway stopped: ${intent.reason}.`);
  return intent.class === "fault" ? exitCodes.bug : exitCodes.served;
}

function greet(output: Output, gate: Gateway, { version, config }: Parts, link: string): void {
  const { turns, items } = gate.status().recovered;
  output.out(`Everturn ${version} is running.`);
  output.out(`${config.platforms.web === false ? "Control" : "Web chat"}: ${link}`);
  output.out("The offline agent answers, because no model is set. Ctrl-C stops the gateway; nothing is lost by it.");
  const rest = [
    ...(turns > 0 ? [count(turns, "unfinished conversation")] : []),
    ...(items > 0 ? [count(items, "reply", "replies")] : []),
  ];
  if (rest.length > 0) output.out(`Goes on with what the last run left: ${rest.join(" and ")}.`);
}

function count(n: number, one: string, many = `${one}s`): string {
  return `${n} ${n === 1 ? one : many}`;
}

function tell(world: World, event: GatewayEvent): void {
  const { level, what, facts } = narrate(event);
  world.log(level, what, facts);
}

/** To the terminal in the form that suits it, and to the home's log file. */
function openLogs(config: Config, paths: Paths, secrets: readonly string[]): { log: Log; flush: () => Promise<void> } {
  const { level, format } = config.log;
  const isTerminal = process.stderr.isTTY === true;
  const file = openLogFile({ file: join(paths.logs, "gateway.log") });
  const shown = format === "auto" ? (isTerminal ? "pretty" : "json") : format;
  const colour = wantsColour(isTerminal, environment());
  const log = both(
    openLog({ level, format: shown, colour, secrets, write: (line) => void process.stderr.write(line) }),
    openLog({ level, format: "json", secrets, write: (line) => file.write(line) }),
  );
  return { log, flush: () => file.flush() };
}

/** What nobody caught is a mistake of ours: it is told and ends the process, and the next start takes the work up. */
function exitOnMistake(world: World, flush: () => Promise<void>): void {
  for (const name of ["uncaughtException", "unhandledRejection"]) {
    process.removeAllListeners(name);
    process.on(name, (error: unknown) => {
      const stack = error instanceof Error ? error.stack : undefined;
      world.log("error", "a mistake of ours ends the gateway", { why: sentenceOf(error), stack });
      const leave = () => process.exit(exitCodes.bug);
      setTimeout(leave, 500);
      flush().then(leave, leave);
    });
  }
}

function beginBoot(world: World, version: string): Boot {
  const now = world.now();
  const place = { pid: process.pid, host: hostname(), machine: machineBootId(), version, config: "" };
  return newBoot({ id: world.id() as BootId, ...place, startedAt: now });
}

async function openChats(
  config: Config,
  store: Archive,
  facts: { boot: string; version: string },
): Promise<readonly Chat[]> {
  const { platforms } = await import("./platforms/registry.ts");
  const wanted = (["web", "terminal"] as const).filter((name) => config.platforms[name] !== false);
  return Promise.all(wanted.map(async (name) => (await platforms[name]()).chat(name, store, facts)));
}

/** The offline agent is the only one there is. */
async function openAgent(paths: Paths): Promise<Agent> {
  const { echo } = await import("./agents/echo/index.ts");
  return echo({ workspace: paths.workspace, stepMs: 500, toolMs: 1_500 });
}

function platformSettings(config: Config): Record<string, PlatformSettings> {
  const settings: Record<string, PlatformSettings> = {};
  for (const name of ["web", "terminal"] as const) {
    const own = config.platforms[name];
    // Our own clients know every message by its key, so nothing is ever in doubt for long.
    if (own === false) continue;
    // Whoever is let in here owns the gateway, and sees its state without being told.
    settings[name] = { busy: own.busy, inDoubt: "resend", home: null, restartNotices: false, admins: ["*"] };
  }
  return settings;
}

type WriteState = (state: string, desired: StateFile["desired_state"], url: string | null) => Promise<void>;

/** Others read it to find the gateway; that it cannot be written is no reason not to run. */
function stateWriter(file: string, world: World, boot: Boot): WriteState {
  const { pid, startTime } = ownIdentity();
  const since = new Date(boot.startedAt).toISOString();
  const own = { pid, start_time: startTime, version: boot.version, started_at: since };
  return async (state, desired, url) => {
    const updated = new Date(world.now()).toISOString();
    try {
      await writeStateFile(file, { gateway_state: state, desired_state: desired, ...own, url, updated_at: updated });
    } catch (error) {
      world.log("warn", "other commands cannot find this gateway", { why: sentenceOf(error) });
    }
  };
}
