// From an item of the outbox to the lines that are said; pure.

import type { OutboxItem } from "../../core/outbox.ts";
import { fold, isChannel, roomFor, sayable } from "./lines.ts";
import { toIrc } from "./markup.ts";

/** Whom to say it to: a person by the name as they write it, which is right however the server compares names. */
export function targetOf({ to, hints }: Pick<OutboxItem, "to" | "hints">): string {
  const nick = hints?.["nick"];
  const isTheirs = typeof nick === "string" && fold(nick, "rfc1459") === fold(to.chat, "rfc1459");
  return isTheirs ? nick : to.chat;
}

/** There are no buttons and no files: choices are numbered, and a file is told. */
export function linesOf(
  item: Pick<OutboxItem, "text" | "question" | "files" | "to" | "part" | "hints">,
): readonly string[] {
  const { chat } = item.to;
  const choices = item.question?.choices ?? [];
  const asked = choices.map((choice, n) =>
    item.question?.kind === "approval" ? `- ${choice}` : `${n + 1}. ${choice}`,
  );
  const files = item.files.map(({ name, bytes }) => `(The file ${name}, ${bytes} bytes, cannot be sent on IRC.)`);
  const words = [toIrc(item.text), ...asked, ...files].join("\n");
  const nick = item.hints?.["nick"];
  // In a channel, whoever asked is called, so that their client tells them.
  const called = isChannel(chat) && item.part === 0 && typeof nick === "string" ? `${nick}: ${words}` : words;
  return sayable(called, roomFor(chat));
}
