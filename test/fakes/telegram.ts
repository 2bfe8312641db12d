// A faithful stand-in for Telegram's Bot API over HTTP, with people who write, press and read. It keeps an update until a
// later getUpdates confirms it by its offset, or for a day; lets one poller at a time have them; and breaks in the ways that
// Telegram breaks. It stands outside of what is tested, so it is the judge of what arrived. For anybody: this file and
// telegram-chats.ts, no dependencies.

import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import {
  type Chat,
  Chats,
  type Json,
  type Rates,
  Refusal,
  type Shown,
  type Upload,
  me,
  wordsIn,
} from "./telegram-chats.ts";

export { type Chat, type Json, type Shown, publishedRates } from "./telegram-chats.ts";

export type Update = { readonly update_id: number } & Json;

/** How a call goes wrong. `before`: nothing happened; `after`: it happened, and nobody is told. */
export type Breakage =
  | { readonly type: "drop" | "html"; readonly when: "before" | "after" }
  | { readonly type: "answer"; readonly code: number; readonly description: string; readonly parameters?: Json }
  | { readonly type: "slow"; readonly ms: number }
  /** Never answered; `inHand` names it until the caller hangs up. */
  | { readonly type: "hold" };

/** Code 0: nobody was told. */
export type Call = { readonly method: string; readonly params: Json; readonly at: number; readonly code: number };

export type Options = {
  readonly token?: string;
  readonly rates?: Rates;
  /** Asked at each call. */
  readonly breaks?: (method: string, params: Json) => Breakage | null;
};

export type Where = { readonly in?: Chat; readonly thread?: number; readonly replyTo?: number; readonly more?: Json };

export type Person = {
  readonly id: number;
  readonly chat: Chat;
  write(text: string, where?: Where): Json;
  /** Photos that are sent together, each in an update of its own. */
  album(files: readonly Upload[], caption?: string, where?: Where): readonly Json[];
  send(kind: "photo" | "document" | "voice" | "sticker", file: Upload, caption?: string, where?: Where): Json;
  edit(message: Json, text: string): Json;
  /** Presses the button with these words; the id of the press. */
  press(message: Shown, words: string): string;
  blocks(isBlocked: boolean): void;
};

type Receipt = "acknowledged" | "refused";
type Kept = { readonly update: Update; readonly at: number; wasGiven: boolean };

const dayMs = 24 * 3_600_000;
/** So long nobody polls before a message counts as not taken; less when the poller was seen to leave. */
const quietMs = 3_000;
const goneMs = 200;

