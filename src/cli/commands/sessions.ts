// `everturn sessions`: list, show, search, reset, export.

import type { Client } from "../../control/client.ts";
import { codeBeginning } from "../../core/access/pairing.ts";
import { Fault } from "../../core/fault.ts";
import type { Message } from "../../core/message.ts";
import type {
  DoneReply,
  SearchReply,
  SessionMessagesReply,
  SessionReply,
  SessionView,
  SessionsReply,
  StatusReply,
} from "../../control/protocol.ts";
import { type Context, queryOf, reachGateway, show as print, textFlag } from "../context.ts";
import { spentText } from "../agent/spent.ts";
import { messageText as wordsOf } from "../talk/piped.ts";
import { facts, oneLine, paint, table, when } from "../print.ts";

export async function list(context: Context): Promise<number> {
  const client = reachGateway(context);
  const reply = await client.get<SessionsReply>(`/api/sessions${queryOf(context, ["platform", "limit"])}`);
  const platform = textFlag(context, "platform");
  if (reply.sessions.length === 0 && platform !== undefined) await checkPlatform(client, platform);
  return print(context, reply, ({ sessions }) => {
    if (sessions.length === 0) return "No conversations yet.";
    const rows = sessions.map((one) => [one.id, one.address, when(one.activeAt, context.now()), titleOf(one)]);
    return table(["SESSION", "ADDRESS", "ACTIVE", "TITLE"], rows, context.output);
  });
}

/** Nothing found at a platform that there is not is a slip of the pen. */
async function checkPlatform(client: Client, name: string): Promise<void> {
  const { platforms } = await client.get<StatusReply>("/api/status");
  const known = platforms.map((one) => one.platform);
  if (known.includes(name)) return;
  throw new Fault("not-found", `There is no platform "${name}"; there are ${known.join(", ") || "none"}.`);
}

export async function show(context: Context): Promise<number> {
  const path = `/api/sessions/${idOf(context)}${queryOf(context, ["limit"])}`;
  const reply = await reachGateway(context).get<SessionReply>(path);
  return print(context, reply, ({ session, used, messages, turns }) => {
    const now = context.now();
    const spent = spentText(used.total);
    const head = facts(
      [
        ["session", session.id],
        ["address", session.address],
        ["created", when(session.createdAt, now)],
        ["active", when(session.activeAt, now)],
        ...(session.endedAt === null ? [] : ([["ended", when(session.endedAt, now)]] as const)),
        [
          "model",
          session.model ?? (used.models[0] === undefined ? "as configured" : `${used.models[0]}, as configured`),
        ],
        ...(spent === null ? [] : ([["used", spent]] as const)),
        [
          "turns",
          turns
            .map((one) => `${one.id} ${one.outcome ?? one.state}`)
            .slice(0, 5)
            .join(", ") || "none",
        ],
      ],
      context.output,
    );
    return [head, ...messages.map((one) => messageText(context, one))].join("\n\n");
  });
}

export async function search(context: Context): Promise<number> {
  const query = new URLSearchParams({ q: context.given.join(" ") });
  const limit = context.flags["limit"];
  if (typeof limit === "string") query.set("limit", limit);
  const reply = await reachGateway(context).get<SearchReply>(`/api/sessions/search?${query.toString()}`);
  return print(context, reply, ({ messages }) => {
    if (messages.length === 0) return "Nothing found.";
    const rows = messages.map((one) => [one.session, when(one.at, context.now()), one.role, oneLine(one.text)]);
    return table(["SESSION", "WHEN", "WHO", "TEXT"], rows, context.output);
  });
}

export async function reset(context: Context): Promise<number> {
  const id = idOf(context);
  const reply = await reachGateway(context).post<DoneReply>(`/api/sessions/${id}/reset`);
  return print(context, reply, () => `Session ${id} has ended; the conversation starts over with an empty memory.`);
}

/** Reads page by page, so that a long transcript needs no more memory than a short one. */
export async function exportLines(context: Context): Promise<number> {
  const client = reachGateway(context);
  const path = `/api/sessions/${idOf(context)}/messages`;
  for (let after: number | null = 0; after !== null; ) {
    const page: SessionMessagesReply = await client.get<SessionMessagesReply>(`${path}?after=${after}&limit=500`);
    for (const message of page.messages) context.output.out(JSON.stringify(message));
    after = page.next;
  }
  return 0;
}

function idOf(context: Context): string {
  return encodeURIComponent(context.given[0] ?? "");
}

export function titleOf({ endedAt, title = "" }: Pick<SessionView, "endedAt" | "title">): string {
  // Nothing else was said to somebody whom nobody has let in.
  const words = title.startsWith(codeBeginning) ? "(a stranger who asked to be let in)" : oneLine(title);
  return `${endedAt === null ? "" : "(ended) "}${words}`;
}

function messageText(context: Context, message: Message): string {
  const who =
    message.role === "user" ? paint(context.output, "cyan", "you") : paint(context.output, "green", message.role);
  return `${who} ${paint(context.output, "dim", when(message.at, context.now()))}\n${wordsOf(message)}`;
}
