// How a growing answer becomes pieces that are only ever added. Pure. A client cannot take back what it was given, and a
// draft may be written anew: then the new text begins as a paragraph of its own, and the last paragraph of a stream is
// always the whole answer. How far a client is, is told by length and fingerprint, so that it can go on after any break,
// also with a gateway that has started since.

import { createHash } from "node:crypto";

/** What a client has of the text that grows; `text` is null where only its mark came back. */
export type Given = { readonly length: number; readonly print: string; readonly text: string | null };

export const nothingGiven: Given = given("");

const break_ = "\n\n";

/** What is to be added so that the client has this text. A draft may be incomplete; the final text never is. */
export function grow(had: Given, text: string, isFinal: boolean): { readonly delta: string; readonly now: Given } {
  const said = isFinal ? text : wholeSigns(withoutProgress(text));
  if (fits(had, said)) return { delta: said.slice(had.length), now: given(said) };
  if (!isFinal && mayCatchUp(had, said)) return { delta: "", now: had };
  return { delta: had.length === 0 ? said : `${break_}${said}`, now: given(said) };
}

function given(text: string): Given {
  return { length: text.length, print: printOf(text), text };
}

function printOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 12);
}

function fits({ length, print, text }: Given, said: string): boolean {
  if (text !== null) return said.startsWith(text);
  return said.length >= length && printOf(said.slice(0, length)) === print;
}

/** A turn that goes on after a start begins its step again; so does a text whose beginning cannot be compared. */
function mayCatchUp({ length, text }: Given, said: string): boolean {
  return said.length < length && (text === null || text.startsWith(said));
}

/** As the id of an event. */
export function markOf({ length, print }: Given): string {
  return `${length}-${print}`;
}

/** Null when it is none of ours. */
export function readMark(mark: string): Given | null {
  if (mark === "0") return nothingGiven;
  const found = /^(\d{1,9})-([\w-]{12})$/.exec(mark);
  return found === null ? null : { length: Number(found[1]), print: found[2] ?? "", text: null };
}

/**
 * A draft ends with lines about the calls of its turn, or is a remark in brackets while it waits for its model. Neither
 * belongs to the answer; an answer that looks like it is only shown a little later.
 */
function withoutProgress(draft: string): string {
  if (/^\([^]*\)$/.test(draft)) return "";
  const at = draft.lastIndexOf(break_);
  const lines = draft.slice(at < 0 ? 0 : at + break_.length).split("\n");
  const isProgress = /^[✓✗?…] /u.test(lines[0] ?? "") && lines.every((line) => /^(?:[✓✗?…] | {2})/u.test(line));
  return isProgress ? draft.slice(0, Math.max(at, 0)) : draft;
}

/** Half of a pair is no sign; its other half comes with the next draft. */
function wholeSigns(text: string): string {
  return /[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text;
}
