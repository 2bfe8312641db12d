// What agents and tools hand over is looked at before it goes to the store: a value that cannot be stored is their
// failure, told to them or to the user, and never ours.

import { sentenceOf } from "../../core/fault.ts";
import type { ToolResult, Wish } from "../../core/journal.ts";
import type { Step } from "../../ports/agent.ts";
import type { Given } from "./step.ts";

export function checkedStep(step: Step): Given {
  const wrong = whatIsWrong(step) ?? whyNotStorable(step);
  if (wrong === null) return step;
  return { type: "failed", retry: "soon", why: `the agent's step cannot be used: ${wrong}` };
}

export function checkedResult(result: ToolResult): ToolResult {
  const wishes = result.type === "ok" ? (result.wishes ?? []) : [];
  const bad = wishes.find((wish) => !isProper(wish));
  const wrong = bad === undefined ? whyNotStorable(result) : `its wish to ${bad.type} is not complete`;
  return wrong === null ? result : { type: "failed", why: `its result cannot be used: ${wrong}` };
}

function isProper(wish: Wish): boolean {
  if (wish.type === "forget") return typeof wish.memory === "string";
  if (typeof wish.text !== "string") return false;
  if (wish.type === "wake") return Number.isSafeInteger(Math.floor(wish.at));
  return wish.type !== "send" || Array.isArray(wish.files);
}

function whatIsWrong(step: Step): string | null {
  if (step.type === "failed") return null;
  if (step.type === "compacted") {
    const isWhole = typeof step.summary === "string" && Number.isSafeInteger(step.upTo);
    return isWhole && Number.isSafeInteger(step.entries) ? null : "its summary is not complete";
  }
  if (step.type === "heard") {
    const { blob, text, why = "" } = step;
    return [blob, text, why].every((one) => typeof one === "string") ? null : "what it heard is not complete";
  }
  if (step.type !== "said" && step.type !== "asked") return "it is of no known kind";
  if (typeof step.text !== "string") return "it has no text";
  if (step.type === "asked") {
    if (!Number.isSafeInteger(Math.floor(step.until))) return "its question has no proper end";
    const { what = "", bound = "", kind = "approval" } = step;
    if (kind !== "approval" || typeof what !== "string" || typeof bound !== "string") return "it is no proper approval";
    return step.choices.every((one) => typeof one === "string") ? null : "its choices are not all text";
  }
  const ids = new Set(step.calls.map(({ call }) => call));
  if (ids.size < step.calls.length) return "two of its calls have the same id";
  return step.calls.every(({ call, tool }) => typeof call === "string" && typeof tool === "string")
    ? null
    : "a call has no id or no tool";
}

function whyNotStorable(value: unknown): string | null {
  try {
    JSON.stringify(value);
    return null;
  } catch (error) {
    return sentenceOf(error);
  }
}
