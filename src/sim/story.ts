// A story as data, and how it is lived: lives of the process follow one another over one store and one outside world,
// until everything said has been answered. Time is virtual; the seed is the story.

import { Fault } from "../core/fault.ts";
import { isHeldNotice } from "../core/held.ts";
import { limits } from "../core/limits.ts";
import { type StopClass, newBoot } from "../core/recovery.ts";
import { type RecoverySettings, defaultPlatformSettings } from "../engine/parts.ts";
import type { BootId } from "../core/ids.ts";
import type { BusyPolicy } from "../core/lane.ts";
import { type Inbound, formatAddress } from "../core/message.ts";
import { gateway } from "../engine/gateway.ts";
// Loaded late in life; here they are at hand, because loading takes real time, and a seed must tell one story.
import "../engine/turns/placed.ts";
import "../engine/turns/typing.ts";
import type { Gateway } from "../ports/gateway.ts";
import { type Act, type Effects, script, scripted } from "./agent.ts";
import { type Life, type LogLine, life } from "./life.ts";
import { type Habits, type Server, server } from "./platform.ts";
import { type Held, held } from "./outbound/held.ts";
import { type Cut, type FullStore, type Power, powered } from "./power.ts";
import { type Dice, type Time, dice, epoch, time } from "./time.ts";
import { users } from "./users.ts";

export type Said = {
  /** Milliseconds after the beginning. */
  readonly at: number;
  readonly server: string;
  readonly chat: string;
  readonly name: string;
  readonly acts: readonly Act[];
  /** Said instead of the script: a command. */
  readonly text?: string;
};

export type StopAsk = {
  readonly at: number;
  readonly class: StopClass;
  /** Asked again this much later, in another way. */
  readonly againMs?: number;
};

export type Story = {
  readonly seed: number;
  readonly servers: Readonly<Record<string, Habits>>;
  readonly said: readonly Said[];
  readonly cuts: readonly Cut[];
  /** When and how somebody asks the gateway to stop; it is started again afterwards. */
  readonly stops: readonly StopAsk[];
  readonly diskFull: readonly { readonly from: number; readonly to: number }[];
  readonly busy: BusyPolicy;
  readonly lanesMax: number;
  readonly drainMs: number;
  readonly recovery: RecoverySettings;
};

export const plainStory: Omit<Story, "seed" | "servers" | "said"> = {
  cuts: [],
  stops: [],
  diskFull: [],
  busy: "queue",
  lanesMax: 8,
  drainMs: 0,
  recovery: { afterCrash: "resume", autoResume: true },
};

/** Everything that is known after a story. */
export type Told = {
  readonly story: Story;
  readonly store: FullStore;
  readonly servers: readonly Server[];
  /** The turn that a message of a platform was noted with. */
  readonly notedFor: (remoteId: string) => string | null;
  readonly held: Held;
  readonly effects: Effects;
  readonly breaches: string[];
  readonly commits: number;
  readonly lives: number;
  /** Deaths and freezes that happened. */
  readonly ends: number;
  /** How many of them a turn brought about itself. */
  readonly poisonings: number;
  /** How long each asked stop took, in virtual milliseconds. */
  readonly stopMs: readonly number[];
  readonly endedAt: number;
  readonly log: readonly LogLine[];
};

const limitMs = 2 * 3_600_000;

export async function tell(story: Story, open: () => Promise<FullStore>): Promise<Told> {
  const store = await open();
  const stage = setStage(story, store);
  stage.begin();
  const result = await stage.clock.run(epoch + limitMs, stage.isQuiet);
  if (result !== "done")
    stage.breaches.push(`it never came to rest (${result}): ${JSON.stringify(await store.counts())}`);
  return stage.told();
}

