// What an agent has streamed since the last step, added up: however much it sends, what is kept is one text and a list of
// tools. Updates that we do not know are passed over.

import { record, words } from "./choices.ts";
import type { ToolNote } from "./told/record.ts";

const textMax = 1_000_000;
const toolsMax = 500;
const titleMax = 300;

export interface Progress {
  readonly text: string;
  readonly tools: ReadonlyMap<string, ToolNote>;
  /** A tool has ended since the last step: a good moment to put things on record. */
  readonly atBoundary: boolean;
  /** Takes an update in; says whether it is one that a user would see. */
  take(update: unknown): boolean;
  /** What is new since this was asked last. */
  news(): { readonly text: string; readonly tools: readonly ToolNote[] };
  hasNews(): boolean;
}

/** Tools that are known already, and a text and news that have not been put on record yet. */
export type Before = {
  readonly tools: readonly ToolNote[];
  readonly text?: string;
  readonly fresh?: readonly ToolNote[];
};

export function progress(before: Before): Progress {
  const tools = new Map([...before.tools, ...(before.fresh ?? [])].map((tool) => [tool.id, tool]));
  const changed = new Set(before.fresh?.map((tool) => tool.id));
  let text = before.text ?? "";
  let atBoundary = false;

  function takeTool(update: Readonly<Record<string, unknown>>): boolean {
    const id = words(update["toolCallId"]);
    if (id === "") return false;
    const known = tools.get(id);
    const note: ToolNote = {
      id,
      title: words(update["title"]).slice(0, titleMax).toWellFormed() || (known?.title ?? "a tool"),
      kind: words(update["kind"]) || (known?.kind ?? "other"),
      status: statusOf(update["status"]) ?? known?.status ?? "begun",
    };
    if (known !== undefined && known.title === note.title && known.status === note.status) return false;
    if (known === undefined && tools.size >= toolsMax) return false;
    tools.set(id, note);
    changed.add(id);
    if (note.status !== "begun" && known?.status !== note.status) atBoundary = true;
    return true;
  }

  return {
    get text() {
      return text;
    },
    tools,
    get atBoundary() {
      return atBoundary;
    },
    take(update) {
      const given = record(update);
      switch (given["sessionUpdate"]) {
        case "agent_message_chunk": {
          const { type, text: more } = record(given["content"]);
          if (type !== "text" || typeof more !== "string") return false;
          if (text.length < textMax) text = `${text}${more}`;
          return true;
        }
        case "tool_call":
        case "tool_call_update":
          return takeTool(given);
        default:
          return false;
      }
    },
    news() {
      const found = { text: text.toWellFormed(), tools: [...changed].flatMap((id) => tools.get(id) ?? []) };
      text = "";
      changed.clear();
      atBoundary = false;
      return found;
    },
    hasNews: () => text.trim() !== "" || changed.size > 0,
  };
}

function statusOf(status: unknown): ToolNote["status"] | null {
  if (status === "completed" || status === "failed") return status;
  return status === "pending" || status === "in_progress" ? "begun" : null;
}

/** The user's messages as an agent tells them again when a session is loaded; the newest few are enough. */
export interface Replay {
  take(update: unknown): void;
  /** Null when it told none. */
  lastUser(): string | null;
}

export function replay(): Replay {
  let last: string | null = null;
  let isOpen = false;
  let id: unknown;
  return {
    take(update) {
      const { sessionUpdate, content, messageId } = record(update);
      const { text } = record(content);
      if (sessionUpdate === "user_message_chunk" && typeof text === "string") {
        isOpen &&= messageId === id;
        id = messageId;
        last = isOpen ? `${last ?? ""}${text}`.slice(0, textMax) : text.slice(0, textMax);
        isOpen = true;
      } else if (sessionUpdate === "agent_message_chunk" || sessionUpdate === "tool_call") {
        isOpen = false;
      }
    },
    lastUser: () => last,
  };
}
