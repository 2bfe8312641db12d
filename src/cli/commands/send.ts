// `everturn send`: one message out, through the outbox.

import { randomUUID } from "node:crypto";
import { text as readAll } from "node:stream/consumers";
import type { SendReply, SendRequest } from "../../control/protocol.ts";
import { type Context, reachGateway, show, textFlag } from "../context.ts";

export async function send(context: Context): Promise<number> {
  const [to = "", ...words] = context.given;
  const text = words.length === 1 && words[0] === "-" ? await readAll(process.stdin) : words.join(" ");
  const key = textFlag(context, "key") ?? randomUUID();
  const reply = await reachGateway(context).post<SendReply>("/api/send", { to, text, key } satisfies SendRequest);
  return show(context, { ...reply, key }, ({ status }) =>
    status === "posted" ? `On its way to ${to}.` : "A message with this key was sent before; nothing was sent now.",
  );
}
