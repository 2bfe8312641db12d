// An approval that its requester may not give goes to the approvers: the same question in their conversations, written in
// the commit that asks it. The requester reads who was asked and can only withdraw it.

import { refusedAnswerText } from "../../core/access/answering.ts";
import { mayAllow } from "../../core/access/standing.ts";
import { answerLine } from "../../core/asked/asking.ts";
import { visibleLine } from "../../core/asked/visible.ts";
import type { Change } from "../../core/change.ts";
import type { Asked, CallAsked, RoutedQuestion } from "../../core/journal.ts";
import { limits } from "../../core/limits.ts";
import { type Inbound, formatAddress } from "../../core/message.ts";
import { hintsFor } from "../../core/notice.ts";
import { approverRoutes, isWithApprover } from "../access/approvers.ts";
import { standingHere } from "../access/gate.ts";
import { writeReply } from "../outbox/replies.ts";
import { type Parts, platformOf } from "../parts.ts";
import type { Work } from "./work.ts";

export type Routing = {
  readonly routed: readonly RoutedQuestion[];
  /** What the requester reads, and may choose from. */
  readonly text: string;
  readonly choices: readonly string[];
  readonly changes: readonly Change[];
  /** To be called when the commit stands. */
  readonly send: () => void;
};

/** The id of the outbox items of one copy begins with this. */
export function copyId(question: string, n: number): string {
  return `${question}.to${n}`;
}

/** Null where the requester decides, or nothing is decided. */
export async function routeApproval(work: Work, asked: Asked | CallAsked): Promise<Routing | null> {
  const { parts, outlet, running } = work;
  const { input } = running.turn;
  if (asked.kind !== "approval") return null;
  const needsAdmin = asked.type === "call-asked" && asked.needsAdmin === true;
  if (mayAllow(await standingHere(parts, actingSender(input)), needsAdmin)) return null;
  const { address, key } = running.session;
  // A reminder of an earlier version names no maker; its reader there may decide.
  if (isUnsigned(input) && (await isWithApprover(parts, address, needsAdmin))) return null;
  // A person who asks again and again cannot fill the chats of the approvers.
  const before = (await parts.store.questionsAt(key)).filter(({ routed = [] }) => routed.length > 0).length;
  const routes = before < limits.routedMax ? await approverRoutes(parts, address, needsAdmin) : [];
  const { question: id, choices } = asked;
  const text = `${whoAsks(input)} asks for something that needs an ${needsAdmin ? "admin" : "approver"}.\n\n${asked.text}`;
  const at = parts.world.now();
  const changes = routes.flatMap(({ to, session }, n) => {
    const shown = { role: "notice", text, parts: partsOf(parts, to, text), hints: hintsFor(to), at } as const;
    const question = { id, choices, kind: "approval" } as const;
    return writeReply({ id: copyId(id, n), session, turn: null, to, question, ...shown }, null).changes;
  });
  return {
    routed: routes.map(({ to, name }) => ({ to, name })),
    text: requesterText(
      asked.text,
      routes.map(({ name }) => name),
      needsAdmin,
    ),
    // In a group an approver may be present.
    choices: input.group === undefined ? choices.filter((choice) => choice === "deny") : choices,
    changes,
    send() {
      for (const { session, to } of routes) outlet.poke(session, to);
    },
  };
}

function partsOf(parts: Parts, to: RoutedQuestion["to"], text: string): readonly string[] {
  return platformOf(parts, to)?.parts(text) ?? [text];
}

function isUnsigned({ body, maker }: Inbound): boolean {
  return body.kind === "timer" && maker === undefined;
}

/** Whose standing counts: of a reminder, its maker. */
export function actingSender(input: Inbound): Inbound {
  return input.maker === undefined ? input : { ...input, sender: input.maker.sender };
}

function requesterText(text: string, names: readonly string[], needsAdmin: boolean): string {
  const question = text.endsWith(answerLine) ? text.slice(0, -answerLine.length).trimEnd() : text;
  const why = refusedAnswerText(needsAdmin ? "no-admin" : "no-approver", names);
  return `${question}\n\n${why} /deny withdraws it.`;
}

function whoAsks({ sender, name, from, group, maker }: Inbound): string {
  const who = visibleLine(name ?? maker?.sender ?? sender);
  const where = group?.title === undefined ? formatAddress(from) : `${group.title} (${formatAddress(from)})`;
  return `${who} at ${visibleLine(where)}`;
}
