// A whole answer as the step that is stored: text, calls with ids of their own, and everything that has to go back to the
// model. Pure.

import type { Entry, Said, ToolCall } from "../../../core/journal.ts";
import type { Usage } from "../../../core/usage.ts";
import { freshId } from "../context/turn.ts";
import { type Collected, type CollectedPart, isFiltered, textOf } from "./collect.ts";
import type { DataPart, SaidData } from "./data.ts";
import { readArguments } from "./invalid.ts";

export type Answered = {
  readonly collected: Collected;
  readonly model: string;
  readonly usage: Usage;
  readonly estimated: number;
  /** It has just said that it cannot use tools, and was asked without. */
  readonly toolsRefused?: boolean;
};

/** `isForProgram`: options came with the message, so its answer is read by a program and gets no words of ours. */
export type AnswerUse = { readonly closing: boolean; readonly isForProgram: boolean };

export function saidOf(answer: Answered, journal: readonly Entry[], { closing, isForProgram }: AnswerUse): Said {
  const { collected, model, usage, estimated } = answer;
  const used = usedIds(journal);
  const named = collected.parts.map((part) => (part.type === "call" ? { ...part, id: freshId(part.id, used) } : part));
  const calls = closing
    ? []
    : named.flatMap((part): readonly ToolCall[] => (part.type === "call" ? [callOf(part)] : []));
  const plain = textOf(collected.parts);
  const words = isForProgram && plain !== "" ? plain : finishedText(plain, collected, calls.length, closing);
  const text = answer.toolsRefused === true && !isForProgram ? `${words}\n\n${refusedText(model)}` : words;
  const data: SaidData = {
    model,
    finish: collected.finish.unified,
    estimated,
    parts: dataParts(named.filter((part) => !closing || part.type !== "call")),
  };
  return { type: "said", text, calls, final: calls.length === 0, data, usage, ...cutOf(collected) };
}

function cutOf(collected: Collected): Pick<Said, "cut"> {
  if (isFiltered(collected)) return { cut: "filter" };
  return collected.finish.unified === "length" ? { cut: "length" } : {};
}

function refusedText(model: string): string {
  return `[${model} cannot use tools, so this was answered without them. Choose a model that can with /model.]`;
}

function usedIds(journal: readonly Entry[]): Set<string> {
  return new Set(journal.flatMap((entry) => (entry.type === "said" ? entry.calls.map(({ call }) => call) : [])));
}

function callOf({ id, tool, input }: Extract<CollectedPart, { type: "call" }>): ToolCall {
  return { call: id, tool, input: readArguments(input) };
}

/** The words with what is to be known of their end: half of something reads as if it were all of it. */
export function endMarked(text: string, collected: Pick<Collected, "finish">, what: "answer" | "summary"): string {
  if (isFiltered(collected)) return `${text}\n\n[The ${what} was cut off here by the provider's filter.]`;
  return collected.finish.unified === "length"
    ? `${text}\n\n[The ${what} was cut off here: it reached the most the model may write at once.]`
    : text;
}

function finishedText(words: string, collected: Collected, calls: number, closing: boolean): string {
  if (calls > 0) return words;
  const text = endMarked(words, collected, "answer");
  return text === "" && closing
    ? "I have reached the limit of steps for one message and have no answer yet. Write to go on."
    : text;
}

/** Only what the text and the calls do not tell by themselves. */
function dataParts(parts: readonly CollectedPart[]): readonly DataPart[] {
  const texts = parts.filter((part) => part.type === "text" && part.text.trim() !== "");
  const isPlain = parts.every(({ type, meta }) => meta === undefined && type !== "reasoning") && texts.length < 2;
  if (isPlain) return [];
  return parts.flatMap((part): readonly DataPart[] => {
    const meta = part.meta === undefined ? {} : { meta: part.meta };
    if (part.type === "reasoning") return [{ type: "reasoning", text: part.text, ...meta }];
    if (part.type === "call") return [{ type: "call", call: part.id, ...meta }];
    if (part.text.trim() === "") return [];
    return [texts.length === 1 ? { type: "text", ...meta } : { type: "text", text: part.text, ...meta }];
  });
}
