// A homeserver for one account of ours and any number of people, written against the client-server API: /sync with tokens
// and long polls, gaps in timelines with the history to fill them, transaction ids, edits, threads, media, invitations.
// What people did and see lives here, outside of any gateway. Faults are ordered by the test, one at a time.

import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { Limiter } from "./limits.ts";
import { type Content, type FakeEvent, found, shownIn } from "./matrix-events.ts";

/** `dropped-after`: it happened, and nobody is told. `html`: a proxy speaks instead. */
export type MatrixFailure = "rate" | "server" | "dropped-before" | "dropped-after" | "html" | "denied";

export type FakeMatrix = {
  readonly url: string;
  readonly user: string;
  readonly token: string;
  /** A person writes; the id of the event. */
  write(room: string, sender: string, text: string, more?: Content): string;
  event(room: string, sender: string, type: string, content: Content): string;
  /** The same event is told again by the next answer, as a server does after a rollback of its own. */
  repeat(event: string): void;
  makeRoom(room: string, people: readonly string[], invited?: boolean): void;
  /** Whether our account has joined it. */
  isIn(room: string): boolean;
  /** What a room shows now: our messages with their last edit, without what was taken away. */
  shown(room: string): readonly { readonly id: string; readonly text: string; readonly content: Content }[];
  readonly events: readonly FakeEvent[];
  /**
   * Whether the account has taken note of an event: it asked for what comes after it. Refused: it asks for it once more, or
   * nobody listens.
   */
  receipt(event: string, isListening: () => boolean): Promise<"acknowledged" | "refused">;
  /** Resolves when our account follows the stream; what was written before its first time is not for it. */
  readonly followed: Promise<void>;
  /** How many events a timeline may tell at once; the rest is a gap. */
  timelineMax: number;
  failNext(kind: MatrixFailure, what?: RegExp): void;
  /** Nobody answers until it comes back, at the same address. */
  goDown(): Promise<void>;
  comeBack(): Promise<void>;
  /** Requests to send an event so far, repeats too. */
  sends: number;
  /** Transaction ids of so far are unknown from now on, as they are after a while. */
  forgetTransactions(): void;
  addMedia(bytes: Uint8Array): string;
  readonly media: ReadonlyMap<string, Uint8Array>;
  close(): Promise<void>;
};

const user = "@bot:fake.test";
const token = "matrix-token-for-tests";

/** What became of an event: told by the answer that has this token, then taken note of. */
type Known = number | "acknowledged";
type Room = { readonly people: Set<string>; invited: boolean; joinedAt: number };

export type MatrixOptions = {
  /** How fast messages may be sent; absent: as fast as they come. */
  readonly limits?: Limiter;
};

