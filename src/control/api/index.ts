// The control protocol below /api: one route per question or order. Reads come from the archive, orders go to the
// gateway. Who may call is decided before a request gets here.

import { Hono } from "hono/tiny";
import type { ItemId, SessionId, TurnId } from "../../core/ids.ts";
import { Fault } from "../../core/fault.ts";
import { limits } from "../../core/limits.ts";
import { formatAddress, parseAddress } from "../../core/message.ts";
import type { Turn } from "../../core/turn.ts";
import type { Gateway } from "../../ports/gateway.ts";
import type { Archive, ItemFilter, Store, TurnFilter } from "../../ports/store.ts";
import { eventStream } from "./events.ts";
import { BadRequest, notFound, refusalOf, refuse } from "../faults.ts";
import type {
  DoneReply,
  Draining,
  OutboxReply,
  ProbeReply,
  RestartReply,
  RestartRequest,
  RetryReply,
  SearchReply,
  SendReply,
  SessionMessagesReply,
  SessionReply,
  SessionsReply,
  StatusReply,
  TurnReply,
  TurnView,
  TurnsReply,
} from "../protocol.ts";
import { toUsed, usedIn } from "./used.ts";
import { type ProcessFacts, toItem, toSession, toSessionPage, toStatus, toTurn } from "../views.ts";
import { addAgent } from "./agent.ts";
import { addPairing } from "./pairing.ts";
import { fieldsOf, limitOf, listMax, oneOf, wholeOf } from "./input.ts";

export type ApiParts = {
  readonly gateway: Gateway;
  readonly store: Pick<Store, "session" | "turn" | "item">;
  readonly archive: Archive;
  readonly now: () => number;
  readonly facts: () => ProcessFacts;
  readonly draining: () => Draining | null;
  /** Ends when the server closes: long answers must not hold the stop. */
  readonly closing: AbortSignal;
};

const turnStates = ["queued", "running", "waiting", "parked", "restarting", "done", "open"] as const;
const itemStates = ["pending", "sending", "in-doubt", "delivered", "dead", "open"] as const;
const bodyMax = 4 * 1024 * 1024;

/** How many lives of the gateway its status tells. */
const bootsShown = 5;

export function api(parts: ApiParts): (request: Request) => Response | Promise<Response> {
  const app = new Hono().basePath("/api");
  addReads(app, parts);
  addOrders(app, parts);
  addAgent(app, parts);
  addPairing(app, parts);
  app.notFound((c) => refuse(notFound(`There is nothing at ${c.req.method} ${c.req.path}.`)));
  app.onError((error) => {
    if (error instanceof Fault) return refuse(refusalOf(error));
    if (error instanceof BadRequest) return refuse({ status: 400, code: "bad-request", message: error.message });
    throw error;
  });
  return (request) => app.fetch(request);
}

function addReads(app: Hono, { gateway, store, archive, now, facts, draining, closing }: ApiParts): void {
  const viewOf = (turn: Turn): TurnView => toTurn(turn, gateway.status().running);
  app.get("/status", async (c) =>
    c.json({
      ...toStatus(gateway.status(), await archive.counts(), facts(), now()),
      draining: draining(),
      boots: await archive.lastBoots(bootsShown),
    } satisfies StatusReply),
  );
  app.get("/probe", async (c) => c.json({ platforms: await gateway.probe() } satisfies ProbeReply));
  app.get("/sessions", async (c) => {
    const platform = c.req.query("platform");
    const filter = { limit: limitOf(c.req.query("limit"), 50), ...(platform ? { platform } : {}) };
    return c.json({ sessions: (await archive.sessions(filter)).map(toSession) } satisfies SessionsReply);
  });
  app.get("/sessions/search", async (c) => {
    const text = c.req.query("q")?.trim() ?? "";
    if (text === "") throw new BadRequest("Give the words to search for, as `q`.");
    const messages = await archive.search(text, limitOf(c.req.query("limit"), 50));
    return c.json({ messages } satisfies SearchReply);
  });
  app.get("/sessions/:id", async (c) => {
    const session = await sessionOf(store, c.req.param("id"));
    const limit = limitOf(c.req.query("limit"), 50);
    const [messages, turns, used] = await Promise.all([
      archive.history(session.id, limit),
      archive.turns({ session: session.id, limit }),
      archive.usage({ session: session.id }),
    ]);
    return c.json({
      session: toSession(session),
      used: toUsed(used),
      messages,
      turns: turns.map(viewOf),
    } satisfies SessionReply);
  });
  app.get("/sessions/:id/messages", async (c) => {
    const session = await sessionOf(store, c.req.param("id"));
    const limit = limitOf(c.req.query("limit"), 500);
    const page = await archive.messagesAfter(session.address, wholeOf(c.req.query("after"), "after") ?? 0, limit);
    return c.json(toSessionPage(page, session.id, limit) satisfies SessionMessagesReply);
  });
  app.get("/turns", async (c) => {
    const state = oneOf(turnStates, c.req.query("state"), "state");
    const session = c.req.query("session") as SessionId | undefined;
    const limit = limitOf(c.req.query("limit"), 50);
    const filter: TurnFilter = { limit, ...(state ? { state } : {}), ...(session ? { session } : {}) };
    return c.json({ turns: (await archive.turns(filter)).map(viewOf) } satisfies TurnsReply);
  });
  app.get("/turns/:id", async (c) => {
    const turn = await turnOf(store, c.req.param("id"));
    const [entries, items, session] = await Promise.all([
      archive.entries(turn.id),
      archive.items({ turn: turn.id, limit: listMax }),
      store.session(turn.session),
    ]);
    const shown = session === null ? null : toSession(session);
    const used = usedIn(entries);
    return c.json({ turn: viewOf(turn), session: shown, used, entries, items: items.map(toItem) } satisfies TurnReply);
  });
  app.get("/outbox", async (c) => {
    const state = oneOf(itemStates, c.req.query("state"), "state");
    const filter: ItemFilter = { limit: limitOf(c.req.query("limit"), 50), ...(state ? { state } : {}) };
    return c.json({ items: (await archive.items(filter)).map(toItem) } satisfies OutboxReply);
  });
  app.get("/events", () => eventStream(gateway, closing));
}

