// What may be asked about sessions, turns and the outbox. Reads come from the archive.

import type { SessionId, TurnId } from "../../core/ids.ts";
import { Fault } from "../../core/fault.ts";
import { type HeldAnswers, heldAnswers } from "../../core/held.ts";
import type { Archive, ItemFilter, Store, TurnFilter } from "../../ports/store.ts";
import type { Gateway } from "../../ports/gateway.ts";
import type { Turn } from "../../core/turn.ts";
import { BadRequest } from "../faults.ts";
import type {
  OutboxReply,
  ProbeReply,
  SearchReply,
  SessionMessagesReply,
  SessionReply,
  SessionsReply,
  StatusReply,
  TurnReply,
  TurnView,
  TurnsReply,
} from "../protocol.ts";
import { toItem, toSession, toSessionPage, toStatus, toTurn } from "../views.ts";
import { eventStream } from "./events.ts";
import { limitOf, listMax, oneOf, wholeOf } from "./input.ts";
import { type ApiRoute, json, redactedJson } from "./route.ts";
import { toUsed, usedIn } from "./used.ts";

const turnStates = ["queued", "running", "waiting", "parked", "restarting", "done", "open"] as const;
const itemStates = ["pending", "sending", "in-doubt", "delivered", "dead", "open"] as const;

/** How many lives of the gateway its status tells. */
const bootsShown = 5;

const read = { method: "GET", role: "owner", body: "none" } as const;
const viewOf = (gateway: Gateway) => {
  const { running } = gateway.status();
  return (turn: Turn): TurnView => toTurn(turn, running);
};

export const reads: readonly ApiRoute[] = [
  {
    ...read,
    path: "/metrics",
    handle: async (_, { metrics }) =>
      new Response(await metrics(), {
        headers: { "content-type": "text/plain; version=0.0.4", "cache-control": "no-store" },
      }),
  },
  {
    ...read,
    path: "/api/status",
    async handle(_, { gateway, archive, servers, facts, now, draining, redact }) {
      const reply: StatusReply = {
        ...toStatus(gateway.status(), await archive.counts(), facts(), now()),
        held: await heldIn(archive),
        draining: draining(),
        servers: servers.list(),
        boots: await archive.lastBoots(bootsShown),
      };
      return redactedJson(reply, redact);
    },
  },
  {
    ...read,
    path: "/api/probe",
    handle: async (_, { gateway, redact }) =>
      redactedJson({ platforms: await gateway.probe() } satisfies ProbeReply, redact),
  },
  {
    ...read,
    path: "/api/sessions",
    async handle({ query }, { archive }) {
      const platform = query.get("platform");
      const filter = { limit: limitOf(query.get("limit"), 50), ...(platform ? { platform } : {}) };
      return json({ sessions: (await archive.sessions(filter)).map(toSession) } satisfies SessionsReply);
    },
  },
  {
    ...read,
    path: "/api/sessions/search",
    async handle({ query }, { archive }) {
      const text = query.get("q")?.trim() ?? "";
      if (text === "") throw new BadRequest("Give the words to search for, as `q`.");
      const messages = await archive.search(text, limitOf(query.get("limit"), 50));
      return json({ messages } satisfies SearchReply);
    },
  },
  {
    ...read,
    path: "/api/sessions/:id",
    async handle({ params, query }, { gateway, store, archive }) {
      const session = await sessionOf(store, params["id"]);
      const limit = limitOf(query.get("limit"), 50);
      const [messages, turns, used] = await Promise.all([
        archive.history(session.id, limit),
        archive.turns({ session: session.id, limit }),
        archive.usage({ session: session.id }),
      ]);
      return json({
        session: toSession(session),
        used: toUsed(used),
        messages,
        turns: turns.map(viewOf(gateway)),
      } satisfies SessionReply);
    },
  },
  {
    ...read,
    path: "/api/sessions/:id/messages",
    async handle({ params, query }, { store, archive }) {
      const session = await sessionOf(store, params["id"]);
      const limit = limitOf(query.get("limit"), 500);
      const page = await archive.messagesAfter(session.address, wholeOf(query.get("after"), "after") ?? 0, limit);
      return json(toSessionPage(page, session.id, limit) satisfies SessionMessagesReply);
    },
  },
  {
    ...read,
    path: "/api/turns",
    async handle({ query }, { gateway, archive }) {
      const state = oneOf(turnStates, query.get("state"), "state");
      const session = query.get("session") as SessionId | null;
      const limit = limitOf(query.get("limit"), 50);
      const filter: TurnFilter = { limit, ...(state ? { state } : {}), ...(session ? { session } : {}) };
      return json({ turns: (await archive.turns(filter)).map(viewOf(gateway)) } satisfies TurnsReply);
    },
  },
  {
    ...read,
    path: "/api/turns/:id",
    async handle({ params }, { gateway, store, archive }) {
      const turn = await turnOf(store, params["id"]);
      const [entries, items, session] = await Promise.all([
        archive.entries(turn.id),
        archive.items({ turn: turn.id, limit: listMax }),
        store.session(turn.session),
      ]);
      return json({
        turn: viewOf(gateway)(turn),
        session: session === null ? null : toSession(session),
        used: usedIn(entries),
        entries,
        items: items.map(toItem),
      } satisfies TurnReply);
    },
  },
  {
    ...read,
    path: "/api/outbox",
    async handle({ query }, { archive }) {
      const state = oneOf(itemStates, query.get("state"), "state");
      const filter: ItemFilter = { limit: limitOf(query.get("limit"), 50), ...(state ? { state } : {}) };
      return json({ items: (await archive.items(filter)).map(toItem) } satisfies OutboxReply);
    },
  },
  { ...read, path: "/api/events", handle: (_, { gateway, closing }) => eventStream(gateway, closing) },
];

/** More items than are held at a time. */
const heldMax = 1_000;

export async function heldIn(archive: Pick<Archive, "items">): Promise<readonly HeldAnswers[]> {
  return heldAnswers(await archive.items({ state: "in-doubt", limit: heldMax }));
}

export async function sessionOf(store: Pick<Store, "session">, id = "") {
  const found = await store.session(id as SessionId);
  if (found === null) throw new Fault("not-found", `There is no session ${id}; \`everturn sessions list\` shows them.`);
  return found;
}

export async function turnOf(store: Pick<Store, "turn">, id = "") {
  const found = await store.turn(id as TurnId);
  if (found === null) throw new Fault("not-found", `There is no turn ${id}; \`everturn turns list\` shows them.`);
  return found;
}
