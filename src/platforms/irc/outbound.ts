// From an item of the outbox to the lines that are said, and which of them the server has taken; pure.

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

/** Lines `from` to `to` of so many, counted from 0. */
export type LineRange = { readonly from: number; readonly to: number };

/** How taken lines are stored with their item. The total tells whether the same lines are still meant. */
export function receiptOf({ from, to }: LineRange, total: number): string {
  return `${from}-${to}/${total}`;
}

/** The lines that stored receipts name. */
export function takenLines(receipts: readonly string[], total: number): ReadonlySet<number> {
  const taken = new Set<number>();
  for (const receipt of receipts) {
    const [, from, to, of] = /^(\d+)-(\d+)\/(\d+)$/.exec(receipt) ?? [];
    if (Number(of) !== total) continue;
    for (let n = Number(from); n <= Number(to); n++) taken.add(n);
  }
  return taken;
}

/** What is left to say, in pieces of at most `max` lines that follow each other. */
export function piecesLeft(total: number, taken: ReadonlySet<number>, max: number): readonly LineRange[] {
  const pieces: LineRange[] = [];
  for (let n = 0; n < total; n++) {
    const last = pieces.at(-1);
    if (taken.has(n)) continue;
    if (last !== undefined && last.to === n - 1 && n - last.from < max) pieces[pieces.length - 1] = { ...last, to: n };
    else pieces.push({ from: n, to: n });
  }
  return pieces;
}
