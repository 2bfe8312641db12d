// `everturn gateway status`: what the running gateway does.

import { Fault } from "../../core/fault.ts";
import type { StatusReply } from "../../control/protocol.ts";
import { type Context, reachGateway, show } from "../context.ts";
import { facts, lasting, megabytes, paint, table, when } from "../print.ts";

export async function status(context: Context): Promise<number> {
  try {
    const client = reachGateway(context);
    const reply = await client.get<StatusReply>("/api/status");
    return show(context, { ...reply, url: client.url, link: client.link }, (value) => toText(context, value));
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    if (context.flags["json"] === true) context.output.out(JSON.stringify({ state: "stopped", reason: error.message }));
    throw error;
  }
}

function toText(context: Context, status: StatusReply & { readonly link: string }): string {
  const { output } = context;
  const { turns, items } = status.counts;
  const colour = status.state === "running" ? "green" : "yellow";
  const state = paint(output, colour, status.state) + (status.reason === null ? "" : `: ${status.reason}`);
  const taken = status.recovered.turns + status.recovered.items > 0;
  const lines = facts(
    [
      ["state", state],
      ["web chat", status.link],
      [
        "version",
        `${status.version}, pid ${status.pid}, up ${lasting(status.uptimeSeconds * 1000)}, ${megabytes(status.memoryBytes)}`,
      ],
      ["turns", `${turns.running} running, ${turns.queued} queued, ${turns.waiting} waiting, ${turns.parked} parked`],
      ["outbox", `${items.pending + items.sending} to send, ${items["in-doubt"]} in doubt, ${items.dead} dead`],
      ["platforms", status.platforms.map(platformText).join(", ") || "none"],
      ...(taken
        ? ([
            [
              "took over",
              `unfinished turns: ${status.recovered.turns}, replies: ${status.recovered.items}, from the last run`,
            ],
          ] as const)
        : []),
    ],
    output,
  );
  if (status.running.length === 0) return lines;
  const now = context.now();
  const rows = status.running.map((one) => [one.turn, one.session, String(one.steps), when(one.startedAt, now)]);
  return `${lines}\n\n${table(["TURN", "SESSION", "STEPS", "STARTED"], rows, output)}`;
}

function platformText(one: StatusReply["platforms"][number]): string {
  return `${one.platform} ${one.up ? "up" : `down${one.why === null ? "" : ` (${one.why})`}`}`;
}
