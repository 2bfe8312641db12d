// `everturn send`: one message out, through the outbox. The message is accepted first and its delivery asked for in a second
// request under the same key, so a gateway that ends during the wait cannot make an accepted message look lost.

import { randomUUID } from "node:crypto";
import { text as readAll } from "node:stream/consumers";
import type { Client } from "../../control/client.ts";
import type { SendReply, SendRequest } from "../../control/protocol.ts";
import { type Context, reachGateway, show, textFlag } from "../context.ts";

const waitMs = 10_000;

export async function send(context: Context): Promise<number> {
  const [to = "", ...words] = context.given;
  const text = words.length === 1 && words[0] === "-" ? await readAll(process.stdin) : words.join(" ");
  const key = textFlag(context, "key") ?? randomUUID();
  const gateway = reachGateway(context);
  const request = { to, text, key } satisfies SendRequest;
  const { status } = await gateway.post<SendReply>("/api/send", request);
  const delivery = await deliveryOf(gateway, request);
  const reply = { status, ...(delivery === undefined ? {} : { delivery }) } satisfies SendReply;
  show(context, { ...reply, key }, () => sentText(to, key, reply));
  return exitCodeOf(reply);
}

/** Undefined where the gateway cannot say: the message is in its outbox already, so no failure here is one of the message. */
async function deliveryOf(gateway: Client, request: SendRequest): Promise<SendReply["delivery"]> {
  try {
    return (await gateway.post<SendReply>("/api/send", { ...request, waitMs } satisfies SendRequest)).delivery;
  } catch {
    return undefined;
  }
}

/** A message that waits for its platform is safe; one that needs a person is a failure. */
export function exitCodeOf({ delivery }: SendReply): number {
  return delivery === undefined || delivery.state === "delivered" || delivery.state === "waiting" ? 0 : 1;
}

export function sentText(to: string, key: string, { status, delivery }: SendReply): string {
  const outcome = delivery === undefined ? [] : [outcomeText(to, delivery)];
  if (status === "posted") return outcome[0] ?? acceptedText(to, key);
  return ["A message with this key was sent before; nothing was sent now.", ...outcome].join(" ");
}

function acceptedText(to: string, key: string): string {
  return `Accepted for ${to} and will be sent, but the gateway did not say whether it is delivered yet. Do not send it again; the same command with \`--key ${key}\` shows its state and sends nothing twice.`;
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
