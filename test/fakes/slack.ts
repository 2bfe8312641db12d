// Slack in a box: its Web API over HTTP and Socket Mode over WebSocket, on loopback. What people do is done through the
// driver. It repeats, drops, delays and forgets as the real one may, and keeps its state however often the gateway dies.

import { randomUUID } from "node:crypto";
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
  type Message,
  Refusal,
  type StoredFile,
  type Text,
  appToken,
  bot,
  botToken,
  newWorkspace,
} from "./slack/workspace.ts";
import type { Limiter } from "./limits.ts";
import { type Failure, argsOf, bodyOf, fail, isAfter } from "./slack/http.ts";
import { type Peer, welcome } from "./slack/websocket.ts";

export type { Failure } from "./slack/http.ts";
export { appToken, bot, botToken } from "./slack/workspace.ts";

export type Receipt = "acknowledged" | "refused";
export type Said = { readonly ts: string; readonly receipts: Promise<readonly Receipt[]> };

export type SlackOptions = {
  /** An event that is not acknowledged after this is refused. */
  readonly ackMs?: number;
  /** Slack repeats at once, after a minute and after five; times this. Null: never by itself. */
  readonly retryScale?: number | null;
  readonly port?: number;
  /** How fast messages may be posted and changed; absent: as fast as they come. */
  readonly limits?: Limiter;
};

export type SlackFake = Awaited<ReturnType<typeof openSlack>>;

type Pending = { readonly peer: Peer; readonly settle: (receipt: Receipt) => void };

