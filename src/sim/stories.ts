// Stories that are told at every commit and every moment, and stories made up from a seed.

import { type Act, acts, deadly } from "./agent.ts";
import { wellBehaved } from "./platform.ts";
import type { Cut } from "./power.ts";
import { type Said, type StopAsk, type Story, plainStory } from "./story.ts";
import { type Dice, dice } from "./time.ts";

function say(at: number, chat: string, name: string, ...list: Act[]): Said {
  return { at, server: "keyed", chat, name, acts: list };
}

function grows(at: number, chat: string, name: string, ...list: Act[]): Said {
  return { ...say(at, chat, name, ...list), server: "growing" };
}

const keyed = { keyed: wellBehaved };
/** Slow enough to be felt within a story. */
const pace = { perSecond: 5, chatEveryMs: 100 };

/** Small enough to be cut at every commit, and again during recovery. */
export const stories: Readonly<Record<string, Story>> = {
  "a plain message": { ...plainStory, seed: 1, servers: keyed, said: [say(0, "a", "m1")] },
  "tools of every effect": {
    ...plainStory,
    seed: 2,
    servers: keyed,
    said: [say(0, "a", "m1", "pure", "keyed", "checkable", "once"), say(5, "b", "m2", "pures")],
  },
  "a queue in one chat": {
    ...plainStory,
    seed: 3,
    servers: keyed,
    said: [say(0, "a", "m1L", "say"), say(1, "a", "m2"), say(2, "a", "m3L"), say(3, "b", "m4", "once")],
  },
  "a question, a reminder": {
    ...plainStory,
    seed: 4,
    servers: keyed,
    said: [say(0, "a", "m1", "ask", "once"), say(10, "b", "m2", "remind"), say(400, "a", "m3")],
  },
  "leave that is asked for": {
    ...plainStory,
    seed: 13,
    servers: keyed,
    said: [say(0, "a", "m1", "approve", "approve"), say(5, "b", "m2", "approve_changed"), say(10, "c", "m3", "deny")],
  },
  "starting over while something is at work": {
    ...plainStory,
    seed: 15,
    servers: keyed,
    said: [
      say(0, "a", "m1", "say", "approve"),
      { ...say(20, "a", "new"), text: "/new" },
      say(30, "a", "m2", "say", "approve_changed"),
      say(0, "b", "m3", "say", "checkable", "deny"),
      { ...say(60, "b", "new too"), text: "/new" },
      { ...say(70, "b", "stop"), text: "/stop" },
    ],
  },
  "starting over behind answers that are refused": {
    ...plainStory,
    seed: 19,
    servers: { keyed: { ...wellBehaved, refuses: 0.6 } },
    said: [
      say(0, "a", "m1L"),
      { ...say(100, "a", "new"), text: "/new" },
      say(200, "a", "m2"),
      { ...say(300, "a", "new again"), text: "/new" },
      say(400, "a", "m3"),
    ],
  },
  "wishes, summaries, questions of calls": {
    ...plainStory,
    seed: 14,
    servers: keyed,
    said: [say(0, "a", "m1", "wish", "compact", "wish"), say(5, "b", "m2", "inquire", "approve"), say(300, "b", "m3")],
  },
  "messages that join": {
    ...plainStory,
    seed: 5,
    servers: keyed,
    busy: "steer",
    said: [say(0, "a", "m1", "say", "once", "say"), say(20, "a", "m2"), say(60, "a", "m3")],
  },
  "messages that interrupt": {
    ...plainStory,
    seed: 6,
    servers: keyed,
    busy: "interrupt",
    said: [say(0, "a", "m1", "say", "say", "say"), say(60, "a", "m2", "once"), say(120, "a", "m3")],
  },
  "a platform that repeats and refuses": {
    ...plainStory,
    seed: 7,
    servers: { keyed: { ...wellBehaved, repeats: 1, refuses: 0.4, forgets: 0.2 } },
    said: [say(0, "a", "m1L"), say(5, "b", "m2", "keyed"), say(8, "a", "m3")],
  },
  "many at once, with commands": {
    ...plainStory,
    seed: 9,
    servers: { keyed: { ...wellBehaved, parallel: 6 } },
    said: [
      say(0, "a", "m1", "say"),
      say(0, "a", "m2"),
      { ...say(1, "a", "stop"), text: "/stop" },
      { ...say(40, "a", "new"), text: "/new" },
      { ...say(40, "a", "new again"), text: "/new" },
      say(41, "a", "m3", "once"),
      { ...say(90, "a", "status"), text: "/status" },
    ],
  },
  "interrupted turns that wait for their user": {
    ...plainStory,
    seed: 10,
    servers: keyed,
    recovery: { afterCrash: "resume", autoResume: false },
    said: [say(0, "a", "m1", "once", "say"), say(30, "a", "m2"), say(40, "b", "m3", "ask", "say")],
  },
  "sessions that start over after a crash": {
    ...plainStory,
    seed: 11,
    servers: keyed,
    recovery: { afterCrash: "suspend", autoResume: true },
    said: [say(0, "a", "m1", "say", "once"), say(20, "a", "m2"), say(30, "b", "m3", "ask"), say(200, "a", "m4")],
  },
  "a restart asked in a chat": {
    ...plainStory,
    seed: 12,
    servers: { keyed: { ...wellBehaved, repeats: 1 } },
    said: [
      say(0, "a", "m1", "say", "once"),
      { ...say(40, "a", "restart"), text: "/restart" },
      say(42, "b", "m2", "keyed"),
      { ...say(45, "b", "restart too"), text: "/restart" },
    ],
  },
  "answers that grow in a message": {
    ...plainStory,
    seed: 16,
    servers: { growing: { ...wellBehaved, keyedSend: false, drafts: true } },
    said: [grows(0, "a", "m1L", "say"), grows(40, "a", "m2", "ask"), grows(5, "b", "m3", "say", "once")],
  },
  "answers that grow in a message with a key": {
    ...plainStory,
    seed: 31,
    servers: { growing: { ...wellBehaved, drafts: true } },
    said: [grows(0, "a", "m1L", "once", "say"), grows(5, "b", "m2", "say", "once")],
  },
  "answers that grow and are broken off": {
    ...plainStory,
    seed: 17,
    busy: "interrupt",
    servers: { growing: { ...wellBehaved, keyedSend: false, drafts: true } },
    said: [
      grows(0, "a", "m1", "say", "say"),
      grows(90, "a", "m2"),
      grows(0, "b", "m3", "say"),
      { ...grows(70, "b", "stop"), text: "/stop" },
    ],
  },
  "a platform that counts and tires": {
    ...plainStory,
    seed: 18,
    servers: { growing: { ...wellBehaved, keyedSend: false, drafts: true, pace, tires: 0.1 } },
    said: [
      grows(0, "a", "m1L"),
      grows(2, "b", "m2"),
      grows(4, "c", "m3", "say"),
      grows(6, "d", "m4"),
      grows(9, "a", "m5"),
    ],
  },
  "a platform without keys": {
    ...plainStory,
    seed: 8,
    servers: { plain: { ...wellBehaved, keyedSend: false } },
    said: [
      { at: 0, server: "plain", chat: "a", name: "m1L", acts: [] },
      { at: 30, server: "plain", chat: "a", name: "m2", acts: ["say"] },
    ],
  },
};

