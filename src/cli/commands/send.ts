// `everturn send`: one message out, through the outbox. Waits a moment, so that it can say what became of the message.

import { randomUUID } from "node:crypto";
import { text as readAll } from "node:stream/consumers";
import type { SendReply, SendRequest } from "../../control/protocol.ts";
import { type Context, reachGateway, show, textFlag } from "../context.ts";

const waitMs = 10_000;

export async function send(context: Context): Promise<number> {
  const [to = "", ...words] = context.given;
  const text = words.length === 1 && words[0] === "-" ? await readAll(process.stdin) : words.join(" ");
  const key = textFlag(context, "key") ?? randomUUID();
  const request = { to, text, key, waitMs } satisfies SendRequest;
  const reply = await reachGateway(context).post<SendReply>("/api/send", request);
  show(context, { ...reply, key }, () => sentText(to, reply));
  return exitCodeOf(reply);
}

/** A message that waits for its platform is safe; one that needs a person is a failure. */
export function exitCodeOf({ delivery }: SendReply): number {
  return delivery === undefined || delivery.state === "delivered" || delivery.state === "waiting" ? 0 : 1;
}

export function sentText(to: string, { status, delivery }: SendReply): string {
  const outcome = delivery === undefined ? [] : [outcomeText(to, delivery)];
  if (status === "posted") return outcome[0] ?? `Accepted for ${to}.`;
  return ["A message with this key was sent before; nothing was sent now.", ...outcome].join(" ");
}

function outcomeText(to: string, { state, why }: NonNullable<SendReply["delivery"]>): string {
  const [platform = to] = to.split("/");
  const reason = why === null ? `${platform} has not answered yet` : why.replace(/\.$/, "");
  switch (state) {
    case "delivered":
      return `Delivered to ${to}.`;
    case "waiting":
      return `Queued for ${to}: ${reason}. It is sent as soon as ${platform} accepts it; \`everturn outbox list\` shows it.`;
    case "denied":
      return `Not sent to ${to}: ${reason}. It is sent once that is corrected; \`everturn outbox list\` shows it.`;
    case "refused":
      return `Not sent to ${to}: ${reason}. Check the address: \`everturn sessions list\` shows those of conversations.`;
    case "uncertain":
      return `It may not have arrived at ${to}: ${reason}. \`everturn outbox list\` shows it; \`everturn outbox retry\` sends it again.`;
  }
}