function setStage(story: Story, store: FullStore) {
  const clock: Time = time();
  const chances: Dice = dice(story.seed);
  const breaches: string[] = [];
  const log: LogLine[] = [];
  const ids = { next: 1 };
  const stopMs: number[] = [];
  const onBreach = (what: string) => void breaches.push(`${clock.now() - epoch} ms: ${what}`);
  let lives = 0;
  let ends = 0;
  let poisonings = 0;
  let saidCount = 0;
  let now: { readonly life: Life; readonly gateway: Gateway } | null = null;
  let checks = 0;
  let nudgedAt = 0;
  let stuckSince = 0;
  let restsSince = epoch;
  let quiet = false;

  const power: Power = {
    commits: 0,
    owner: null,
    full: false,
    cuts: [...story.cuts],
    noted: new Map(),
    held: held(),
    onCut,
    onBreach,
  };
  const effects: Effects = {
    happened: new Map(),
    versions: new Map(),
    tripped: new Set(),
    isCurrent: (one) => now?.life === one,
    onBreach,
    onDie(one) {
      one.kill();
      poisonings++;
      onCut({ commit: power.commits, when: "after", end: "dead" });
    },
  };
  const say = (name: string, inbound: Inbound) => servers.find((one) => one.name === name)?.say(inbound);
  const notedFor = (remoteId: string) => power.noted.get(remoteId) ?? null;
  const watching = { notedFor, isCurrent: effects.isCurrent, onBreach };
  const people = users(clock, chances, effects, say);
  const servers: readonly Server[] = Object.entries(story.servers).map(([name, habits]) =>
    server(name, habits, clock, chances, { ...watching, onSeen: (seen, item) => people.see(name, seen, item) }),
  );

  function onCut(_cut: Cut): void {
    ends++;
    now = null;
    clock.at(clock.now() + chances.between(20, 300), live);
  }

  function live(): void {
    lives++;
    for (const [place, version] of effects.versions) effects.versions.set(place, version + 1);
    const one = life(lives, clock, chances, ids, log);
    const seen = powered(store, one, power, chances);
    const self = gateway({
      store: seen,
      platforms: servers.map((each) => each.connect(one, store)),
      agent: scripted(one, store, effects, chances),
      world: one.world,
      settings: {
        drainMs: story.drainMs,
        lanesMax: story.lanesMax,
        recovery: story.recovery,
        platforms: Object.fromEntries(
          servers.map(({ name }) => [name, { ...defaultPlatformSettings, busy: story.busy, admins: ["*"] }]),
        ),
      },
      boot: newBoot({
        id: `boot-${lives}` as BootId,
        pid: lives,
        host: "sim",
        machine: "m",
        version: "sim",
        config: "",
        startedAt: clock.now(),
      }),
    });
    now = { life: one, gateway: self };
    self.run().then(
      () => {
        if (now?.life !== one) return; // a frozen one that found out
        now = null;
        one.kill();
        clock.at(clock.now() + chances.between(20, 300), live);
      },
      (error: unknown) => onBreach(`the gateway broke: ${String(error)} ${error instanceof Error ? error.stack : ""}`),
    );
  }

  function askToStop(ask: StopAsk): void {
    if (now === null) return;
    const from = clock.now();
    const { life: one, gateway: self } = now;
    self.stop({ class: ask.class, by: "signal", reason: "the story says so" });
    if (ask.againMs !== undefined)
      clock.at(from + ask.againMs, () => {
        if (now?.life === one) self.stop({ class: "planned", by: "cli", reason: "the story insists" });
      });
    const watch = () => {
      if (now?.life === one) clock.at(clock.now() + 1, watch);
      else stopMs.push(clock.now() - from);
    };
    watch();
  }

  function look(): void {
    if (clock.now() <= epoch + Math.max(0, ...story.stops.map(({ at }) => at))) return;
    const busy =
      servers.some((one) => one.unacknowledged() > 0) || saidCount < story.said.length || now === null || power.full;
    if (busy) return;
    void Promise.all([store.counts(), store.restarting()]).then(([{ turns, items, timers }, restarting]) => {
      const open =
        restarting.length + turns.queued + turns.running + turns.waiting + items.pending + items.sending + timers;
      const isOver = open + turns.parked === 0 && now?.gateway.status().state === "running";
      if (!isOver) restsSince = clock.now();
      // What is left of a preview is taken away behind the turn, after whatever is on its way to it.
      const isLeft = servers.some(({ growing }) => growing?.isLeft() === true);
      const isPast = isOver && (!isLeft || clock.now() > restsSince + 2 * limits.previewMs);
      if (items["in-doubt"] > 0 && isPast) void askAgain();
      else quiet = isPast;
      if (open === 0 && turns.parked > 0 && !story.recovery.autoResume) void nudge();
      // Every question that waits has its timer; reminders come soon, approvals do not.
      if (turns.waiting === 0 || open > turns.waiting + timers) stuckSince = clock.now();
      else if (clock.now() > stuckSince + 300_000) void answerAll();
    });
  }

  /** A question that its user never got, or whose answer became something else, is answered by the operator. */
  async function answerAll(): Promise<void> {
    stuckSince = clock.now();
    const at = now;
    for (const { question } of await store.asked(1_000)) {
      await at?.gateway.answer(question, "deny").catch((error: unknown) => {
        if (!(error instanceof Fault)) throw error;
      });
    }
  }

  /** In the end, users get everything that was held. A notice that is held itself is not sent again. */
  async function askAgain(): Promise<void> {
    const left = (await store.items({ state: "in-doubt", limit: 1_000 })).filter((item) => !isHeldNotice(item));
    if (left.length === 0) quiet = true;
    if (clock.now() < nudgedAt + 5_000) return;
    nudgedAt = clock.now();
    for (const chat of new Map(left.map(({ to }) => [formatAddress(to), to])).values()) {
      const body = { kind: "text", text: "/resend", files: [] } as const;
      say(chat.platform, people.message(chat.platform, chat.chat, `again-${chat.chat}-${nudgedAt}`, body));
    }
  }

  /** A user whose turn waits for the next message sends one after a while. */
  async function nudge(): Promise<void> {
    if (clock.now() < nudgedAt + 1_000) return;
    nudgedAt = clock.now();
    for (const { input } of await store.turns({ state: "parked", limit: 1_000 })) {
      const { platform, chat } = input.from;
      const body = { kind: "text", text: script("nudge", []), files: [] } as const;
      say(platform, people.message(platform, chat, `nudge-${chat}-${nudgedAt}`, body));
    }
  }

  return {
    clock,
    breaches,
    isQuiet(): boolean {
      if (breaches.length > 0) return true;
      if (++checks % 8 === 0) look();
      return quiet;
    },
    begin(): void {
      live();
      for (const { at, server: name, chat, name: message, acts, text = script(message, acts) } of story.said) {
        clock.at(epoch + at, () => {
          saidCount++;
          const body = { kind: "text", text, files: [] } as const;
          say(name, people.message(name, chat, message, body));
        });
      }
      for (const ask of story.stops) clock.at(epoch + ask.at, () => askToStop(ask));
      for (const { from, to } of story.diskFull) {
        clock.at(epoch + from, () => void (power.full = true));
        clock.at(epoch + to, () => void (power.full = false));
      }
    },
    told: (): Told => ({
      story,
      store,
      servers,
      notedFor,
      held: power.held,
      effects,
      breaches,
      commits: power.commits,
      lives,
      ends,
      poisonings,
      stopMs,
      endedAt: clock.now() - epoch,
      log,
    }),
  };
}
