// One life of the gateway in this process, from the lock to the last write: store, control port, recovery, then waiting
// until it is asked to stop. The end runs every step whatever an earlier one did. The lock is not ours: whoever called
// holds it until everything here is closed.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Output } from "../cli/print.ts";
import type { Environment } from "../config/load.ts";
import type { Paths } from "../config/paths.ts";
import type { Config } from "../config/schema.ts";
import { openToken } from "../control/auth.ts";
import type { Control } from "../control/server.ts";
import { Fault, sentenceOf } from "../core/fault.ts";
import type { StopIntent, SupervisorKind } from "../core/lifecycle.ts";
import { limits } from "../core/limits.ts";
import type { Boot } from "../core/recovery.ts";
import { workspaceName } from "../core/workspace.ts";
import { type ProcessIdentity, ownIdentity } from "../host/identity.ts";
import { withJobs } from "../host/jobs/together.ts";
import { openProcesses } from "../host/processes.ts";
import { hideKnown } from "../log/redact.ts";
import { narrate } from "../narrate.ts";
import { type Watch, watchMarkers } from "../host/watcher.ts";
import type { Gateway, GatewayState, RestartAsk } from "../ports/gateway.ts";
import type { World } from "../ports/world.ts";
import { blobsLater } from "../stores/blobs/later.ts";
import { personBlobs } from "../stores/blobs/person.ts";
import { type SqliteStore, openSqliteStore, placeWarning } from "../stores/sqlite/index.ts";
import { realWorld } from "../world.ts";
import type { AgentGiven } from "./agent/index.ts";
import type { Shell } from "./agent/shell.ts";
import { type Asks, type Revoked, watchAsks } from "./asks.ts";
import { codeOf, finalWrites, timed } from "./end.ts";
import { farewell } from "./greet.ts";
import { exitOnMistake } from "./mistake.ts";
import { type Ready, greet } from "./ready.ts";
import { type Reporter, openReporter } from "./report.ts";
import type { Handover } from "./next/handover.ts";
import { type Code, beginBoot, configHash, drainMsOf, openLogs, settingsOf } from "./parts.ts";
import { type Board, openBoard, stateWhile } from "./state.ts";

export type LifeParts = {
  readonly version: string;
  readonly pageFolder: string;
  readonly output: Output;
  readonly config: Config;
  readonly paths: Paths;
  readonly env: Environment;
  /** Whatever is known to be secret. */
  readonly secrets: readonly string[];
  readonly isOpenToOthers: boolean;
  readonly code: Promise<Code>;
  readonly supervisor: SupervisorKind | null;
  readonly handover: Handover;
  /** It follows another gateway without a pause, and goes on at its port where any would do. */
  readonly follows: { readonly port: number | null } | null;
};

/** What needs no lock, but a home that somebody has served before or that is ours. */
export type Outfit = {
  readonly token: string;
  readonly world: World;
  readonly flush: () => Promise<void>;
  readonly hide: (value: unknown) => unknown;
  /** Without what is known to be secret, for what models, tools and people are told. */
  readonly hideKnown: (text: string) => string;
  readonly self: ProcessIdentity;
  readonly hash: string;
};

export function outfit({
  config,
  paths,
  env,
  secrets,
}: Pick<LifeParts, "config" | "paths" | "env" | "secrets">): Outfit {
  const token = openToken(paths.token);
  const known = [...secrets, token];
  const { log, flush, hide } = openLogs(config, paths, known, env);
  const own = { token, world: realWorld(log), flush, hide, hideKnown: hideKnown(known) };
  return { ...own, self: ownIdentity(), hash: configHash(paths, env) };
}

/** The exit code, when everything is closed. */
export async function serve(parts: LifeParts & Outfit): Promise<number> {
  const { config, paths, version, env, world, self, flush, hide } = parts;
  await using open = new AsyncDisposableStack();
  exitOnMistake(world, flush);
  const boot = beginBoot(world, version, parts.hash);
  const asks = watchAsks({
    world,
    paths,
    self,
    env,
    hide,
    drainMs: drainMsOf(config),
    overdue: (intent) => overdue(intent, parts, asks.revoked()),
  });
  // Whoever finds it in the file may send a signal at once.
  const board = openBoard(paths.state, { ...self, version, startedAt: boot.startedAt }, world);
  // Registered before everything else, so the last to go: until then no signal ends the process half-way.
  open.defer(() => asks.off());
  open.defer(flush);
  if (parts.isOpenToOthers)
    world.log("warn", "others on this machine can read the home folder", { home: paths.home, todo: "chmod 700" });
  try {
    return await live({ ...parts, boot, board, asks, greeted: Promise.withResolvers() }, open);
  } catch (error) {
    const reason = sentenceOf(error);
    await board.last({ gateway_state: "startup_failed", desired_state: "as it is" }, { exit_reason: reason });
    throw error;
  }
}

