// Who may answer: every answer that comes in, by button, word or command, is judged here before a turn goes on with it.
// Approvals that were put to an approver elsewhere are found from the approver's own conversation.

import { type AnswerKind, type MayAnswer, mayAnswer, refusedAnswerText } from "../../core/access/answering.ts";
import type { Standing } from "../../core/access/standing.ts";
import { readDecision } from "../../core/asked/asking.ts";
import { Bug } from "../../core/ids.ts";
import { type Inbound, formatAddress } from "../../core/message.ts";
import { type OpenQuestion, type Route, route } from "../../core/route.ts";
import { sessionKey } from "../../core/session.ts";
import { standingHere } from "../access/gate.ts";
import type { Parts } from "../parts.ts";
import { actingSender } from "../turns/routing.ts";

type AnswerRoute = Route & { readonly type: "answer" };

/** `answer`: it counts. `refused`: it does not, and this is said. Else it is what the route says. */
export type Judged =
  | { readonly type: "answer"; readonly answer: AnswerRoute }
  | { readonly type: "refused"; readonly text: string }
  | { readonly type: "other"; readonly route: Exclude<Route, AnswerRoute> };

/** More open approvals than this are not looked through for what was put to an approver. */
const askedMax = 1_000;

/** What an inbound message is to the questions that are open where it was said, or that its press names. */
export async function judgeAnswer(parts: Parts, inbound: Inbound, open: readonly OpenQuestion[]): Promise<Judged> {
  let left = await withPressed(parts, inbound, open);
  let refusal: string | null = null;
  for (;;) {
    const found = route(inbound, left);
    if (found.type !== "answer")
      return refusal === null ? { type: "other", route: found } : { type: "refused", text: refusal };
    const asked = left.find(({ question }) => question === found.question);
    if (asked === undefined) throw new Bug(`an answer to ${found.question}, which is not open`);
    const may = await mayGive(parts, inbound, await standingHere(parts, inbound), asked, found.choice);
    if (may === "yes") return { type: "answer", answer: found };
    // Words that are no answer to somebody else's question are a message; a press or a decision is meant as an answer.
    if (inbound.body.kind === "answer" || asked.kind === "approval") refusal ??= refusalOf(may, asked);
    left = left.filter((one) => one !== asked);
  }
}

/** The approvals that /approve or /deny of this sender can be about; or why none of those that wait are. */
export async function decidable(
  parts: Parts,
  inbound: Inbound,
  kind: "allow" | "deny",
  open: readonly OpenQuestion[],
): Promise<readonly OpenQuestion[] | string> {
  const standing = await standingHere(parts, inbound);
  const waiting = open.filter((one) => one.kind === "approval");
  const elsewhere = standing.approves ? await routedTo(parts, inbound) : [];
  const may: OpenQuestion[] = [];
  let refused: string | null = null;
  for (const asked of [...elsewhere, ...waiting]) {
    const verdict = await mayGive(parts, inbound, standing, asked, kind === "allow" ? "approve" : "deny");
    if (verdict === "yes") may.push(asked);
    else refused = refusalOf(verdict, asked);
  }
  return may.length === 0 && refused !== null ? refused : may;
}

/** Those that were put to this conversation, and are asked in another. */
async function routedTo({ archive }: Parts, { from }: Inbound): Promise<readonly OpenQuestion[]> {
  const here = formatAddress(from);
  const all = await archive.asked(askedMax);
  return all.filter(({ routed = [] }) => routed.some(({ to }) => formatAddress(to) === here));
}

/** A press names its question; it may be open in another conversation. */
async function withPressed(
  { store }: Parts,
  { body }: Inbound,
  open: readonly OpenQuestion[],
): Promise<readonly OpenQuestion[]> {
  if (body.kind !== "answer" || open.some(({ question }) => question === body.question)) return open;
  const turn = await store.waitingFor(body.question);
  const session = turn === null ? null : await store.session(turn.session);
  if (session === null) return open;
  const found = (await store.questionsAt(session.key)).find(({ question }) => question === body.question);
  return found === undefined ? open : [...open, found];
}

async function mayGive(
  { store }: Parts,
  inbound: Inbound,
  { approves, party }: Standing,
  asked: OpenQuestion,
  choice: string | null,
): Promise<MayAnswer> {
  const turn = await store.turn(asked.turn);
  const session = turn === null ? null : await store.session(turn.session);
  if (turn === null || session === null) return "not-theirs";
  const requester = someoneOf(actingSender(turn.input));
  const { kind, needsAdmin = false } = asked;
  return mayAnswer(
    { kind, requester, conversation: session.key, needsAdmin },
    {
      ...someoneOf(inbound),
      approves,
      isAdmin: party !== "person",
      conversation: sessionKey(inbound.from),
      isGroup: inbound.group !== undefined,
    },
    kind === "approval" ? kindOf(choice) : "words",
  );
}

function someoneOf({ from, sender }: Inbound) {
  return { platform: from.platform, account: from.account, sender };
}

function kindOf(choice: string | null): AnswerKind {
  const { type } = readDecision(choice);
  return type === "approve" || type === "always" ? "allow" : "deny";
}

function refusalOf(why: Exclude<MayAnswer, "yes">, { routed = [] }: OpenQuestion): string {
  return refusedAnswerText(
    why,
    routed.map(({ name }) => name),
  );
}
