// A scripted agent: the words of a message say what it does, the journal says how far it is. It can speak, call tools of
// every effect, ask, fail, and hang without caring for any abort. Effects are counted outside the process.

import type { Instant } from "../core/ids.ts";
import type { ToolEffect } from "../core/journal.ts";
import { type Inbound, textOf } from "../core/message.ts";
import type { Agent, AgentJob, Step } from "../ports/agent.ts";
import type { Tool } from "../ports/tool.ts";
import { asking, askingTools, finding, inquiring, wishing } from "./asking.ts";
import type { Life } from "./life.ts";
import type { FullStore } from "./power.ts";
import type { Dice } from "./time.ts";

export const acts = [
  "say",
  "pure",
  "pures",
  "keyed",
  "checkable",
  "once",
  "ask",
  "remind",
  "approve",
  "approve_changed",
  "deny",
  "inquire",
  "wish",
  "compact",
  "fail",
  "hang",
  "die",
  "bomb",
  "bomb_again",
] as const;
/**
 * One step of a script. `die`: the process dies in this step, every time, until somebody gives up. `bomb` and
 * `bomb_again`: it dies in a tool, after its intent was stored; the first may happen once, the second may run again.
 */
export type Act = (typeof acts)[number];

/** What its user has to answer. */
export const waits: ReadonlySet<Act> = new Set<Act>(["ask", "approve", "approve_changed", "deny", "inquire"]);

/** What brings the process down. */
export const deadly: ReadonlySet<Act> = new Set<Act>(["die", "bomb", "bomb_again"]);

/** The outside world that tools change. */
export type Effects = {
  /** How often each call really happened, by key. */
  readonly happened: Map<string, number>;
  /** What has become of a thing that a call is about, by the call's place. */
  readonly versions: Map<string, number>;
  /** Steps that hang or fail do so once. */
  readonly tripped: Set<string>;
  /** A frozen life that was taken over may still do what it was about to do; nobody can prevent that. */
  readonly isCurrent: (life: Life) => boolean;
  readonly onBreach: (what: string) => void;
  readonly onDie: (life: Life) => void;
};

/** `m1: say once ask` is message m1 with three acts before its answer. */
export function script(name: string, list: readonly Act[]): string {
  return `${name}: ${list.join(" ")}`;
}

export function read(inbound: Inbound): { readonly name: string; readonly list: readonly Act[] } {
  const text = textOf(inbound.body);
  const [name = text, list = ""] = text.split(": ");
  return { name, list: list.split(" ").filter((word): word is Act => (acts as readonly string[]).includes(word)) };
}

export function scripted(life: Life, store: FullStore, effects: Effects, chances: Dice): Agent {
  return {
    tools: [
      ...(["pure", "keyed", "checkable", "once"] as const).map((effect) => tool(effect, life, store, effects, chances)),
      ...askingTools.map((name) => asking(name, life, store, effects, chances)),
      inquiring(life, effects, chances),
      wishing(life, chances),
      bomb("bomb", "once", life, effects),
      bomb("bomb_again", "pure", life, effects),
    ],
    async step(job) {
      await life.pass(chances.between(1, 30));
      const { name, list } = read(job.input);
      const done = job.journal.filter(({ type }) => type === "said" || type === "asked" || type === "compacted").length;
      const act = list[done];
      if (act !== undefined) return paid(await perform(act, job, `${job.turn}:${done}`), done);
      await streamed(job);
      const parts = name.endsWith("L") ? `||${name} part 2||${name} part 3` : "";
      return paid({ type: "said", text: `${answerTo(name)}${joined(job)}${parts}`, calls: [], final: true }, done);
    },
    close: async () => undefined,
  };

  /** Its words come one by one, where somebody watches them come. */
  async function streamed(job: AgentJob): Promise<void> {
    if (job.address.platform !== "growing") return;
    for (const words of ["so", "so far", "so far so good"]) {
      job.draft(words);
      await life.pass(chances.between(0, 60));
    }
  }

  async function perform(act: Act, job: AgentJob, place: string): Promise<Step> {
    const say = (calls: readonly string[]): Step => ({
      type: "said",
      text: act,
      calls: calls.map((name, i) => ({ call: `${place}:${i}`, tool: name, input: { place } })),
      final: false,
    });
    switch (act) {
      case "say":
        job.draft(place);
        return say([]);
      case "pures":
        return say(["pure", "pure", "once", "pure"]);
      case "remind":
        return {
          type: "said",
          text: act,
          calls: [{ call: `${place}:0`, tool: "pure", input: { remind: place } }],
          final: false,
        };
      case "compact": {
        const upTo = (await job.history(1)).at(-1)?.n ?? 0;
        return { type: "compacted", summary: `summary ${place}`, entries: job.journal.length, upTo };
      }
      case "ask":
        return {
          type: "asked",
          text: "which?",
          choices: ["yes", "no"],
          until: (job.now() + 60_000) as Instant,
        };
      case "fail":
        return tripOnce(place, () => ({ type: "failed", retry: "later", why: "a passing cloud" }), say([]));
      case "hang":
        return tripOnce(place, () => new Promise<Step>(() => undefined), say([]));
      case "die":
        effects.onDie(life);
        return new Promise<Step>(() => undefined);
      case "bomb":
      case "bomb_again":
        // The same input each time, as a model that learned nothing gives it.
        return { type: "said", text: act, calls: [{ call: `${place}:0`, tool: act, input: {} }], final: false };
      default:
        return say([act]);
    }
  }

  async function tripOnce(place: string, trip: () => Step | Promise<Step>, otherwise: Step): Promise<Step> {
    if (effects.tripped.has(place)) return otherwise;
    effects.tripped.add(place);
    return trip();
  }
}

