// Wires the parts and is the gateway. Everything it needs is handed in; it reaches for nothing.

import { Fault, sentenceOf } from "../core/fault.ts";
import type { Hide } from "../core/hide.ts";
import type { StopIntent } from "../core/lifecycle.ts";
import type { Boot } from "../core/recovery.ts";
import type { Agent } from "../ports/agent.ts";
import type { Gateway, GatewayStatus } from "../ports/gateway.ts";
import type { Platform } from "../ports/platform.ts";
import type { Processes } from "../ports/processes.ts";
import type { Archive, Store } from "../ports/store.ts";
import type { World } from "../ports/world.ts";
import { openDesk } from "./asked/desk.ts";
import { restarts } from "./asked/restart.ts";
import { type Shown, shownOf } from "./asked/state.ts";
import { type Events, events } from "./events.ts";
import { intake } from "./intake.ts";
import { lanes } from "./lanes/lanes.ts";
import { type LedgerNews, ledger } from "./ledger.ts";
import { links } from "./links.ts";
import type { Parts, Settings } from "./parts.ts";
import { pump } from "./outbox/pump.ts";
import { veilChanges, veilPlatform } from "./outbox/veil.ts";
import { plans } from "./plans.ts";
import type { Counters } from "./recovery/counters.ts";
import { starter } from "./start/start.ts";
import { census } from "./stop/drain.ts";
import { supervisor } from "./stop/supervisor.ts";
import { timers } from "./timers.ts";
import { runnerLater } from "./turns/later.ts";

export type GatewayOptions = {
  readonly store: Store & Archive;
  readonly platforms: readonly Platform[];
  readonly agent: Agent;
  readonly world: World;
  readonly settings: Settings;
  readonly boot: Boot;
  /** Counts of interruptions that an earlier gateway left behind. */
  readonly counters?: Counters | null;
  /** The subprocesses of tools; none where there are no such tools. */
  readonly processes?: Processes;
  /** Makes sure that somebody goes on after a restart; rejects with why nobody can, and then there is none. */
  readonly prepareRestart?: () => Promise<void>;
  /** Resolves when whoever waits for ready has heard of it; only then what needs a network is loaded. */
  readonly said?: Promise<void>;
  /** Takes known secrets out of a text; without it nothing is hidden. */
  readonly hide?: Hide;
  /** Told of the first request to stop, before anything is done about it; its answer is kept with the stop. */
  readonly witness?: (intent: StopIntent) => StopIntent["context"];
};

function partsOf(options: GatewayOptions, happened: Events, closing: AbortSignal, news: LedgerNews): Parts {
  const { store, world, settings, boot, agent, platforms, hide = (text) => text } = options;
  const clean: Pick<Store, "commit" | "beat"> = {
    commit: (changes, by) => store.commit(veilChanges(changes, hide), by),
    beat: (by, at) => store.beat(by, at),
  };
  return {
    boot: boot.id,
    store,
    archive: store,
    ledger: ledger(clean, world, boot.id, news),
    world,
    agent,
    platforms: platforms.map((platform) => veilPlatform(platform, hide)),
    settings,
    events: happened,
    hide,
    closing,
    broken: news.onBroken,
  };
}

