// A turn's journal and its items in plain words. Pure.

import type { Entry, ToolResult } from "../core/journal.ts";
import type { Usage } from "../core/usage.ts";
import type { ItemView } from "../control/protocol.ts";
import { oneLine } from "./print.ts";
import { usageText } from "./agent/spent.ts";

export type Described = { readonly what: string; readonly detail: string };

export function describeEntry(entry: Entry): Described {
  switch (entry.type) {
    case "said": {
      const calls = entry.calls.map((one) => `${one.tool}(${short(one.input)})`).join(", ");
      const detail = [oneLine(entry.text), calls === "" ? "" : `calls ${calls}`].filter((one) => one !== "").join("; ");
      return { what: entry.final ? "answered" : "step", detail: withUsage(detail, entry.usage) };
    }
    case "tool-begun":
      return { what: "tool begun", detail: `${entry.call} (${entry.effect})` };
    case "tool-ended":
      return { what: "tool ended", detail: `${entry.call}: ${resultText(entry.result)}` };
    case "asked":
    case "call-asked": {
      const call = entry.type === "asked" ? "" : `${entry.call}: `;
      const what = entry.kind === "approval" ? "approval asked" : "asked";
      return { what, detail: `${call}${oneLine(entry.text)} [${entry.choices.map(oneLine).join(" | ")}]` };
    }
    case "compacted":
      return {
        what: "compacted",
        detail: withUsage(
          `messages up to ${entry.upTo}, ${entry.entries} entries of this turn: ${short(entry.summary)}`,
          entry.usage,
        ),
      };
    case "heard":
      return { what: "heard", detail: entry.why === undefined ? short(entry.text) : `nothing: ${oneLine(entry.why)}` };
    case "answered":
      return {
        what: "was answered",
        detail:
          entry.choice === null
            ? "nobody answered in time"
            : `${oneLine(entry.choice)}${entry.by === undefined ? "" : ` (by ${oneLine(entry.by)})`}`,
      };
    case "joined":
      return {
        what: "joined by",
        detail: entry.message.body.kind === "text" ? oneLine(entry.message.body.text) : "a message",
      };
    case "resumed":
      return { what: "resumed", detail: `start number ${entry.attempt}` };
  }
}

export function describeItem(item: ItemView): Described & { readonly at: number } {
  const at = item.at ?? item.createdAt;
  const attempts = item.attempts === null || item.attempts === 0 ? "" : `attempt ${item.attempts}`;
  const because = [attempts, item.why ?? ""].filter((one) => one !== "").join(": ");
  switch (item.state) {
    case "delivered":
      return { what: "delivered", detail: `part ${item.part + 1}, receipt ${item.remoteId}`, at };
    case "pending":
      return { what: "waits", detail: because, at };
    case "sending":
      return { what: "being sent", detail: because, at };
    case "in-doubt":
      return { what: "in doubt", detail: because, at };
    case "dead":
      return { what: "given up", detail: because, at };
  }
}

function resultText(result: ToolResult): string {
  const wishes = result.type === "ok" ? (result.wishes ?? []).map((one) => one.type).join(", ") : "";
  const remarks = [result.outside === true ? "from outside" : "", wishes === "" ? "" : `wants ${wishes}`];
  const remark = remarks.filter((one) => one !== "").join("; ");
  const told = result.type === "ok" ? `ok ${short(result.output)}` : `${result.type}, ${oneLine(result.why)}`;
  return `${told}${remark === "" ? "" : ` (${remark})`}`;
}

function withUsage(detail: string, usage: Usage | undefined): string {
  return usage === undefined ? detail : `${detail} [${oneLine(usageText(usage))}]`.trimStart();
}

function short(value: unknown): string {
  const text = oneLine(typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
  return text.length > 120 ? `${text.slice(0, 119)}…` : text;
}