export class FakeTelegram {
  readonly token: string;
  readonly calls: Call[] = [];
  readonly chats = new Chats();
  breaks: (method: string, params: Json) => Breakage | null;
  commands: readonly Json[] = [];
  webhook: Json | null = null;
  /** Methods of requests that are held and whose caller still waits, the poll among them. */
  get inHand(): readonly string[] {
    return [...this.#held.values(), ...(this.isPolled ? ["getUpdates"] : [])];
  }
  /** Presses that were answered, with the words. */
  readonly answeredPresses = new Map<string, string>();
  #kept: Kept[] = [];
  #pushed: Update[] = [];
  #receipts = new Map<number, (receipt: Receipt) => void>();
  #poll: { readonly answer: (body: Json) => void } | null = null;
  #allowed: readonly string[] = [];
  #next = 1_000;
  #clock = 0;
  /** Whose connection asked for updates last, and whether it was seen to break off. */
  #poller: Socket | null = null;
  #isGone = false;
  #quiet: NodeJS.Timeout | undefined;
  #port = 0;
  #held = new Map<ServerResponse, string>();
  #sockets = new Set<Socket>();
  readonly #server = createServer((request, response) => void this.#serve(request, response));

  constructor({ token = `${me.id}:fake-token`, rates, breaks = () => null }: Options = {}) {
    this.token = token;
    this.breaks = breaks;
    this.chats.rates = rates ?? null;
    this.#server.on("connection", (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => {
        this.#sockets.delete(socket);
        if (socket !== this.#poller) return;
        this.#isGone = true;
        this.#watchQuiet();
      });
      socket.on("error", () => undefined);
    });
  }

  static async start(options: Options = {}): Promise<FakeTelegram> {
    const fake = new FakeTelegram(options);
    await fake.up();
    return fake;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }
  async up(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(this.#port, "127.0.0.1", resolve));
    this.#port = (this.#server.address() as AddressInfo).port;
  }
  /** The server is gone; what it knows stays. */
  async down(): Promise<void> {
    this.#poll = null;
    this.#isGone = true;
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.cut();
    await closed;
  }
  /** Every connection breaks off. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
  async close(): Promise<void> {
    clearTimeout(this.#quiet);
    if (this.#server.listening) await this.down();
  }
  /** Time passes for what is kept. */
  age(ms: number): void {
    this.#clock += ms;
  }
  get isPolled(): boolean {
    return this.#poll !== null;
  }
  /** Updates that nobody has confirmed. */
  get waiting(): number {
    return this.#kept.length;
  }

  // People

  person(name: string, own: Json = {}): Person {
    const id = Number(own["id"] ?? this.#next++);
    const user = { id, is_bot: false, first_name: name, username: name.toLowerCase(), ...own };
    const chat: Chat = { id, type: "private", first_name: name };
    this.chats.add(chat);
    const say = (parts: Json, { in: at = chat, thread, replyTo, more }: Where = {}): Json => {
      const topic = thread === undefined ? {} : { message_thread_id: thread, is_topic_message: true };
      const reply = replyTo === undefined ? {} : { reply_to_message: this.chats.original(replyTo) };
      const message = this.chats.hear(at, user, { ...parts, ...topic, ...reply, ...more });
      this.push({ message });
      return message;
    };
    return {
      id,
      chat,
      write: (text, where) => say(written("text", text), where),
      send: (kind, file, caption = "", where) =>
        say({ ...this.#media(kind, file), ...written("caption", caption) }, where),
      album: (files, caption = "", where) => {
        const media_group_id = `album${this.#next++}`;
        return files.map((file, n) =>
          say({ media_group_id, ...this.#media("photo", file), ...written("caption", n === 0 ? caption : "") }, where),
        );
      },
      edit: (message, text) => {
        const edited = { ...message, ...written("text", text), edit_date: Math.floor(Date.now() / 1_000) };
        this.chats.rewrite(Number(message["message_id"]), edited);
        this.push({ edited_message: edited });
        return edited;
      },
      press: (message, words) => {
        const button = message.buttons.find((one) => one.text === words);
        if (button === undefined) throw new Error(`no button "${words}" but ${JSON.stringify(message.buttons)}`);
        const press = `press${this.#next++}`;
        const facts = { id: press, from: user, chat_instance: "1", data: button.data };
        this.push({ callback_query: { ...facts, message: this.chats.asMessage(message) } });
        return press;
      },
      blocks: (isBlocked) => this.chats.block(id, isBlocked),
    };
  }

  #media(kind: string, file: Upload): Json {
    const kept = { ...this.chats.keep(file), ...(file.mime === undefined ? {} : { mime_type: file.mime }) };
    const small = (): Json => ({ ...this.chats.keep({ ...file, content: "small" }), width: 90, height: 90 });
    if (kind === "photo") return { photo: [small(), { ...kept, width: 900, height: 900 }] };
    const more = { document: { file_name: file.name }, sticker: { emoji: "👍" }, voice: { duration: 1 } }[kind];
    return { [kind]: { ...kept, ...more } };
  }

  group(title: string, own: Json = {}): Chat {
    const chat: Chat = { id: -1_000_000_000_000 - this.#next++, type: "supergroup", title, ...own };
    this.chats.add(chat);
    return chat;
  }
  /** From now on the group is another chat, and says so. */
  upgrade(group: Chat): Chat {
    const now = this.group(String(group["title"]));
    this.chats.upgrade(group.id, now.id);
    return now;
  }
  shown(chat: Chat, thread?: number): readonly Shown[] {
    return this.chats.shown(chat.id, thread);
  }
  /** What the bot says there now. */
  said(chat: Chat, thread?: number): readonly string[] {
    return this.shown(chat, thread).flatMap((one) => (one.from === null ? [one.text] : []));
  }

  // Updates

  push(content: Json): Update {
    const update = { ...content, update_id: this.#next++ };
    this.#pushed.push(update);
    this.#kept.push({ update, at: Date.now() + this.#clock, wasGiven: false });
    const ready = this.#poll === null ? [] : this.#ready();
    if (ready.length > 0) this.#poll?.answer({ ok: true, result: ready });
    return update;
  }
  /** The same content under a new id, as it comes after a confirmation that got lost. */
  repeat(update: Update): Update {
    return this.push(update);
  }
  newest(): Update {
    const newest = this.#pushed.at(-1);
    if (newest === undefined) throw new Error("there is no update");
    return newest;
  }
  /** The update that brought this message last. */
  updateOf(message: Json): Update {
    const isIt = (one: Update): boolean =>
      (one["message"] as Json | undefined)?.["message_id"] === message["message_id"];
    const found = this.#pushed.findLast(isIt);
    if (found === undefined) throw new Error("no update brought this message");
    return found;
  }
  /** What becomes of an update: confirmed, or asked for again, or nobody asks for it. */
  receipt({ update_id: id }: Update): Promise<Receipt> {
    if (!this.#kept.some(({ update }) => update.update_id === id)) return Promise.resolve("acknowledged");
    return new Promise((resolve) => {
      this.#receipts.set(id, resolve);
      this.#watchQuiet();
    });
  }
  #settle(id: number, receipt: Receipt): void {
    this.#receipts.get(id)?.(receipt);
    this.#receipts.delete(id);
  }
  #watchQuiet(): void {
    clearTimeout(this.#quiet);
    if (this.#poll !== null || this.#receipts.size === 0) return;
    this.#quiet = setTimeout(
      () => {
        for (const id of this.#receipts.keys()) this.#settle(id, "refused");
      },
      this.#isGone ? goneMs : quietMs,
    );
  }

  #ready(limit = 100): readonly Update[] {
    const now = Date.now() + this.#clock;
    this.#kept = this.#kept.filter((one) => now - one.at < dayMs);
    const isWanted = ({ update }: Kept): boolean =>
      this.#allowed.length === 0 || this.#allowed.some((name) => name in update);
    const given = this.#kept.filter(isWanted).slice(0, limit);
    for (const one of given) one.wasGiven = true;
    return given.map(({ update }) => update);
  }

  #getUpdates(params: Json, answer: (body: Json) => void, onClose: (then: () => void) => void): void {
    if (this.webhook !== null) throw new Refusal(409, webhookConflict);
    this.#isGone = false;
    this.#poll?.answer({ ok: false, error_code: 409, description: pollConflict });
    const { offset, allowed_updates: allowed, limit, timeout = 0 } = params;
    if (Array.isArray(allowed)) this.#allowed = allowed.map(String);
    const isConfirmed = ({ update }: Kept): boolean => typeof offset === "number" && update.update_id < offset;
    for (const one of this.#kept) {
      if (isConfirmed(one)) this.#settle(one.update.update_id, "acknowledged");
      else if (one.wasGiven) this.#settle(one.update.update_id, "refused");
    }
    this.#kept = this.#kept.filter((one) => !isConfirmed(one));
    const ready = this.#ready(typeof limit === "number" ? limit : 100);
    if (ready.length > 0 || timeout === 0) {
      this.#watchQuiet();
      return answer({ ok: true, result: ready });
    }
    const leave = (): void => {
      clearTimeout(timer);
      if (this.#poll === poll) this.#poll = null;
      this.#watchQuiet();
    };
    const poll = {
      answer: (body: Json): void => {
        leave();
        answer(body);
      },
    };
    const timer = setTimeout(() => poll.answer({ ok: true, result: [] }), Number(timeout) * 1_000);
    onClose(leave);
    this.#poll = poll;
    clearTimeout(this.#quiet);
  }

  // Calls

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const path = new URL(request.url ?? "/", this.url).pathname;
      const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>));
      if (path.startsWith(`/file/bot${this.token}/`)) return await this.#download(path, response);
      const [, token, method = ""] = /^\/bot([^/]+)\/(\w+)$/.exec(path) ?? [];
      const params = await paramsIn(request, body);
      const tell = (result: Json): void => {
        const code = result["ok"] === true ? 200 : Number(result["error_code"]);
        this.calls.push({ method, params, at: Date.now(), code });
        response.writeHead(code, { "content-type": "application/json" }).end(JSON.stringify(result));
      };
      if (token !== this.token) return tell({ ok: false, error_code: 401, description: "Unauthorized" });
      await this.#answer(method, params, response, tell);
    } catch (error) {
      response.destroy(error as Error);
    }
  }

  async #answer(method: string, params: Json, response: ServerResponse, tell: (body: Json) => void): Promise<void> {
    const broken = this.breaks(method, params);
    if (broken?.type === "hold") return this.#hold(method, response);
    if (broken?.type === "slow") await new Promise((resolve) => setTimeout(resolve, broken.ms));
    if (broken?.type === "answer") {
      const { code, description, parameters = {} } = broken;
      return tell({ ok: false, error_code: code, description, parameters });
    }
    const fail = (): void => {
      this.calls.push({ method, params, at: Date.now(), code: 0 });
      if (broken?.type === "drop") return void response.destroy();
      response.writeHead(502, { "content-type": "text/html" }).end("<html><h1>502 Bad Gateway</h1></html>");
    };
    const say = broken !== null && "when" in broken ? fail : tell;
    if (broken !== null && "when" in broken && broken.when === "before") return fail();
    try {
      if (method === "getUpdates") this.#poller = response.socket;
      if (method === "getUpdates") return this.#getUpdates(params, say, (then) => response.on("close", then));
      say({ ok: true, result: this.#perform(method, params) });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { code, message: description, parameters = {} } = error;
      say({ ok: false, error_code: code, description, parameters });
    }
  }

  #hold(method: string, response: ServerResponse): void {
    this.#held.set(response, method);
    response.on("close", () => this.#held.delete(response));
  }

  #perform(method: string, params: Json): unknown {
    switch (method) {
      case "getMe":
        return me;
      case "setMyCommands":
        this.commands = params["commands"] as readonly Json[];
        return true;
      case "getWebhookInfo": {
        const url = this.webhook?.["url"] ?? "";
        return { url, has_custom_certificate: false, pending_update_count: this.#kept.length };
      }
      case "setWebhook":
        this.webhook = params;
        return true;
      case "deleteWebhook":
        this.webhook = null;
        if (params["drop_pending_updates"] === true) this.#kept = [];
        return true;
      case "getFile":
        return this.chats.getFile(String(params["file_id"]));
      case "answerCallbackQuery":
        this.answeredPresses.set(String(params["callback_query_id"]), wordsIn(params["text"]));
        return true;
      default:
        return this.chats.perform(method, params);
    }
  }

  async #download(path: string, response: ServerResponse): Promise<void> {
    const broken = this.breaks("download", { path });
    if (broken?.type === "hold") return this.#hold("download", response);
    if (broken?.type === "slow") await new Promise((resolve) => setTimeout(resolve, broken.ms));
    const content = this.chats.content(decodeURIComponent(path.split("/").at(-1) ?? ""));
    if (broken?.type === "drop") return void response.destroy();
    const isThere = content !== undefined && (broken === null || broken.type === "slow");
    if (!isThere) return void response.writeHead(404).end();
    response.writeHead(200, { "content-type": "application/octet-stream" }).end(content);
  }
}

const webhookConflict =
  "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first";
const pollConflict =
  "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running";

/** What people type, with what Telegram's clients find in it. */
function written(as: "text" | "caption", text: string): Json {
  if (text === "") return {};
  const found = [...text.matchAll(/(?<![\w/])(?:\/[a-z][a-z0-9_]{0,31}(?:@\w+)?|@\w{5,32})/gi)];
  const entities = found.map(({ 0: piece, index }) => ({
    type: piece.startsWith("/") ? "bot_command" : "mention",
    offset: index,
    length: piece.length,
  }));
  const list = as === "text" ? "entities" : "caption_entities";
  return { [as]: text, ...(entities.length === 0 ? {} : { [list]: entities }) };
}

/** JSON, or a form whose files are read and whose other fields are JSON where they can be. */
async function paramsIn(request: IncomingMessage, body: Buffer): Promise<Json> {
  const type = request.headers["content-type"] ?? "";
  if (body.length === 0) return {};
  if (!type.startsWith("multipart/")) return JSON.parse(body.toString("utf8")) as Json;
  const form = await new Response(new Uint8Array(body), { headers: { "content-type": type } }).formData();
  const files: { [name: string]: unknown } = {};
  const params: { [name: string]: unknown } = {};
  for (const [name, value] of form) {
    if (typeof value !== "string") files[name] = { name: value.name, content: Buffer.from(await value.arrayBuffer()) };
    else if (name === "caption" || !/^[{[]|^(?:true|false|-?\d+)$/.test(value)) params[name] = value;
    else params[name] = JSON.parse(value) as unknown;
  }
  for (const [name, value] of Object.entries(params)) {
    if (typeof value === "string" && value.startsWith("attach://")) params[name] = files[value.slice(9)];
  }
  return { ...files, ...params };
}
