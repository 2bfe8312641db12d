// What is said to a user becomes a line of the transcript and outbox items in one go. The first item may leave at once:
// then it is stored as already being sent, which saves a commit.

import type { Change } from "../../core/change.ts";
import type { BootId, Instant, ItemId, SessionId, TurnId } from "../../core/ids.ts";
import type { Address, FileRef, Hints, NewMessage, Question } from "../../core/message.ts";
import { type OutboxItem, advanceItem, asNewItem } from "../../core/outbox.ts";

export type Reply = {
  /** Where the ids of the items begin; the same for the same reply, whoever writes it. */
  readonly id: string;
  readonly session: SessionId;
  readonly turn: TurnId | null;
  readonly to: Address;
  readonly role: NewMessage["role"];
  readonly text: string;
  readonly parts: readonly string[];
  readonly question?: Question;
  /** Go with the last part. */
  readonly files?: readonly FileRef[];
  /** The message of the platform that the first part finishes. */
  readonly edits?: string | null;
  /** What the platform gets back with every part. */
  readonly hints?: Hints;
  readonly at: Instant;
};

export type Written = {
  readonly changes: readonly Change[];
  readonly taken: OutboxItem | null;
  /** Further items wait behind the taken one. */
  readonly more: boolean;
};

/** `takeFirst` names the boot when the session's outbox is idle and the first part can go at once. */
export function writeReply(reply: Reply, takeFirst: BootId | null): Written {
  const { session, turn, role, text, at } = reply;
  const question = reply.question === undefined ? {} : { question: reply.question };
  const { hints = {}, files = [], edits = null } = reply;
  const items = reply.parts.map((part, i): OutboxItem => {
    const last = i === reply.parts.length - 1;
    return {
      id: `${reply.id}.${i}` as ItemId,
      session,
      turn,
      part: i,
      to: reply.to,
      text: part,
      files: last ? files : [],
      ...(last ? question : {}),
      ...(Object.keys(hints).length === 0 ? {} : { hints }),
      ...(i === 0 && edits !== null ? { edits } : {}),
      createdAt: at,
      version: 1,
      now: { state: "pending", dueAt: at, attempts: 0 },
    };
  });
  const [first, ...rest] = items;
  if (first === undefined) return { changes: [], taken: null, more: false };
  const taken = takeFirst === null ? null : asNewItem(advanceItem(first, { type: "taken", boot: takeFirst }));
  const message: NewMessage = {
    key: first.id,
    session,
    turn,
    role,
    text,
    ...question,
    ...(files.length === 0 ? {} : { files }),
    at,
  };
  const changes: Change[] = [{ put: "message", message }];
  for (const item of [taken ?? first, ...rest]) changes.push({ put: "item", item });
  return { changes, taken, more: rest.length > 0 };
}