export async function fakeMatrix({ limits }: MatrixOptions = {}): Promise<FakeMatrix> {
  const events: FakeEvent[] = [];
  const rooms = new Map<string, Room>();
  const transactions = new Map<string, string>();
  const media = new Map<string, Uint8Array>();
  const failures: { readonly kind: MatrixFailure; readonly what: RegExp }[] = [];
  const polls = new Set<() => void>();
  const again = new Set<string>();
  const receipts = new Map<string, Known>();
  /** Those that were asked for once more. */
  const refused = new Set<string>();
  let isDenied = false;
  const followed = Promise.withResolvers<void>();
  let port = 0;
  let server: Server;

  function add(room: string, sender: string, type: string, content: Content, txn?: string): string {
    const n = events.length + 1;
    const event_id = `$e${n}`;
    const unsigned = txn === undefined ? {} : { unsigned: { transaction_id: txn } };
    events.push({ n, room, event_id, type, sender, origin_server_ts: Date.now(), content, ...unsigned });
    for (const wake of polls) wake();
    return event_id;
  }

  const self: FakeMatrix = {
    get url() {
      return `http://127.0.0.1:${port}`;
    },
    user,
    token,
    events,
    timelineMax: 100,
    sends: 0,
    forgetTransactions: () => transactions.clear(),
    followed: followed.promise,
    async receipt(event, isListening) {
      // Whoever listens again after a failure is away for some ticks.
      for (let away = 0; away < 40; away = isListening() && server.listening ? 0 : away + 1) {
        if (refused.delete(event)) return "refused";
        if (receipts.get(event) === "acknowledged") return "acknowledged";
        await pause(5);
      }
      return "refused";
    },
    write: (room, sender, text, more = {}) =>
      add(room, sender, "m.room.message", { msgtype: "m.text", body: text, ...more }),
    event: add,
    repeat(event) {
      receipts.delete(event);
      again.add(event);
      for (const wake of polls) wake();
    },
    makeRoom(room, people, invited = false) {
      rooms.set(room, {
        people: new Set(people),
        invited,
        joinedAt: invited ? Number.MAX_SAFE_INTEGER : events.length,
      });
      if (!invited) rooms.get(room)?.people.add(user);
      for (const wake of polls) wake();
    },
    isIn: (room) => roomOf(room) !== null,
    shown: (room) => shownIn(events, room, user),
    failNext(kind, what = /./) {
      if (kind === "denied") isDenied = true;
      else failures.push({ kind, what });
    },
    async goDown() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
    comeBack: () => open(port),
    addMedia(bytes) {
      const id = `m${media.size + 1}`;
      media.set(id, bytes);
      return `mxc://fake.test/${id}`;
    },
    media,
    async close() {
      if (!server.listening) return;
      await self.goDown();
    },
  };

  function open(at: number): Promise<void> {
    server = createServer((request, response) => void serve(request, response));
    return new Promise((done) => {
      server.listen(at, "127.0.0.1", () => {
        port = (server.address() as AddressInfo).port;
        done();
      });
    });
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://fake");
    const bytes = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>));
    const due = failures.findIndex(({ what }) => what.test(`${request.method} ${url.pathname}`));
    const failure = due < 0 ? null : (failures.splice(due, 1)[0]?.kind ?? null);
    if (failure !== null && failure !== "dropped-after") return fail(response, failure);
    if (isDenied || request.headers.authorization !== `Bearer ${token}`) return fail(response, "denied");
    const [, room] = /\/rooms\/([^/]+)\/send\/m\.room\.message\//.exec(url.pathname) ?? [];
    const waitMs = room === undefined ? 0 : (limits?.({ at: Date.now(), chat: room, kind: "post" }) ?? 0);
    if (waitMs > 0)
      return respond(response, 429, {
        errcode: "M_LIMIT_EXCEEDED",
        error: "slower",
        retry_after_ms: Math.ceil(waitMs),
      });
    const answer = await answerTo(request.method ?? "GET", url, bytes, response);
    if (failure === "dropped-after") return void request.socket.destroy();
    if (answer instanceof Uint8Array) return void response.writeHead(200).end(answer);
    if (answer !== undefined) respond(response, 200, answer);
  }

  function roomOf(id: string): Room | null {
    const room = rooms.get(id);
    return room === undefined || room.invited ? null : room;
  }

  async function answerTo(method: string, url: URL, bytes: Uint8Array, response: ServerResponse) {
    const path = url.pathname.replace(/^\/_matrix\//, "");
    const parts = path.split("/").map(decodeURIComponent);
    if (path === "client/v3/account/whoami") return { user_id: user, device_id: "FAKE" };
    if (path === "client/v3/sync") return sync(url.searchParams, response);
    if (parts[2] === "join") return join(parts[3] ?? "", response);
    if (path === "media/v3/upload") return { content_uri: self.addMedia(bytes) };
    if (parts[0] === "client" && parts[2] === "media") return media.get(parts[5] ?? "") ?? notFound(response);
    if (parts[2] !== "rooms") return error(response, 404, "M_UNRECOGNIZED", "no such endpoint");
    const id = parts[3] ?? "";
    const room = roomOf(id);
    if (room === null) return error(response, 403, "M_FORBIDDEN", `${user} is not in room ${id}`);
    const body = method === "GET" ? {} : (JSON.parse(Buffer.from(bytes).toString() || "{}") as Content);
    switch (parts[4]) {
      case "send":
        self.sends++;
        return once(parts[6] ?? "", () => add(id, user, parts[5] ?? "", body, parts[6]));
      case "redact":
        return once(parts[6] ?? "", () => add(id, user, "m.room.redaction", { redacts: parts[5] }));
      case "event":
        return found(events, parts[5] ?? "") ?? notFound(response);
      case "joined_members":
        return { joined: Object.fromEntries([...room.people].map((one) => [one, { display_name: nameOf(one) }])) };
      case "messages":
        return history(id, room, url.searchParams);
      case "typing":
      case "receipt":
        return {};
      default:
        return error(response, 404, "M_UNRECOGNIZED", "no such endpoint");
    }
  }

  function once(txn: string, act: () => string) {
    const known = transactions.get(txn) ?? act();
    transactions.set(txn, known);
    return { event_id: known };
  }

  function join(id: string, response: ServerResponse) {
    const room = rooms.get(id);
    if (room === undefined) return error(response, 404, "M_NOT_FOUND", `there is no room ${id}`);
    if (room.invited) room.joinedAt = events.length;
    room.invited = false;
    room.people.add(user);
    return { room_id: id };
  }

  /** Tokens are positions in the one list of events; a room is told of what came after it was joined. */
  async function sync(query: URLSearchParams, response: ServerResponse) {
    const filter = JSON.parse(query.get("filter") ?? "{}") as { room?: { timeline?: { limit?: number } } };
    const since = query.get("since");
    const from = since === null ? events.length : Number(since.slice(1));
    if (since !== null) followed.resolve();
    for (const [event, known] of receipts) {
      if (known === "acknowledged") continue;
      if (from >= known) receipts.set(event, "acknowledged");
      else refused.add(event);
    }
    const limit = Math.min(filter.room?.timeline?.limit ?? self.timelineMax, self.timelineMax);
    const hasNews = () =>
      again.size > 0 || events.slice(from).some((one) => wanted(one)) || [...rooms.values()].some((one) => one.invited);
    if (since !== null && !hasNews()) await news(Number(query.get("timeout") ?? 0), response);
    const found = [...events.filter(({ event_id }) => again.delete(event_id)), ...events.slice(from).filter(wanted)];
    for (const { event_id } of found) receipts.set(event_id, events.length);
    const told: Record<string, object> = {};
    for (const [id] of rooms) {
      const own = found.filter((one) => one.room === id);
      if (own.length === 0) continue;
      const shown = limit === 0 ? [] : own.slice(-limit);
      const first = shown[0]?.n ?? events.length + 1;
      told[id] = { timeline: { events: shown, limited: shown.length < own.length, prev_batch: `s${first - 1}` } };
    }
    const invite = Object.fromEntries([...rooms].filter(([, one]) => one.invited).map(([id]) => [id, {}]));
    return { next_batch: `s${events.length}`, rooms: { join: told, invite } };
  }

  function wanted(one: FakeEvent): boolean {
    const room = roomOf(one.room);
    return room !== null && one.n > room.joinedAt;
  }

  function news(ms: number, response: ServerResponse): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(limit);
        polls.delete(end);
        resolve();
      };
      const limit = setTimeout(end, ms);
      polls.add(end);
      response.once("close", end);
    });
  }

  function history(id: string, room: Room, query: URLSearchParams) {
    const from = Number((query.get("from") ?? `s${events.length}`).slice(1));
    const to = Number((query.get("to") ?? "s0").slice(1));
    const before = events.filter((one) => one.room === id && one.n <= from && one.n > Math.max(to, room.joinedAt));
    const chunk = before.toReversed().slice(0, Math.min(Number(query.get("limit") ?? 10), 3));
    const last = chunk.at(-1);
    return { chunk, start: `s${from}`, ...(last === undefined || last.n <= to + 1 ? {} : { end: `s${last.n - 1}` }) };
  }

  await open(0);
  return self;
}

const nameOf = (person: string): string => person.slice(1).split(":")[0] ?? person;

function respond(response: ServerResponse, status: number, body: object): void {
  if (response.destroyed || response.writableEnded) return;
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function error(response: ServerResponse, status: number, errcode: string, words: string): undefined {
  respond(response, status, { errcode, error: words });
}

function notFound(response: ServerResponse): undefined {
  return error(response, 404, "M_NOT_FOUND", "not found");
}

function fail(response: ServerResponse, kind: MatrixFailure): void {
  if (kind === "rate")
    return respond(response, 429, { errcode: "M_LIMIT_EXCEEDED", error: "slower", retry_after_ms: 2_000 });
  if (kind === "denied") return respond(response, 401, { errcode: "M_UNKNOWN_TOKEN", error: "Unknown access token" });
  if (kind === "server") return respond(response, 500, { errcode: "M_UNKNOWN", error: "Internal server error" });
  if (kind === "html")
    return void response.writeHead(502, { "content-type": "text/html" }).end("<html>Bad gateway</html>");
  response.socket?.destroy();
}