/** Somebody asks for a stop, and perhaps again: at once, or after the patience of a second. */
function ask(roll: Dice): StopAsk {
  const kind = roll.pick(["planned", "restart", "take-over", "unexpected"] as const);
  const again = roll.pick([{}, {}, { againMs: roll.between(0, 900) }, { againMs: roll.between(1_000, 2_500) }]);
  return { at: roll.between(0, 2_500), class: kind, ...again };
}

/** A story nobody thought of. */
export function invent(seed: number): Story {
  const roll = dice(seed ^ 0x5eed);
  const often = (probability: number) => (roll.chance(0.5) ? probability : 0);
  const chats = ["a", "b", "c", "d"].slice(0, roll.between(1, 4));
  const faults = () => ({
    parallel: roll.pick([1, 1, 2, 5]),
    repeats: often(0.3),
    refuses: often(0.2),
    forgets: often(0.1),
    hangs: often(0.05),
  });
  const servers = { keyed: { ...faults(), keyedSend: true }, plain: { ...faults(), keyedSend: false } };
  const usual = acts.filter((act) => !deadly.has(act));
  const said: Said[] = Array.from({ length: roll.between(1, 10) }, (_, i) => ({
    at: roll.between(0, 1_500) + i / 100,
    server: roll.chance(0.7) ? "keyed" : "plain",
    chat: roll.pick(chats),
    name: `m${i}${roll.chance(0.2) ? "L" : ""}`,
    acts: Array.from({ length: roll.between(0, 4) }, () => roll.pick(usual)),
    ...(roll.chance(0.08)
      ? {
          text: roll.pick([
            "/stop",
            "/new",
            "/status",
            "/unknown",
            "/restart",
            "/approve",
            "/deny no",
            "/undo",
            "/retry",
          ]),
        }
      : {}),
  }));
  const cuts: Cut[] = Array.from({ length: roll.between(0, 5) }, () => ({
    commit: roll.between(1, 60),
    when: roll.chance(0.5) ? "before" : "after",
    end: roll.chance(0.25) ? "frozen" : "dead",
  }));
  const stops = roll.chance(0.4) ? Array.from({ length: roll.between(1, 3) }, () => ask(roll)) : [];
  const from = roll.between(0, 1_000);
  const diskFull = roll.chance(0.2) ? [{ from, to: from + roll.between(50, 3_000) }] : [];
  const busy = roll.pick(["queue", "queue", "steer", "interrupt"] as const);
  const [lanesMax, drainMs] = [roll.between(1, 8), roll.pick([0, 0, 200, 3_000])];
  const recovery = {
    afterCrash: roll.chance(0.15) ? ("suspend" as const) : ("resume" as const),
    autoResume: !roll.chance(0.2),
  };
  const story: Story = {
    seed,
    servers,
    said,
    cuts,
    stops,
    diskFull,
    busy,
    lanesMax,
    drainMs,
    recovery,
  };
  return withHeld(withBreaks(withGrowth(story)));
}

