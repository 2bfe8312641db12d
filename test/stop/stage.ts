// A real gateway over a real store file, in virtual time, between a scripted agent, scripted platforms and a list of tool
// processes. Everything that is done to them is written down in one list, in order.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { BootId, Instant } from "../../src/core/ids.ts";
import type { StopIntent } from "../../src/core/lifecycle.ts";
import { type Address, type Inbound, textOf } from "../../src/core/message.ts";
import type { OutboxItem } from "../../src/core/outbox.ts";
import { newBoot } from "../../src/core/recovery.ts";
import { type GatewayOptions, gateway } from "../../src/engine/gateway.ts";
import { type PlatformSettings, type Settings, defaultPlatformSettings } from "../../src/engine/parts.ts";
import type { Agent, AgentJob, Step } from "../../src/ports/agent.ts";
import type { Ending, Gateway, GatewayEvent } from "../../src/ports/gateway.ts";
import type { Accept, Platform, Receipt } from "../../src/ports/platform.ts";
import { type Life, type LogLine, life } from "../../src/sim/life.ts";
import type { FullStore } from "../../src/sim/power.ts";
import { type Time, dice, epoch, time } from "../../src/sim/time.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";

export type Habits = {
  readonly sends?: "well" | "never answers";
  readonly leaves?: "at once" | "never";
  /** What it was given to show of growing answers; without it, it shows none. */
  readonly drafts?: (string | null)[];
  /** What of it is otherwise. */
  readonly is?: Partial<Platform>;
};

/** One platform of the outside world; it outlives the gateways that connect to it. */
export type Server = {
  readonly name: string;
  readonly sent: OutboxItem[];
  /** The gateway that listens at present. */
  accept: Accept | null;
  disconnects: number;
};

export type StageOptions = Partial<Omit<GatewayOptions, "settings" | "platforms">> & {
  readonly drainMs?: number;
  readonly lanesMax?: number;
  readonly settings?: Readonly<Record<string, Partial<PlatformSettings>>>;
  readonly platforms?: Readonly<Record<string, Habits>>;
  readonly recovery?: Settings["recovery"];
  readonly budget?: Settings["budget"];
  readonly config?: string;
};

export type Living = {
  readonly gateway: Gateway;
  readonly life: Life;
  readonly events: GatewayEvent[];
  /** Set when it has closed. */
  ending: Ending | null;
  failed: unknown;
};

export type Stage = {
  readonly clock: Time;
  /** The file of the store, for tests that look at it or damage it. */
  readonly file: string;
  readonly store: FullStore;
  readonly servers: ReadonlyMap<string, Server>;
  /** Everything done to agent, platforms and processes, in order. */
  readonly calls: string[];
  readonly log: LogLine[];
  /** Milliseconds since the beginning. */
  now(): number;
  live(options?: StageOptions): Living;
  /** A gateway that is ready. */
  start(options?: StageOptions): Promise<Living>;
  /** Lets time pass until this holds. */
  until(holds: () => boolean, what?: string): Promise<void>;
  pass(ms: number): Promise<void>;
  /** A user writes; whether it was acknowledged is known later. */
  write(text: string, more?: Partial<Inbound>): Promise<Receipt>;
  /** A user writes; resolves when it was acknowledged. */
  say(text: string, more?: Partial<Inbound>): Promise<Receipt>;
  stop(one: Living, intent?: Partial<StopIntent>): Promise<Ending>;
};

const place: Address = { platform: "chat", account: "bot", chat: "a" };
export const at = (chat: string, more: Partial<Address> = {}): Address => ({ ...place, chat, ...more });

/** `prepare`: makes the store file before it is opened. */
export async function stage(t: TestContext, prepare: (file: string) => void = () => undefined): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), "everturn-stop-"));
  const file = join(folder, "store");
  prepare(file);
  const store = await openSqliteStore({ file, writer: "inline" });
  t.after(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });
  const clock = time();
  const chances = dice(1);
  const ids = { next: 1 };
  const log: LogLine[] = [];
  const calls: string[] = [];
  const servers = new Map<string, Server>();
  let lives = 0;
  let said = 0;

  function serverOf(name: string): Server {
    const known = servers.get(name);
    if (known !== undefined) return known;
    const made: Server = { name, sent: [], accept: null, disconnects: 0 };
    servers.set(name, made);
    return made;
  }

  function live(options: StageOptions = {}): Living {
    const one = life(++lives, clock, chances, ids, log);
    const { platforms = { chat: {} }, settings = {}, drainMs = 0, lanesMax = 64, ...more } = options;
    const { config = "c1", recovery, budget = null, ...rest } = more;
    const given = Object.keys(platforms).map((name) => [name, { ...defaultPlatformSettings, ...settings[name] }]);
    const self = gateway({
      store,
      agent: scripted(one, calls),
      platforms: Object.entries(platforms).map(([name, habits]) => connect(serverOf(name), habits, calls)),
      world: one.world,
      boot: newBoot({
        id: `boot-${lives}` as BootId,
        pid: lives,
        host: "stage",
        machine: "m",
        version: "test",
        config,
        startedAt: clock.now(),
      }),
      settings: {
        drainMs,
        lanesMax,
        recovery: recovery ?? { afterCrash: "resume", autoResume: true },
        budget,
        platforms: Object.fromEntries(given),
      },
      ...rest,
    });
    const living: Living = { gateway: self, life: one, events: [], ending: null, failed: null };
    self.watch((event) => living.events.push(event));
    self.run().then(
      (ending) => void (living.ending = ending),
      (error: unknown) => void (living.failed = error),
    );
    return living;
  }

  async function until(holds: () => boolean, what = "what is waited for"): Promise<void> {
    const result = await clock.run(clock.now() + 3_600_000, holds);
    if (result !== "done") throw new Error(`${what} never came (${result}) after ${clock.now() - epoch} ms`);
  }

  async function write(text: string, more: Partial<Inbound> = {}): Promise<Receipt> {
    const from = more.from ?? place;
    const { accept } = serverOf(from.platform);
    if (accept === null) throw new Error(`nobody listens at ${from.platform}`);
    const body = { kind: "text", text, files: [] } as const;
    return accept({ key: `m${++said}`, from, sender: "ann", body, sentAt: clock.now(), ...more }, null);
  }

  async function start(options?: StageOptions): Promise<Living> {
    const living = live(options);
    let isReady = false;
    void living.gateway.ready.then(() => (isReady = true));
    await until(() => isReady || living.failed !== null, "ready");
    if (living.failed !== null) throw living.failed;
    return living;
  }

  return {
    clock,
    file,
    store,
    servers,
    calls,
    log,
    now: () => clock.now() - epoch,
    live,
    start,
    until,
    async pass(ms) {
      let over = false;
      clock.at(clock.now() + ms, () => void (over = true));
      await until(() => over);
    },
    write,
    async say(text, more = {}) {
      let isOver = false;
      const over = () => void (isOver = true);
      const answer = write(text, more);
      answer.then(over, over);
      await until(() => isOver, `the acknowledgement of ${text}`);
      return answer;
    },
    async stop(living, intent = {}) {
      living.gateway.stop({ class: "planned", by: "cli", reason: "the test says so", ...intent });
      await until(() => living.ending !== null, "the end of the stop");
      living.life.kill();
      return living.ending as Ending;
    },
  };
}

