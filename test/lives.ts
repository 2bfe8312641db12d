// Lives of a real gateway over one real store file, one after another, in this process: with a clock that can be set, a
// chat platform that keeps what nobody has acknowledged, and deaths after which nothing of a life ever moves again.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { BootId, Instant } from "../src/core/ids.ts";
import type { Address } from "../src/core/message.ts";
import type { OutboxItem } from "../src/core/outbox.ts";
import { type Boot, newBoot } from "../src/core/recovery.ts";
import { gateway } from "../src/engine/gateway.ts";
import { type PlatformSettings, type Settings, defaultPlatformSettings } from "../src/engine/parts.ts";
import type { Agent } from "../src/ports/agent.ts";
import type { Gateway } from "../src/ports/gateway.ts";
import type { Platform } from "../src/ports/platform.ts";
import type { World } from "../src/ports/world.ts";
import { type SqliteStore, openSqliteStore } from "../src/stores/sqlite/index.ts";
import { realWorld } from "../src/world.ts";

export type Letter = { readonly key: string; readonly to: Address; readonly text: string };

/** A chat platform outside of all lives. */
export type Office = {
  readonly letters: Letter[];
  /** What people have seen, each item once, notices of the gateway itself among it. */
  readonly seen: OutboxItem[];
  /** What they have seen of turns. */
  answers(): readonly OutboxItem[];
  /** The cursor each life was given. */
  readonly cursors: (string | null)[];
  write(chat: string, text: string, thread?: string): Letter;
  /** The answers in a chat. */
  textsIn(chat: string): readonly string[];
  until(holds: () => boolean): Promise<void>;
};

export type LifeOptions = {
  readonly agent: Agent;
  readonly settings?: Partial<Settings>;
  readonly platform?: Partial<PlatformSettings>;
  readonly machine?: string;
};

export type Life = {
  readonly gate: Gateway;
  readonly boot: Boot;
  readonly running: ReturnType<Gateway["run"]>;
  /** As kill -9: nothing of it moves again, and its store is closed. */
  die(): Promise<void>;
  /** A planned stop, to its end. */
  stop(): Promise<void>;
};

export type Lives = {
  readonly file: string;
  readonly office: Office;
  /** Milliseconds that everybody's clock is ahead of the machine's. */
  ahead: number;
  begin(options: LifeOptions): Promise<Life>;
  /** The store file between two lives, or beside one. */
  look<T>(read: (store: SqliteStore) => Promise<T>): Promise<T>;
};

export function openLives(t: TestContext): Lives {
  const folder = mkdtempSync(join(tmpdir(), "everturn-lives-"));
  const ended: (() => Promise<void>)[] = [];
  t.after(async () => {
    for (const end of ended.splice(0)) await end();
    rmSync(folder, { recursive: true, force: true });
  });
  const { office, platform } = openOffice();
  const lives: Lives = {
    file: join(folder, "state.db"),
    office,
    ahead: 0,
    async begin({ agent, settings = {}, platform: own = {}, machine = "m" }) {
      const store = await openSqliteStore({ file: lives.file, writer: "inline" });
      const world = mortalWorld(() => lives.ahead);
      const alive = mortal(store, world);
      const facts = { pid: process.pid, host: "here", machine, version: "0", config: "" };
      const boot = newBoot({ id: world.id() as BootId, ...facts, startedAt: world.now() });
      const gate = gateway({
        store: alive.store,
        platforms: [platform],
        agent,
        world,
        settings: {
          drainMs: 0,
          lanesMax: 64,
          recovery: { afterCrash: "resume", autoResume: true },
          platforms: { office: { ...defaultPlatformSettings, ...own } },
          ...settings,
        },
        boot,
      });
      const running = gate.run();
      running.catch(() => undefined);
      let isOver = false;
      const over = async (work: () => Promise<unknown>) => {
        if (isOver) return;
        isOver = true;
        await work();
        world.die();
        await store.close();
      };
      const die = () => over(async () => alive.die());
      const stop = () =>
        over(() => {
          gate.stop({ class: "planned", by: "cli", reason: "the test asked for it" });
          return running;
        });
      ended.push(die);
      await gate.ready;
      return { gate, boot, running, die, stop };
    },
    async look(read) {
      const store = await openSqliteStore({ file: lives.file, writer: "inline" });
      try {
        return await read(store);
      } finally {
        await store.close();
      }
    },
  };
  return lives;
}