/** In some stories connections break for a while; decided apart as well. */
function withBreaks(story: Story): Story {
  const roll = dice(story.seed ^ 0xb4ea);
  if (roll.chance(0.7)) return story;
  const broken = Object.entries(story.servers).map(([name, habits]) => {
    const breaks = Array.from({ length: roll.between(0, 2) }, () => {
      const from = roll.between(0, 4_000);
      return { from, to: from + roll.between(100, 60_000) };
    });
    return [name, { ...habits, breaks }] as const;
  });
  return { ...story, servers: Object.fromEntries(broken) };
}

/** In some stories answers are held, and users ask for them at any moment, also while nothing is held; decided apart. */
function withHeld(story: Story): Story {
  const roll = dice(story.seed ^ 0x4e1d);
  if (roll.chance(0.6)) return story;
  const poisoned = Object.entries(story.servers).map(([name, habits]) => {
    const poison = { share: roll.pick([0, 0.2, 0.5]), until: roll.between(2_000, 90_000) };
    return [name, { ...habits, poison }] as const;
  });
  const asked = Array.from({ length: roll.between(0, 4) }, (_, i): Said => {
    const { server, chat } = roll.pick(story.said);
    return { at: roll.between(0, 60_000), server, chat, name: `resend${i}`, acts: [], text: "/resend" };
  });
  return { ...story, servers: Object.fromEntries(poisoned), said: [...story.said, ...asked] };
}

/** Some stories also happen where answers grow in messages; which ones is decided apart, so that the others stay as they are. */
function withGrowth(story: Story): Story {
  const roll = dice(story.seed ^ 0x960a);
  if (roll.chance(0.6)) return story;
  const often = (probability: number) => (roll.chance(0.5) ? probability : 0);
  const counts = roll.chance(0.5)
    ? { pace: { perSecond: roll.between(2, 10), chatEveryMs: roll.between(0, 500) } }
    : {};
  const growing = {
    parallel: 1,
    keyedSend: roll.chance(0.2),
    repeats: 0,
    refuses: often(0.1),
    forgets: often(0.1),
    hangs: often(0.05),
    drafts: true as const,
    tires: often(0.1),
    ...counts,
  };
  const said = story.said.map((one) => (roll.chance(0.6) ? { ...one, server: "growing" } : one));
  return { ...story, servers: { ...story.servers, growing }, said };
}