/** Every step costs something, and no two steps of a turn the same. */
function paid(step: Step, done: number): Step {
  if (step.type !== "said" && step.type !== "compacted") return step;
  return { ...step, usage: { model: "sim/one", input: 10 + done, cached: done, output: 5, cost: 100 + done } };
}

export function answerTo(name: string): string {
  return `answer to ${name}`;
}

function joined(job: AgentJob): string {
  return job.journal
    .map((entry) => (entry.type === "joined" ? `, ${answerTo(read(entry.message).name)}` : ""))
    .join("");
}

function bomb(name: Act, effect: ToolEffect, life: Life, effects: Effects): Tool {
  const run = () => {
    effects.onDie(life);
    return new Promise<never>(() => undefined);
  };
  return { name, description: name, effect, input: { type: "object" }, run };
}

function tool(effect: ToolEffect, life: Life, store: FullStore, effects: Effects, chances: Dice): Tool {
  const { happened } = effects;
  const onBreach = (what: string) => {
    if (effects.isCurrent(life)) effects.onBreach(what);
  };
  return {
    name: effect,
    description: effect,
    effect,
    input: { type: "object" },
    // Some are judged first and found harmless.
    ...(effect === "keyed"
      ? { vet: () => life.pass(chances.between(0, 2)).then(() => ({ type: "run" }) as const) }
      : {}),
    async run(input, context) {
      const [turn = ""] = context.key.split(":");
      const call = context.key.split(":").slice(2).join(":");
      const journal = await store.journalOf(turn as Parameters<FullStore["journalOf"]>[0]);
      if (journal.some((entry) => entry.type === "tool-ended" && entry.call === call))
        onBreach(`finished call ${context.key} ran again`);
      if (effect !== "pure" && !journal.some((entry) => entry.type === "tool-begun" && entry.call === call)) {
        onBreach(`${effect} call ${context.key} ran before its intent was stored`);
      }
      const before = chances.between(0, 20);
      await life.pass(before);
      const times = happened.get(context.key) ?? 0;
      if (effect === "once" && times > 0) effects.onBreach(`once call ${context.key} happened again`);
      if (effect !== "keyed" || times === 0) happened.set(context.key, times + 1);
      await life.pass(chances.between(1, 20));
      const remind = (input as { remind?: string }).remind;
      if (remind === undefined) return { type: "ok", output: effect };
      const at = (life.world.now() + 500) as Instant;
      return { type: "ok", output: effect, wishes: [{ type: "wake", at, text: `reminder-${remind}: ` }] };
    },
    ...(effect === "checkable" ? { check: finding(life, effects, chances) } : {}),
  };
}