type Living = LifeParts &
  Outfit & { readonly boot: Boot; readonly board: Board; readonly asks: Asks } & {
    readonly greeted: PromiseWithResolvers<void>;
  };

async function live(parts: Living, open: AsyncDisposableStack): Promise<number> {
  const { paths, world, asks, supervisor, output } = parts;
  const from = performance.now();
  const store = await openSqliteStore({ file: paths.store, writer: "thread" });
  const stopped = timed(world);
  open.defer(() => stopped.close(() => store.close()));
  const storeMs = performance.now() - from;
  const warning = placeWarning(paths.store);
  if (warning !== null) world.log("warn", warning);

  const reporter = openReporter(parts);
  open.defer(() => reporter?.close());
  const { gate, control, agent, settings } = await compose(parts, store, open, reporter);
  const running = gate.run();
  asks.answer({
    stop: (intent) => gate.stop(intent),
    restart: (intent) => void restart(gate, intent, world),
  });
  const watching = watch(parts, gate);
  open.defer(() => watching.stop());
  const booted = await Promise.race([gate.ready.then(() => "ready" as const), running.then(() => "ended" as const)]);
  if (booted === "ready") {
    watching.look();
    const ready = { ...parts, gate, control, agent, settings, store, storeMs };
    // Whoever hears of it may look for it at once.
    await parts.board.settled();
    reporter?.ready(gate.status());
    await greet(ready);
    parts.greeted.resolve();
    void follow(ready);
  }

  const ending = await running;
  stopped.asked(ending.askedAt);
  if (!ending.clean)
    world.log("warn", "not everything was parked in time; it is taken up from its last step at the next start");
  const expected = codeOf(ending, supervisor, asks.revoked() ?? "arranged");
  const [back] = await Promise.all([
    finalWrites(ending.intent, { ...parts, revoked: asks.revoked }),
    control.close(),
    noteCode(parts, store, expected),
  ]);
  (ending.intent.by === "fault" ? output.err : output.out)(farewell(ending));
  const code = codeOf(ending, supervisor, back);
  if (code !== expected) await noteCode(parts, store, code);
  return code;
}

/** For whoever asks why afterwards; a disk that does not answer is not waited for. */
async function noteCode({ boot, world }: Living, store: SqliteStore, exitCode: number): Promise<void> {
  try {
    const noted = store.commit([{ put: "story", boot: boot.id, story: { exitCode } }], boot.id);
    await Promise.race([noted, pause(limits.closeMs / 2, undefined, { ref: false })]);
  } catch (error) {
    world.log("warn", "the exit code could not be noted", { why: sentenceOf(error) });
  }
}

/** Nobody waits for it, and nothing depends on it. */
async function follow(ready: Ready): Promise<void> {
  try {
    const { afterwards } = await import("./after/index.ts");
    await afterwards(ready);
  } catch (error) {
    ready.world.log("warn", "not everything was looked at after the start", { why: sentenceOf(error) });
  }
}