/** Of a dead life every call stays without an answer for ever. */
function mortal(store: SqliteStore, world: Mortal): { readonly store: SqliteStore; die(): void } {
  let isDead = false;
  const guarded = Object.entries(store).map(([name, call]) => {
    const one = (...parameters: unknown[]): unknown =>
      isDead ? new Promise(() => undefined) : Reflect.apply(call as (...all: unknown[]) => unknown, store, parameters);
    return [name, one] as const;
  });
  const die = () => {
    isDead = true;
    world.die();
  };
  return { store: Object.fromEntries(guarded) as unknown as SqliteStore, die };
}

type Mortal = World & { die(): void };

function mortalWorld(ahead: () => number): Mortal {
  const real = realWorld(() => undefined);
  const timers = new Set<NodeJS.Timeout>();
  let isDead = false;
  return {
    ...real,
    now: () => (real.now() + ahead()) as Instant,
    sleep: (until, signal) =>
      new Promise((resolve) => {
        if (isDead) return;
        const end = () => {
          clearTimeout(timer);
          timers.delete(timer);
          signal.removeEventListener("abort", end);
          if (!isDead) resolve();
        };
        const timer = setTimeout(end, signal.aborted ? 0 : Math.max(0, until - real.now() - ahead()));
        timers.add(timer);
        signal.addEventListener("abort", end);
      }),
    die() {
      isDead = true;
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
  };
}

function openOffice(): { readonly office: Office; readonly platform: Platform } {
  const account = { platform: "office", account: "us" };
  const shown = new Set<string>();
  const hooks = new Set<() => void>();
  const nudge = () => {
    for (const hook of hooks) hook();
  };
  const office: Office = {
    letters: [],
    seen: [],
    cursors: [],
    write(chat, text, thread) {
      const to = thread === undefined ? { ...account, chat } : { ...account, chat, thread };
      const letter = { key: `k${office.letters.length}`, to, text };
      office.letters.push(letter);
      nudge();
      return letter;
    },
    answers: () => office.seen.filter(({ turn }) => turn !== null),
    textsIn: (chat) => office.answers().flatMap(({ to, text }) => (to.chat === chat ? [text] : [])),
    until: (holds) =>
      new Promise((resolve) => {
        const look = () => {
          if (!holds()) return;
          hooks.delete(look);
          resolve();
        };
        hooks.add(look);
        look();
      }),
  };
  const platform: Platform = {
    name: account.platform,
    account: account.account,
    can: { keyedSend: true, draftEveryMs: null },
    parts: (text) => [text],
    async listen({ accept, up }, from, signal) {
      office.cursors.push(from);
      up();
      for (let next = Number(from ?? 0); !signal.aborted; next++) {
        const hasMore = () => office.letters.length > next || signal.aborted;
        signal.addEventListener("abort", nudge, { once: true });
        await office.until(hasMore);
        const letter = office.letters[next];
        if (letter === undefined) return;
        const body = { kind: "text", text: letter.text, files: [] } as const;
        const { key, to } = letter;
        await accept({ key, from: to, sender: "ann", body, sentAt: Date.now() as Instant }, String(next + 1));
      }
    },
    async send(item) {
      if (!shown.has(item.id)) office.seen.push(item);
      shown.add(item.id);
      nudge();
      return { type: "accepted", remoteId: item.id };
    },
    draft: () => undefined,
  };
  return { office, platform };
}

/** Says its input back, in capitals; texts that begin with `hang` get no answer until they are told to go on. */
export function parrot(): { readonly agent: Agent; readonly hanging: Set<string>; goOn(): void } {
  const hanging = new Set<string>();
  const going = Promise.withResolvers<void>();
  let mayGo = false;
  const agent: Agent = {
    tools: [],
    async step({ input }, signal) {
      const text = input.body.kind === "text" ? input.body.text : "";
      if (text.startsWith("hang") && !mayGo) {
        hanging.add(text);
        await Promise.race([
          going.promise,
          new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("interrupted")))),
        ]);
      }
      return { type: "said", text: text.toUpperCase(), calls: [], final: true };
    },
    close: async () => undefined,
  };
  const goOn = () => {
    mayGo = true;
    going.resolve();
  };
  return { agent, hanging, goOn };
}