function addOrders(app: Hono, { gateway, store, archive }: ApiParts): void {
  const done = { done: true } satisfies DoneReply;
  app.post("/sessions/:id/reset", async (c) => {
    await gateway.reset((await sessionOf(store, c.req.param("id"))).id);
    return c.json(done);
  });
  app.post("/turns/:id/cancel", async (c) => {
    await gateway.cancel((await turnOf(store, c.req.param("id"))).id);
    return c.json(done);
  });
  app.post("/turns/:id/retry", async (c) => {
    const { id } = await turnOf(store, c.req.param("id"));
    await gateway.retry(id);
    const again = (await archive.turns({ limit: 50 })).find((one) => one.input.key.startsWith(`=retry:${id}:`));
    return c.json({ ...done, turn: again?.id ?? null } satisfies RetryReply);
  });
  app.post("/outbox/:id/retry", async (c) => {
    await gateway.resend(await itemOf(store, c.req.param("id")));
    return c.json(done);
  });
  app.post("/outbox/:id/discard", async (c) => {
    await gateway.discard(await itemOf(store, c.req.param("id")));
    return c.json(done);
  });
  app.post("/restart", async (c) => {
    const by = restartBy(await c.req.text());
    const answer = await gateway.restart({ by, reason: `it was asked to restart ${askers[by]}` });
    if (answer !== "restarting") throw new Fault("not-possible", answer.refused);
    return c.json({ restarting: true } satisfies RestartReply);
  });
  app.post("/resume", (c) => {
    gateway.leaveSafeMode("its owner wants another try");
    return c.json(done);
  });
  app.post("/send", async (c) => {
    if (Number(c.req.header("content-length") ?? Number.POSITIVE_INFINITY) > bodyMax)
      throw new Fault("too-large", `The body must have a Content-Length of at most ${bodyMax} bytes.`);
    const { to, text, key } = readSend(await c.req.text());
    const address = parseAddress(to);
    if (address === null) throw new BadRequest(`"${to}" is not an address. ${addressTodo}`);
    const known = gateway
      .status()
      .platforms.some((one) => one.platform === address.platform && one.account === address.account);
    if (!known) return refuse(notFound(`There is no platform for ${formatAddress(address)}. ${addressTodo}`));
    return c.json({ status: await gateway.post(address, text, key) } satisfies SendReply);
  });
}

const addressTodo =
  "An address is platform/account/chat, such as web/local/my-chat; `everturn sessions list` shows those of conversations.";

const askers = {
  cli: "from the command line",
  dashboard: "from the dashboard",
  tool: "by a command of one of its tools",
} as const satisfies Record<RestartRequest["by"], string>;

function restartBy(body: string): RestartRequest["by"] {
  const { by } = fieldsOf(body === "" ? "{}" : body);
  const names = Object.keys(askers) as (keyof typeof askers)[];
  return oneOf(names, typeof by === "string" ? by : undefined, "by") ?? "cli";
}

function readSend(body: string): { readonly to: string; readonly text: string; readonly key: string } {
  const { to, text, key } = fieldsOf(body);
  if (typeof to !== "string" || typeof text !== "string" || typeof key !== "string")
    throw new BadRequest("Give `to`, `text` and `key` as strings.");
  if (text.trim() === "") throw new BadRequest("The text is empty; there is nothing to send.");
  if (text.length > limits.textMax)
    throw new Fault("too-large", `The text is longer than ${limits.textMax} characters.`);
  if (!/^[\w.:-]{1,128}$/.test(key)) throw new BadRequest("`key` must be 1 to 128 letters, digits or . _ : -");
  return { to, text, key };
}

async function sessionOf(store: ApiParts["store"], id: string) {
  const found = await store.session(id as SessionId);
  if (found === null) throw new Fault("not-found", `There is no session ${id}; \`everturn sessions list\` shows them.`);
  return found;
}

async function turnOf(store: ApiParts["store"], id: string) {
  const found = await store.turn(id as TurnId);
  if (found === null) throw new Fault("not-found", `There is no turn ${id}; \`everturn turns list\` shows them.`);
  return found;
}

async function itemOf(store: ApiParts["store"], id: string): Promise<ItemId> {
  const found = await store.item(id);
  if (found === null) throw new Fault("not-found", `There is no item ${id}; \`everturn outbox list\` shows them.`);
  return found.id;
}
