// What was said at a place after a message, as far as it may be its answer. Much may lie between the two, when many ask at
// once in one conversation: so it is read to its end before anybody says what the answer is. And it is looked at often, so
// each line is read once: back from the newest to the message, from then on only what is new.

import type { Address, Message } from "../../../core/message.ts";
import type { Turn } from "../../../core/turn.ts";
import type { Archive } from "../../../ports/store.ts";
import { apiLimits } from "../api.ts";
import { answering } from "../outbound.ts";

type Lines = Pick<Archive, "messagesAfter" | "messagesBefore">;

export type Following = {
  readonly said: Message;
  readonly lines: readonly Message[];
  /** The number of the newest line that was read. */
  readonly upTo: number;
};

/** Null while the message is not there yet. */
export async function readBack(lines: Lines, { id, input }: Turn, key: string): Promise<Following | null> {
  let after: readonly Message[] = [];
  let upTo: number | null = null;
  for await (const page of pagesBack(lines, input.from)) {
    const i = page.findIndex((one) => isSaid(one, key));
    const said = page[i];
    upTo ??= page.at(-1)?.n ?? null;
    after = answering(id, [...page.slice(i + 1), ...after]);
    if (said !== undefined) return { said, lines: after, upTo: upTo ?? said.n };
  }
  return null;
}

export async function readOn(lines: Lines, { id, input }: Turn, before: Following): Promise<Following> {
  let { lines: after, upTo } = before;
  for (;;) {
    const page = await lines.messagesAfter(input.from, upTo, apiLimits.pageMax);
    after = answering(id, [...after, ...page]);
    upTo = page.at(-1)?.n ?? upTo;
    if (page.length < apiLimits.pageMax) return { said: before.said, lines: after, upTo };
  }
}

/** The line of a message by its key. */
export async function lineOf(lines: Lines, from: Address, key: string): Promise<Message | null> {
  for await (const page of pagesBack(lines, from)) {
    const line = page.find((one) => isSaid(one, key));
    if (line !== undefined) return line;
  }
  return null;
}

function isSaid(line: Message, key: string): boolean {
  return line.role === "user" && line.key === key;
}

/** From the newest back: whoever asks has mostly just written. */
async function* pagesBack(lines: Lines, from: Address): AsyncGenerator<readonly Message[]> {
  for (let before: number | null = null; ; ) {
    const page: readonly Message[] = await lines.messagesBefore(from, before, apiLimits.pageMax);
    yield page;
    if (page.length < apiLimits.pageMax) return;
    before = page[0]?.n ?? 0;
  }
}