export function gateway(options: GatewayOptions): Gateway {
  const { world, boot } = options;
  const closing = new AbortController();
  const happened = events(world);
  const people = census();
  let told: string | null = null;
  let starting: Promise<void> | null = null;

  const parts = partsOf(options, happened, closing.signal, {
    onTrouble: tell,
    onBroken: broken,
    onFenced: () => stop({ class: "take-over", by: "fault", reason: "another gateway has taken over this store" }),
  });
  const outbox = pump(parts);
  const clock = timers(parts, (timer) => door.fire(timer));
  const rows = lanes(parts, people.counted(runnerLater(parts, outbox, clock)));
  const prepare = options.prepareRestart ?? (() => Promise.resolve());
  const again = restarts(parts, { prepare, stopping, stop, poke: outbox.poke });
  const door = intake(parts, rows, plans(parts, rows, outbox, again.askedBy));
  const wires = links(parts, boot.config, outbox.stands, tell);
  const hands = { lanes: rows, pump: outbox, links: wires, people, processes: options.processes ?? null };
  const started = () => starting;
  const life = supervisor(parts, { ...hands, asked: again.messages, started, letGo: () => closing.abort() }, tell);
  const said = options.said ?? Promise.resolve();
  const start = { boot, life, ...hands, counters: options.counters ?? null };
  const beginning = starter(parts, { ...start, door, clock: clock.run, onReady: tell, said });
  const desk = openDesk(async () => {
    const { operator } = await import("./asked/operator.ts");
    return operator(parts, { lanes: rows, door, pump: outbox, refuseUnlessOpen });
  });

  function stopping(): StopIntent | null {
    const now = life.life();
    return "intent" in now ? now.intent : null;
  }

  function stop(intent: StopIntent): void {
    life.stop(stopping() === null ? { ...intent, ...witnessed(intent) } : intent);
  }

  /** Whoever looks on must not keep us from stopping. */
  function witnessed(intent: StopIntent): Pick<StopIntent, "context"> {
    try {
      const context = options.witness?.(intent);
      return context === undefined ? {} : { context };
    } catch (error) {
      world.log("warn", "nobody knows what the machine was doing when the stop was asked", { why: sentenceOf(error) });
      return {};
    }
  }

  /** Work broken off because everything is closing is no news; anything else ends this life, and the next takes it up. */
  function broken(error: unknown): void {
    if (closing.signal.aborted) return;
    const what = error instanceof Fault ? "the store cannot be used" : "a mistake of ours was met";
    const stack = error instanceof Error && !(error instanceof Fault) ? { stack: error.stack } : {};
    world.log("error", `${what}; the gateway stops and goes on at its next start`, {
      why: sentenceOf(error),
      ...stack,
    });
    stop({ class: "fault", by: "fault", reason: sentenceOf(error) });
  }

  function shown(): Shown {
    const seen = { isReady: beginning.isReady(), trouble: parts.ledger.trouble(), platforms: wires.status() };
    return shownOf(life.life(), { ...seen, now: world.now() });
  }

  function tell(): void {
    const { state, reason } = shown();
    if (`${state} ${reason}` === told) return;
    told = `${state} ${reason}`;
    happened.emit({ type: "state", state, reason });
  }

  /** Recovery first: what it reads must not move under it. */
  function refuseUnlessOpen(): void {
    const { phase } = life.life();
    if (phase === "booting") throw new Fault("busy", "The gateway is starting. Try again in a moment.");
    if (phase === "safe")
      throw new Fault(
        "busy",
        "The gateway is in safe mode. Look at `everturn why`, then run `everturn gateway resume`.",
      );
  }

  function status(): GatewayStatus {
    return {
      ...shown(),
      safeMode: life.life().phase === "safe",
      startedAt: boot.startedAt,
      boot: boot.id,
      running: rows.running().map(({ turn, steps, trouble }) => ({
        turn: turn.id,
        session: turn.session,
        startedAt: turn.now.state === "running" ? turn.now.startedAt : turn.acceptedAt,
        steps,
        trouble,
      })),
      platforms: wires.status(),
      recovered: beginning.recovered(),
      sandbox: parts.agent.sandbox ?? null,
    };
  }

  /** A stop asked during the start wins over whatever the start still met, and does not wait for it for ever. */
  function run(): ReturnType<Gateway["run"]> {
    return new Promise((resolve, reject) => {
      void life.ended.then(resolve);
      starting = beginning
        .start()
        .catch((error: unknown) => {
          if (stopping() === null) reject(error);
          else world.log("warn", "the start was broken off by a stop", { why: sentenceOf(error) });
        })
        .finally(() => {
          starting = null;
        });
    });
  }

  return {
    ...desk,
    run,
    ready: beginning.ready,
    stop,
    restart: again.ask,
    leaveSafeMode: beginning.leaveSafeMode,
    status,
    watch: happened.watch,
  };
}