/** The gateway and its control port, watched by the log and by the state file. */
async function compose(parts: Living, store: SqliteStore, open: AsyncDisposableStack, reporter: Reporter | null) {
  const { config, paths, version, world, boot, board, asks, handover, token, pageFolder } = parts;
  const { control: controlCode, engine, near, far, agent } = await parts.code;
  const blobs = blobsLater(paths.files);
  const filesOf = (person: string) => personBlobs(blobs, join(paths.attachments, workspaceName(person)));
  const opened = [
    ...near.map((make) => make(store, { boot: boot.id, version }, blobs)),
    ...far.map((make) =>
      make({ world, blobs, archive: store, store, gateway: () => gate, models: () => brain.models, filesOf }),
    ),
  ];
  const settings = settingsOf(config, opened);
  const processes = openProcesses();
  const brain: Shell = agent({
    world,
    version,
    blobs,
    processes,
    archive: store,
    turn: (id) => store.turn(id),
    facts: factsIn(store, boot.id),
    env: parts.env,
    hide: parts.hideKnown,
    restart: () => gate.restart({ by: "tool", reason: "its agent was asked to restart it" }),
  });
  let stopping: StopIntent | null = null;
  const gate: Gateway = engine.gateway({
    store,
    platforms: opened.map((one) => one.platform),
    agent: brain,
    processes: withJobs(processes, paths.jobs),
    hide: parts.hideKnown,
    world,
    settings,
    boot,
    said: parts.greeted.promise,
    counters: await countsIn(paths),
    prepareRestart: () => handover.prepare(),
    witness(intent) {
      stopping = intent;
      reporter?.stopping(intent);
      return asks.witness(intent);
    },
  });
  let url: string | null = null;
  const routes = opened.flatMap((one) => one.routes ?? []);
  const { drainSeconds } = config.gateway;
  const { servers } = brain;
  const own = { gateway: gate, store, archive: store, servers, world, redact: parts.hideKnown };
  const shared = { ...own, routes, token, version, drainSeconds, pageFolder };
  open.defer(
    gate.watch((event) => {
      const { level, what, facts } = narrate(event);
      world.log(level, what, facts);
      if (event.type !== "state" && event.type !== "platform" && event.type !== "draining") return;
      const status = gate.status();
      board.show(stateWhile(status, url, stopping));
      reporter?.changed(status);
    }),
  );
  const control = await openAt(parts, (port) =>
    controlCode.openControl({ ...shared, host: config.control.host, port }),
  );
  url = control.url;
  open.defer(() => control.close());
  return { gate, control, agent: brain, settings };
}

function factsIn(store: SqliteStore, boot: Boot["id"]): AgentGiven["facts"] {
  return {
    read: (name) => store.fact(name),
    async write(name, value) {
      const result = await store.commit([{ put: "fact", name, value }], boot);
      if (result !== "committed") throw new Fault("store-refused", `${name} was not stored: ${result}.`);
    },
  };
}

/** What an earlier gateway has counted; most homes have no such file. */
async function countsIn({ failureCounts }: Paths) {
  if (!existsSync(failureCounts)) return null;
  const { readCounts } = await import("../host/files/counters.ts");
  return readCounts(failureCounts);
}

/** A marker asks as a signal does, on systems that have no signals too. */
function watch({ paths, self, world, asks }: Living, gate: Gateway): Watch {
  const isIn = (...states: readonly GatewayState[]) => states.includes(gate.status().state);
  return watchMarkers({
    files: paths,
    self,
    isOpen: () => isIn("running", "degraded"),
    isDraining: () => isIn("draining", "stopped"),
    fire: () => asks.marked(),
    log: world.log,
    now: () => world.now(),
  });
}

/** Who ends may hold the port for a moment longer than the home; and where any port would do, pages stay where they are. */
async function openAt({ config, follows }: Living, openControl: (port: number) => Promise<Control>): Promise<Control> {
  const { port } = config.control;
  if (follows === null) return openControl(port);
  const wanted = port === 0 ? follows.port : port;
  for (const until = performance.now() + portPatienceMs; wanted !== null; await pause(5)) {
    try {
      return await openControl(wanted);
    } catch (error) {
      const isTaken = error instanceof Fault && error.code === "port-unusable";
      if (!isTaken || (performance.now() > until && port !== 0)) throw error;
      if (performance.now() > until) break;
    }
  }
  return openControl(port);
}

const portPatienceMs = 1_000;

async function restart(gate: Gateway, ask: RestartAsk, world: World): Promise<void> {
  const answer = await gate.restart(ask);
  if (answer !== "restarting")
    world.log("warn", "it was asked to restart, and goes on as before", { why: answer.refused });
}

/** Everything that matters is stored by then. */
function overdue(intent: StopIntent, { supervisor, handover, world }: LifeParts & Outfit, revoked: Revoked | null) {
  world.log("error", "the stop took too long; the process ends now, and the next start goes on from what is stored");
  if (intent.class !== "restart") process.exit(codeOf({ intent }, supervisor, "open"));
  if (revoked !== null) void handover.dismiss();
  process.exit(codeOf({ intent }, supervisor, revoked ?? (handover.isAwaited() ? "arranged" : "open")));
}
