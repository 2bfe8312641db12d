// Tools of the scripted agent that need their user's leave or words. They watch that nothing is done without it.

import { readDecision } from "../core/asked/asking.ts";
import type { Instant } from "../core/ids.ts";
import type { Entry } from "../core/journal.ts";
import { formatAddress } from "../core/message.ts";
import type { Tool } from "../ports/tool.ts";
import type { Effects } from "./agent.ts";
import type { Life } from "./life.ts";
import type { FullStore } from "./power.ts";
import type { Dice } from "./time.ts";

/**
 * `approve_changed`: what it would do changes after its user was asked, and again whenever nobody runs; it can be looked
 * at whether it happened. `deny`: its user always refuses.
 */
export const askingTools = ["approve", "approve_changed", "deny"] as const;
export type AskingTool = (typeof askingTools)[number];

const toldLine = /^(approve|approve_changed|deny) (\S+)$/m;

/** Which tool asks, and for what; null when the text is no such question. */
export function readAsking(text: string): { readonly tool: AskingTool; readonly place: string } | null {
  const match = toldLine.exec(text);
  return match === null ? null : { tool: match[1] as AskingTool, place: match[2] ?? "" };
}

/** What a call would do at this moment. */
function boundOf(effects: Effects, place: string): string {
  return `version ${effects.versions.get(place) ?? 0}`;
}

/** Shorter than anybody takes to answer, so a judgement from before the answer never counts. */
const judgedMs = 10;

const placeOf = (input: unknown): string => (input as { readonly place: string }).place;

export function asking(name: AskingTool, life: Life, store: FullStore, effects: Effects, chances: Dice): Tool {
  const subjectOf = (chat: string): string | null => (name === "approve" ? `calls in ${chat}` : null);
  const canLook = name === "approve_changed";
  /** What was judged last. Nobody can help what changes between a judgement and the call right behind it. */
  const judged = new Map<string, { readonly bound: string; readonly at: number }>();
  const boundFor = (place: string): string => {
    const last = judged.get(place);
    return last !== undefined && life.world.now() - last.at < judgedMs ? last.bound : boundOf(effects, place);
  };
  return {
    name,
    description: name,
    effect: canLook ? "checkable" : "once",
    input: { type: "object" },
    async vet(input, { address }) {
      await life.pass(chances.between(0, 3));
      const place = placeOf(input);
      const subject = subjectOf(address.chat);
      const bound = boundOf(effects, place);
      judged.set(place, { bound, at: life.world.now() });
      return {
        type: "approve",
        why: "the story says so",
        what: `${name} ${place}`,
        bound,
        subject,
      };
    },
    async run(input, { key, turn, address }) {
      const place = placeOf(input);
      const journal = await store.journalOf(turn);
      const subject = subjectOf(address.chat);
      const isRuled = subject !== null && (await store.rule(name, subject, formatAddress(address))) !== null;
      const call = key.split(":").slice(2).join(":");
      if (!isRuled && !isAllowed(journal, call, boundFor(place)) && effects.isCurrent(life))
        effects.onBreach(`${name} call ${key} was made without leave`);
      if (!journal.some((entry) => entry.type === "tool-begun" && entry.call === call) && effects.isCurrent(life))
        effects.onBreach(`${name} call ${key} ran before its intent was stored`);
      await life.pass(chances.between(0, 20));
      const times = effects.happened.get(key) ?? 0;
      if (times > 0 && !canLook) effects.onBreach(`${name} call ${key} happened again`);
      effects.happened.set(key, times + 1);
      await life.pass(chances.between(1, 20));
      return { type: "ok", output: name };
    },
    ...(canLook ? { check: finding(life, effects, chances) } : {}),
  };
}

/** Whether a call has happened, as the outside world knows it. */
export function finding(life: Life, effects: Effects, chances: Dice): NonNullable<Tool["check"]> {
  return async (_input, { key }) => {
    await life.pass(chances.between(1, 5));
    return effects.happened.has(key) ? { type: "ok", output: "found" } : null;
  };
}

/** The last question about the call was for just this, and was answered with leave to do it. */
function isAllowed(journal: readonly Entry[], call: string, bound: string): boolean {
  const asked = journal.findLast((entry) => entry.type === "call-asked" && entry.call === call);
  if (asked?.type !== "call-asked" || asked.bound !== bound) return false;
  const answer = journal.find((entry) => entry.type === "answered" && entry.question === asked.question);
  if (answer?.type !== "answered") return false;
  const { type } = readDecision(answer.choice);
  return type === "approve" || type === "always";
}

/** A question whose answer is the result. */
export function inquiring(life: Life, effects: Effects, chances: Dice): Tool {
  return {
    name: "inquire",
    description: "inquire",
    effect: "pure",
    input: { type: "object" },
    async vet(input, { now }) {
      await life.pass(chances.between(0, 3));
      const until = (now() + 60_000) as Instant;
      return { type: "question", text: `question ${placeOf(input)}`, choices: ["yes", "no"], until };
    },
    async run(_input, { key }) {
      effects.onBreach(`question ${key} was run`);
      return { type: "failed", why: "a question is not run" };
    },
  };
}

/** Tells its user something and has something remembered, all with its result. */
export function wishing(life: Life, chances: Dice): Tool {
  return {
    name: "wish",
    description: "wish",
    effect: "pure",
    input: { type: "object" },
    async run(input, { tell }) {
      tell("wishing");
      await life.pass(chances.between(1, 30));
      const place = placeOf(input);
      return {
        type: "ok",
        output: "wished",
        wishes: [
          { type: "send", text: `sent ${place}`, files: [] },
          { type: "remember", text: `remembered ${place}` },
        ],
      };
    },
  };
}
