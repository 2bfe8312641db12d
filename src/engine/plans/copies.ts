// A question that was put to several approvers is decided once: where a platform can edit, its other copies say so and lose
// their buttons. Elsewhere the reply to a later answer says what was decided.

import { gist, readDecision } from "../../core/asked/asking.ts";
import { visibleLine } from "../../core/asked/visible.ts";
import type { Entry, RoutedQuestion } from "../../core/journal.ts";
import type { Inbound } from "../../core/message.ts";
import type { OutboxItem } from "../../core/outbox.ts";
import { operatorSender } from "../access/gate.ts";
import type { Plan } from "../accepting.ts";
import type { Outlet } from "../outbox/pump.ts";
import { writeReply } from "../outbox/replies.ts";
import { type Parts, platformOf } from "../parts.ts";
import { copyId } from "../turns/routing.ts";

export async function closeCopies(
  parts: Parts,
  outlet: Outlet,
  journal: readonly Entry[],
  question: string,
  words: string,
): Promise<Plan> {
  const asked = journal.findLast(
    (entry) => (entry.type === "asked" || entry.type === "call-asked") && entry.question === question,
  );
  const { routed = [], text = "" } = asked?.type === "asked" || asked?.type === "call-asked" ? asked : {};
  const copies = await Promise.all(routed.map((one, n) => shownCopy(parts, one, copyId(question, n))));
  const closed = `${gist(text)}\n${words}`.trim();
  const edits = copies.flatMap((copy) => (copy === null ? [] : [copy]));
  const changes = edits.flatMap(({ item, edits: message }) => {
    const { session, to } = item;
    const said = { role: "notice", text: closed, parts: [closed], at: parts.world.now() } as const;
    return writeReply({ id: `${item.id}.closed`, session, turn: null, to, edits: message, ...said }, null).changes;
  });
  return {
    changes,
    stored() {
      for (const { item } of edits) outlet.poke(item.session, item.to);
    },
    refused: () => undefined,
  };
}

type Copy = { readonly item: OutboxItem; readonly edits: string };

/** The last part of a copy has the buttons. Null where it has not arrived, or cannot be edited. */
async function shownCopy(parts: Parts, { to }: RoutedQuestion, id: string): Promise<Copy | null> {
  if (platformOf(parts, to)?.drafts === undefined) return null;
  let last: OutboxItem | null = null;
  for (let n = 0; ; n++) {
    const next = await parts.store.item(`${id}.${n}`);
    if (next === null) break;
    last = next;
  }
  return last?.now.state === "delivered" ? { item: last, edits: last.now.remoteId } : null;
}

/** What was decided and by whom, in one line. */
export function decidedText(inbound: Inbound, choice: string | null): string {
  const { type } = readDecision(choice);
  if (type === "nobody") return "There was no answer in time.";
  const who = inbound.sender === operatorSender ? "the owner" : visibleLine(inbound.name ?? inbound.sender);
  return `${decisions[type]} by ${who}.`;
}

const decisions = { approve: "Allowed", always: "Allowed for that conversation", deny: "Denied" } as const;