/** The same store, but a commit is acknowledged only after this long. */
export function slowly(on: Stage, ms: number): FullStore {
  return {
    ...on.store,
    async commit(changes, by) {
      const result = await on.store.commit(changes, by);
      await new Promise<void>((go) => on.clock.at(on.clock.now() + ms, go));
      return result;
    },
  };
}

/**
 * `work 50` answers after 50 ms. `stuck` waits for its abort, `deaf` does not even hear that. `tool` calls a tool that
 * waits for its abort, `ask` asks. Anything else is answered at once.
 */
function scripted(one: Life, calls: string[]): Agent {
  const told = (job: AgentJob): string => textOf(job.input.body);
  return {
    tools: [
      {
        name: "slow",
        description: "waits for its abort",
        effect: "keyed",
        input: {},
        run: (_input, { signal }) => new Promise((_, reject) => whenAborted(signal, () => reject(signal.reason))),
      },
    ],
    async step(job, signal): Promise<Step> {
      const text = told(job);
      calls.push(`step ${text}`);
      const resumed = job.journal.some((entry) => entry.type === "resumed");
      const work = /^work (\d+)/.exec(text);
      if (work !== null) {
        whenAborted(signal, () => note(signal, text));
        await one.pass(Number(work[1]));
      } else if (!resumed && /^(?:stuck|deaf)/.test(text)) {
        whenAborted(signal, () => note(signal, text));
        await new Promise<void>((go) => {
          if (text.startsWith("stuck")) whenAborted(signal, go);
        });
        throw signal.reason;
      } else if (text.startsWith("ask") && job.journal.every((entry) => entry.type !== "answered")) {
        return { type: "asked", text: "which?", choices: ["a", "b"], until: (one.world.now() + 3_600_000) as Instant };
      } else if (text.startsWith("tool") && job.journal.every((entry) => entry.type !== "said")) {
        return { type: "said", text: "", calls: [{ call: "1", tool: "slow", input: {} }], final: false };
      }
      return { type: "said", text: `answer to ${text}`, calls: [], final: true };
    },
    async close(session) {
      calls.push(`close ${session === "all" ? "all" : "session"}`);
    },
  };

  function note(signal: AbortSignal, text: string): void {
    if (signal.reason instanceof Error) calls.push(`interrupt ${text}: ${signal.reason.message}`);
  }
}

export function whenAborted(signal: AbortSignal, call: () => void): void {
  if (signal.aborted) call();
  else signal.addEventListener("abort", call, { once: true });
}

function connect(server: Server, habits: Habits, calls: string[]): Platform {
  return {
    name: server.name,
    account: "bot",
    can: { keyedSend: true, draftEveryMs: habits.drafts === undefined ? null : 50 },
    parts: (text) => [text],
    async listen({ accept, up }, _from, signal) {
      server.accept = accept;
      up();
      await new Promise<void>((go) => whenAborted(signal, go));
      server.disconnects++;
      calls.push(`disconnect ${server.name}`);
      if (habits.leaves === "never") await new Promise<void>(() => undefined);
    },
    async send(item) {
      if (habits.sends === "never answers") return new Promise(() => undefined);
      server.sent.push(item);
      calls.push(`send ${item.text.split(".")[0]}`);
      return { type: "accepted", remoteId: `r-${item.id}` };
    },
    draft: (_to, text) => void habits.drafts?.push(text),
    ...habits.is,
  };
}

/** Tool processes that are only counted. */
export function listedProcesses(calls: string[], ways: { readonly hangs?: boolean } = {}) {
  return {
    killAll: async (which: "all" | "all-but-jobs"): Promise<number> => {
      calls.push(`kill ${which}`);
      if (ways.hangs === true) await new Promise<void>(() => undefined);
      return 0;
    },
  };
}

export const noon = epoch as Instant;
