// Which conversations there are, what they are called and which one the address names. Pure.

import type { Listed } from "./net/wire.ts";

export type ChatRow = {
  readonly chat: string;
  readonly title: string;
  readonly activeAt: number;
  readonly unread: boolean;
  /** Known only to this browser so far. */
  readonly local: boolean;
};

export const untitled = "New conversation";
const titleMax = 80;

/** Words of the user in a conversation that the gateway's list may not have yet. */
export type Spoken = { readonly chat: string; readonly text: string; readonly at: number };

/** The gateway's list, joined by conversations that only this page knows of so far; newest first. */
export function chatRows(
  listed: readonly Listed[],
  spoken: readonly Spoken[],
  seen: (chat: string) => number,
  current: string,
): readonly ChatRow[] {
  const rows: ChatRow[] = listed.map((one) => ({
    chat: one.chat,
    title: titleOf(one.title),
    activeAt: one.activeAt,
    unread: one.chat !== current && one.lastN > seen(one.chat),
    local: false,
  }));
  for (const one of spoken) {
    if (rows.some((row) => row.chat === one.chat)) continue;
    rows.push({ chat: one.chat, title: titleOf(one.text), activeAt: one.at, unread: false, local: true });
  }
  return rows.toSorted((a, b) => b.activeAt - a.activeAt);
}

/** The first line that says something, cut at a word, without the marks of markdown. */
export function titleOf(text: string): string {
  const line = text
    .slice(0, 2_000)
    .split("\n")
    .map((one) => withoutMarks(one))
    .find((one) => one !== "");
  if (line === undefined) return untitled;
  if (line.length <= titleMax) return line;
  const cut = line.slice(0, titleMax);
  const space = cut.lastIndexOf(" ");
  return `${(space > titleMax / 2 ? cut.slice(0, space) : cut).trimEnd()}…`;
}

/** Marks of markdown go, and of what was written for machines the brackets and quotes. */
function withoutMarks(line: string): string {
  const words = line
    .replace(/^[#>*\-`\s]+/, "")
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/\*\*|~~|`+/g, "")
    .replaceAll(/(^|\s)[*_]([^\s*_](?:[^*_]*[^\s*_])?)[*_](?=\W|$)/g, "$1$2");
  if (!/[[{]\s*["{[]/.test(words)) return words.trim();
  return words
    .replaceAll(/["{}[\]]+/g, " ")
    .replaceAll(/\s+([,:])/g, "$1")
    .replaceAll(/\s+/g, " ")
    .trim();
}

export function chatOfHash(hash: string): string | null {
  const match = /^#\/c\/([A-Za-z0-9_-]{1,64})$/.exec(hash);
  return match?.[1] ?? null;
}

export function hashOf(chat: string): string {
  return `#/c/${chat}`;
}