export async function openSlack({ ackMs = 3_000, retryScale = null, port = 0, limits }: SlackOptions = {}) {
  const workspace = newWorkspace();
  const peers = new Set<Peer>();
  const pending = new Map<string, Pending>();
  const failures: { methods: readonly string[]; failure: Failure; times: number }[] = [];
  const calls: { readonly method: string; readonly at: number; readonly args: Text }[] = [];
  const timers = new Set<NodeJS.Timeout>();
  let strangers = 0;
  let isClosed = false;
  let again: () => Promise<Receipt> = async () => "refused";

  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy());
  });
  server.on("upgrade", (request, socket) => {
    const peer = welcome(request, socket, {
      text: (text) => {
        const { envelope_id: id } = JSON.parse(text) as { envelope_id: string };
        pending.get(id)?.settle("acknowledged");
      },
      gone: () => {
        peers.delete(peer);
        for (const one of pending.values()) if (one.peer === peer) one.settle("refused");
      },
    });
    peers.add(peer);
    const count = peers.size + strangers;
    peer.send(JSON.stringify({ type: "hello", num_connections: count, connection_info: { app_id: bot.app } }));
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const own = (server.address() as AddressInfo).port;
  let origin = `http://127.0.0.1:${own}`;
  workspace.setOrigin(origin);

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    const [, room = "", name = ""] = (request.url ?? "").split("?")[0]?.split("/") ?? [];
    if (room === "upload") {
      const file = workspace.files.get(name);
      if (file !== undefined) Object.assign(file, { content: body, size: body.length });
      return void response.end("OK");
    }
    const token = request.headers.authorization?.replace("Bearer ", "");
    if (room === "files") return download(name, token, response);
    const args = argsOf(body);
    calls.push({ method: name, at: Date.now(), args });
    const kind = name === "chat.postMessage" ? "post" : name === "chat.update" ? "edit" : null;
    const waitMs = kind === null ? 0 : (limits?.({ at: Date.now(), chat: String(args["channel"]), kind }) ?? 0);
    if (waitMs > 0) return fail({ retryAfter: Math.ceil(waitMs / 1_000) }, response);
    const failure = nextFailure(name);
    if (failure !== null && !isAfter(failure)) return fail(failure, response);
    const result = resultOf(name, args, token);
    if (failure !== null) return fail(failure, response);
    response.setHeader("content-type", "application/json; charset=utf-8");
    response.end(JSON.stringify(result));
  }

  function resultOf(name: string, args: Text, token: string | undefined): Text {
    try {
      if (name === "apps.connections.open") {
        if (token !== appToken) throw new Refusal("invalid_auth");
        return { ok: true, url: `${origin.replace("http", "ws")}/link/?ticket=${randomUUID()}` };
      }
      if (token !== botToken) throw new Refusal("invalid_auth");
      const method = workspace.methods[name];
      if (method === undefined) throw new Refusal("unknown_method");
      return { ok: true, ...method(args) };
    } catch (error) {
      if (error instanceof Refusal) return { ok: false, error: error.message, ...error.more };
      throw error;
    }
  }

  function download(id: string, token: string | undefined, response: ServerResponse): void {
    const file = workspace.files.get(id);
    if (token !== botToken || workspace.lacking.has("files:read")) {
      response.setHeader("content-type", "text/html");
      return void response.end("<html>Sign in</html>");
    }
    response.statusCode = file === undefined ? 404 : 200;
    if (file !== undefined) response.setHeader("content-type", file.mimetype);
    response.end(file?.content);
  }

  function nextFailure(method: string): Failure | null {
    const found = failures.find(
      ({ methods, times }) => times > 0 && (methods.includes(method) || methods.includes("*")),
    );
    if (found === undefined) return null;
    found.times -= 1;
    return found.failure;
  }

  /** One envelope to one of the sockets; without a socket it is lost, which Slack does not exclude. */
  function deliver(type: string, payload: unknown, attempt = 0): Promise<Receipt> {
    const [peer] = [...peers].slice(attempt % Math.max(1, peers.size));
    const settled = Promise.withResolvers<Receipt>();
    const id = randomUUID();
    again = () => deliver(type, payload, attempt + 1);
    if (peer === undefined) settled.resolve("refused");
    else {
      const timer = setTimeout(() => settled.resolve("refused"), ackMs);
      timers.add(timer);
      pending.set(id, { peer, settle: settled.resolve });
      const retry = attempt === 0 ? {} : { retry_attempt: attempt, retry_reason: "timeout" };
      peer.send(JSON.stringify({ envelope_id: id, type, payload, accepts_response_payload: false, ...retry }));
      void settled.promise.then(() => {
        clearTimeout(timer);
        timers.delete(timer);
        pending.delete(id);
      });
    }
    return settled.promise.then((receipt) => {
      if (receipt === "refused" && retryScale !== null && !isClosed) repeatLater(type, payload, attempt);
      return receipt;
    });
  }

  function repeatLater(type: string, payload: unknown, attempt: number): void {
    const pause = [0, 60_000, 300_000][attempt];
    if (pause === undefined || retryScale === null) return;
    const timer = setTimeout(() => void deliver(type, payload, attempt + 1), pause * retryScale);
    timers.add(timer);
  }

  const event = (inner: Text) => ({
    type: "event_callback",
    team_id: "T1",
    event_id: `Ev${randomUUID()}`,
    event: inner,
  });
  const kinds = { im: "im", mpim: "mpim", public_channel: "channel", private_channel: "group" } as const;

  function announce(channel: string, message: Message): Promise<readonly Receipt[]> {
    const { kind } = workspace.channelOf(channel);
    const inner = { ...message, channel, event_ts: message.ts };
    const events: Text[] = [event({ ...inner, channel_type: kinds[kind] })];
    if (kind !== "im" && message.text.includes(`<@${bot.user}>`)) events.push(event({ ...inner, type: "app_mention" }));
    return Promise.all(events.map((one) => deliver("events_api", one)));
  }

  return {
    apiRoot: `${origin}/api`,
    port: own,
    /** Where clients are sent to; another address where a proxy stands between. */
    setPublicUrl(url: string): void {
      origin = url;
      workspace.setOrigin(url);
    },
    workspace,
    calls,
    /** Somebody writes. `raw`: the text is Slack's own already, with mentions and links. */
    say(
      channel: string,
      text: string,
      more: {
        user?: string;
        thread?: string;
        raw?: true;
        files?: readonly StoredFile[];
        attachments?: readonly Text[];
        bot_id?: string;
        silent?: true;
      } = {},
    ): Said {
      const message = workspace.add(workspace.channelOf(channel), {
        user: more.user ?? "U1",
        text: more.raw ? text : text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;"),
        ...(more.thread === undefined ? {} : { thread_ts: more.thread }),
        ...(more.files === undefined ? {} : { subtype: "file_share", files: more.files }),
        ...(more.attachments === undefined ? {} : { attachments: more.attachments }),
        ...(more.bot_id === undefined ? {} : { bot_id: more.bot_id }),
      });
      return { ts: message.ts, receipts: more.silent ? Promise.resolve([]) : announce(channel, { ...message }) };
    },
    /** The same message is told of again, as after a missing receipt. */
    repeat(channel: string, ts: string): Promise<readonly Receipt[]> {
      const message = workspace.channelOf(channel).messages.find((one) => one.ts === ts);
      return message === undefined ? Promise.resolve([]) : announce(channel, message);
    },
    /** The envelope sent last comes again. */
    repeatLast: async (): Promise<readonly Receipt[]> => [await again()],
    edit(channel: string, ts: string, text: string): Promise<Receipt> {
      const message = workspace.channelOf(channel).messages.find((one) => one.ts === ts);
      if (message === undefined) throw new Error(`there is no message ${ts}`);
      const previous = { ...message };
      Object.assign(message, { text, edited: { user: message.user, ts: workspace.moment() } });
      const inner = { type: "message", subtype: "message_changed", channel, hidden: true, ts: workspace.moment() };
      return deliver("events_api", event({ ...inner, message: { ...message }, previous_message: previous }));
    },
    /** A button of ours below a message is pressed. */
    press(channel: string, ts: string, choice: number, user = "U1"): Promise<Receipt> {
      const message = workspace.channelOf(channel).messages.find((one) => one.ts === ts);
      const row = message?.blocks?.find(({ type }) => type === "actions") as { elements?: readonly Text[] } | undefined;
      const button = row?.elements?.[choice];
      if (message === undefined || button === undefined) throw new Error(`there is no button ${choice} at ${ts}`);
      const action = { ...button, action_ts: workspace.moment() };
      const who = { id: user, username: workspace.people.get(user) };
      return deliver("interactive", {
        type: "block_actions",
        user: who,
        channel: { id: channel },
        message,
        actions: [action],
      });
    },
    command(channel: string, text: string, user = "U1"): Promise<Receipt> {
      const who = { user_id: user, user_name: workspace.people.get(user), channel_id: channel };
      return deliver("slash_commands", { command: "/everturn", text, trigger_id: randomUUID(), ...who });
    },
    /** Calls of these methods go wrong so many times, all of them together; "*" is every method. */
    fail: (methods: string | readonly string[], failure: Failure, times = 1) =>
      void failures.push({ methods: typeof methods === "string" ? [methods] : methods, failure, times }),
    mend: () => void failures.splice(0),
    /** What the bot has written there, as it stands now. */
    written: (channel: string): readonly Message[] =>
      workspace.channelOf(channel).messages.filter(({ user }) => user === bot.user),
    contentOf: (file: StoredFile): string => workspace.files.get(file.id)?.content.toString("utf8") ?? "",
    sockets: () => peers.size,
    /** As many connections of somebody else are counted. */
    setStrangers: (count: number) => (strangers = count),
    /** Slack wants the socket to be opened anew. */
    refresh(reason = "refresh_requested") {
      for (const peer of peers) peer.send(JSON.stringify({ type: "disconnect", reason }));
    },
    dropSockets() {
      for (const peer of peers) peer.destroy();
    },
    deafen() {
      for (const peer of peers) peer.setDeaf();
    },
    pingAll() {
      for (const peer of peers) peer.ping();
    },
    async close(): Promise<void> {
      isClosed = true;
      for (const timer of timers) clearTimeout(timer);
      for (const peer of peers) peer.close();
      for (const one of pending.values()) one.settle("refused");
      server.closeAllConnections();
      const late = setTimeout(() => this.dropSockets(), 1_000);
      if (server.listening) await new Promise((resolve) => server.close(resolve));
      clearTimeout(late);
    },
    /** The server is gone for a while; its state stays. */
    async down(): Promise<void> {
      for (const peer of peers) peer.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
    up: () => new Promise<void>((resolve) => server.listen(own, "127.0.0.1", resolve)),
  };
}
