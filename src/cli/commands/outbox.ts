// `everturn outbox`: list, retry, discard.

import type { DoneReply, OutboxReply } from "../../control/protocol.ts";
import { type Context, reachGateway, show as print } from "../context.ts";
import { oneLine, table, when } from "../print.ts";

export async function list(context: Context): Promise<number> {
  const client = reachGateway(context);
  const path = (state: string) => `/api/outbox?${new URLSearchParams({ ...limitOf(context), state }).toString()}`;
  // Unless asked for one state: everything that is not delivered, which is what somebody has to look at.
  const asked = context.flags["state"];
  const states = typeof asked === "string" ? [asked] : ["open", "dead"];
  const replies = await Promise.all(states.map((state) => client.get<OutboxReply>(path(state))));
  return print(context, { items: replies.flatMap((one) => one.items) }, ({ items }) => {
    if (items.length === 0) return "Nothing waits to be sent.";
    const rows = items.map((one) => [
      one.id,
      one.state,
      one.at === null ? "" : when(one.at, context.now()),
      one.to,
      one.why === null ? oneLine(one.text) : `${oneLine(one.why)}: ${oneLine(one.text)}`,
    ]);
    return table(["ITEM", "STATE", "WHEN", "TO", "TEXT"], rows, context.output);
  });
}

export async function retry(context: Context): Promise<number> {
  const reply = await reachGateway(context).post<DoneReply>(`/api/outbox/${idOf(context)}/retry`);
  return print(context, reply, () => `Item ${context.given[0]} is sent again.`);
}

export async function discard(context: Context): Promise<number> {
  const reply = await reachGateway(context).post<DoneReply>(`/api/outbox/${idOf(context)}/discard`);
  return print(context, reply, () => `Item ${context.given[0]} is given up.`);
}

function idOf(context: Context): string {
  return encodeURIComponent(context.given[0] ?? "");
}

function limitOf(context: Context): Record<string, string> {
  const limit = context.flags["limit"];
  return typeof limit === "string" ? { limit } : {};
}
