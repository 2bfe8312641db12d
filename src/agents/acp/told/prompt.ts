// What the agent is asked at the beginning of its work on a turn. The one rule: a message that it has is not given to it
// a second time. Whether it has it is known from this life, from what its session tells again, or from our own record;
// where nobody knows, the words are told as what they are, a message that it may have seen. Pure.

import { wordsOf } from "../../../core/access/strangers.ts";
import type { Entry } from "../../../core/journal.ts";
import type { Inbound, Message } from "../../../core/message.ts";
import { hasBegun, joinedIn } from "./record.ts";
import { goOnText, missedText, noteBegin, rebuiltText } from "./words.ts";

/** How the session was come by: it was there, it was loaded, or it is a new one in the place of another or of none. */
export type Entered =
  | { readonly type: "there" }
  | { readonly type: "loaded"; readonly lastUser: string | null; readonly missed: readonly Message[] }
  | { readonly type: "new"; readonly history: readonly Message[] };

export type Asked = {
  readonly input: Inbound;
  readonly journal: readonly Entry[];
  readonly entered: Entered;
  /** It was given to this very session by this process of the gateway; an agent that died since may not have stored it. */
  readonly delivered: boolean;
  /** Why the turn, or the one before it, was interrupted; null where nothing was, or the agent knows it. */
  readonly note: string | null;
};

export type Prompt = { readonly text: string; readonly withFiles: boolean };

export function promptFor({ input, journal, entered, delivered, note }: Asked): Prompt {
  const message = wordsOf(input);
  const fresh = { text: [message, ...joinedIn(journal)].join("\n\n"), withFiles: true };
  const goOn = { text: goOnText(message, journal, note), withFiles: false };
  const begun = delivered || hasBegun(journal);
  const cut = begun || journal.some((entry) => entry.type === "resumed");
  switch (entered.type) {
    case "there":
      return begun ? goOn : { ...fresh, text: missedText([], fresh.text, note) };
    case "loaded": {
      if (hasBegun(journal)) return goOn;
      // The words of two messages may be the same, or none, so the files go along: a second look does no harm.
      if (cut && mayStore(entered.lastUser, message, delivered)) return { ...goOn, withFiles: true };
      return { ...fresh, text: missedText(entered.missed, fresh.text, note) };
    }
    case "new":
      return cut
        ? { text: rebuiltText(entered.history, message, journal, note), withFiles: true }
        : { ...fresh, text: rebuiltText(entered.history, fresh.text, null, note) };
  }
}

/**
 * Whether the agent remembers what our record does not have any more, because it was taken back: the last it was told is
 * none of the messages that are left. What cannot be told from a note of ours is let pass.
 */
export function remembersMore(lastUser: string | null, history: readonly Message[]): boolean {
  if (lastUser === null || isNote(lastUser)) return false;
  return !history.some(({ role, text }) => role === "user" && text.trim() !== "" && isSame(lastUser, text));
}

/** Whether a loaded session may have this message: its last user message is this one, or a note that may be about it. */
function mayStore(lastUser: string | null, message: string, delivered: boolean): boolean {
  return lastUser === null ? delivered : isNote(lastUser) || isSame(lastUser, message);
}

function isSame(text: string, message: string): boolean {
  return plain(text).includes(plain(message).slice(0, 2_000));
}

function isNote(told: string): boolean {
  return plain(told).startsWith(noteBegin);
}

function plain(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
