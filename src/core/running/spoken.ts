// Voice messages of a turn: which of them nobody has written down yet, and how their words stand beside what was typed.
// Everybody who shows a message shows them alike, and marks them as what they are: a machine's hearing. Pure.

import type { Entry, Heard } from "../journal.ts";
import type { FileRef, Inbound } from "../message.ts";

export type Hearings = ReadonlyMap<string, Heard>;

export function isVoice({ mime }: Pick<FileRef, "mime">): boolean {
  return /^audio\//i.test(mime.trim());
}

export function voicesOf({ body }: Inbound): readonly FileRef[] {
  return body.kind === "text" ? body.files.filter(isVoice) : [];
}

export function hearingsIn(journal: readonly Entry[]): Hearings {
  return new Map(journal.flatMap((entry) => (entry.type === "heard" ? [[entry.blob, entry] as const] : [])));
}

/** The first voice message of the turn, or of what joined it, that nobody has tried to write down; null without one. */
export function unheardIn(input: Inbound, journal: readonly Entry[]): FileRef | null {
  const heard = hearingsIn(journal);
  return (
    messagesIn(input, journal)
      .flatMap(voicesOf)
      .find(({ blob }) => !heard.has(blob)) ?? null
  );
}

/** The new wording of every message of the turn that holds this voice message; none where nothing was understood. */
export function spokenIn(
  input: Inbound,
  journal: readonly Entry[],
  blob: string,
): readonly { readonly key: string; readonly text: string; readonly files: readonly FileRef[] }[] {
  const heard = hearingsIn(journal);
  if (heard.get(blob)?.why !== undefined) return [];
  return messagesIn(input, journal).flatMap((message) => {
    const { key, body } = message;
    if (body.kind !== "text" || !voicesOf(message).some((file) => file.blob === blob)) return [];
    const spoken = voicesOf(message).flatMap((file) => transcribed(heard.get(file.blob)));
    return [{ key, text: [body.text, ...spoken].filter((part) => part.trim() !== "").join("\n\n"), files: body.files }];
  });
}

export function transcribed(heard: Heard | undefined): readonly string[] {
  return heard === undefined || heard.why !== undefined ? [] : [`[voice message, transcribed: ${heard.text}]`];
}

function messagesIn(input: Inbound, journal: readonly Entry[]): readonly Inbound[] {
  return [input, ...journal.flatMap((entry) => (entry.type === "joined" ? [entry.message] : []))];
}
