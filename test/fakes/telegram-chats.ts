// What the chats of the fake Telegram hold: messages as they show now, files, topics, and how often a bot may write. It
// reads HTML, counts lengths and refuses as Telegram does. See telegram.ts, which serves it.

export type Json = { readonly [name: string]: unknown };
export type Chat = { readonly id: number; readonly type: "private" | "group" | "supergroup" | "channel" } & Json;

/** One message as the chat shows it now. */
export type Shown = {
  readonly id: number;
  readonly chat: number;
  readonly thread: number | null;
  /** Null is the bot. */
  readonly from: number | null;
  readonly text: string;
  readonly html: string | null;
  readonly buttons: readonly { readonly text: string; readonly data: string }[];
  readonly file: { readonly kind: string; readonly name: string; readonly content: Buffer } | null;
  readonly replyTo: number | null;
  readonly edits: number;
  readonly isDeleted: boolean;
  readonly reaction: string | null;
};

export type Upload = { readonly name: string; readonly content: string | Buffer; readonly mime?: string };

export type Rates = { readonly perSecond: number; readonly chatPerSecond: number; readonly groupPerMinute: number };
/** What Telegram publishes; short bursts to one chat are let through. */
export const publishedRates: Rates = { perSecond: 30, chatPerSecond: 1, groupPerMinute: 20 };
const burst = 3;

export const me = { id: 777, is_bot: true, first_name: "Ever", username: "everturn_bot", has_topics_enabled: true };

/** What Telegram answers instead of a result. */
export class Refusal extends Error {
  readonly code: number;
  readonly parameters: Json | undefined;
  constructor(code: number, description: string, parameters?: Json) {
    super(description);
    this.code = code;
    this.parameters = parameters;
  }
}
const bad = (what: string): Refusal => new Refusal(400, `Bad Request: ${what}`);

const tags = /^(?:b|strong|i|em|u|ins|s|strike|del|code|pre|a|blockquote|tg-spoiler|span)$/;

/** What is left of HTML, or what Telegram says about it. */
export function readHtml(html: string): string {
  const open: string[] = [];
  let text = "";
  for (const [piece, tag, name] of html.matchAll(/<(\/?([a-z-]+)[^>]*)>|[^<]+|</gi)) {
    if (name === undefined) {
      if (piece === "<") throw bad("can't parse entities: Unexpected end of tag");
      text += piece;
    } else if (!tags.test(name)) throw bad(`can't parse entities: Unsupported start tag "${name}"`);
    else if (!tag?.startsWith("/")) open.push(name);
    else if (open.pop() !== name) throw bad(`can't parse entities: Unmatched end tag "${name}"`);
  }
  if (open.length > 0) throw bad(`can't parse entities: Can't find end tag corresponding to start tag "${open[0]}"`);
  const letters: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"' };
  return text.replaceAll(/&(amp|lt|gt|quot);/g, (_, one: string) => letters[one] ?? "");
}

export function wordsIn(given: unknown): string {
  return typeof given === "string" ? given : "";
}

function textIn(params: Json, name: "text" | "caption"): Pick<Shown, "text" | "html"> {
  const given = wordsIn(params[name]);
  const isHtml = params["parse_mode"] === "HTML";
  const text = (isHtml ? readHtml(given) : given).trim();
  if (text === "" && name === "text") throw bad("message text is empty");
  if (text.length > (name === "text" ? 4_096 : 1_024))
    throw bad(name === "text" ? "message is too long" : "message caption is too long");
  return { text, html: isHtml ? given : null };
}

export class Chats {
  rates: Rates | null = null;
  #chats = new Map<number, Chat>();
  #messages: Shown[] = [];
  /** What people wrote, as it went to the bot. */
  #originals = new Map<number, Json>();
  #topics = new Set<string>();
  #blocked = new Set<number>();
  #upgraded = new Map<number, number>();
  #files = new Map<string, Buffer>();
  #sent: { readonly at: number; readonly chat: number }[] = [];
  #next = 1;

  add(chat: Chat): void {
    this.#chats.set(chat.id, chat);
  }
  upgrade(from: number, to: number): void {
    this.#upgraded.set(from, to);
  }
  block(chat: number, isBlocked: boolean): void {
    if (isBlocked) this.#blocked.add(chat);
    else this.#blocked.delete(chat);
  }
  closeTopic(chat: number, thread: number): void {
    this.#topics.delete(`${chat}:${thread}`);
  }
  /** What a chat shows now, the oldest first; of one topic when it is named. */
  shown(chat: number, thread?: number): readonly Shown[] {
    return this.#messages.filter(
      (one) => one.chat === chat && !one.isDeleted && (thread === undefined || one.thread === thread),
    );
  }
  original(id: number): Json | undefined {
    return this.#originals.get(id);
  }
  rewrite(id: number, message: Json): void {
    this.#originals.set(id, message);
    this.#change(id, { text: String(message["text"]) });
  }

  /** Somebody writes. */
  hear(chat: Chat, from: Json, parts: Json): Json {
    const message = { message_id: this.#next++, date: Math.floor(Date.now() / 1_000), chat, from, ...parts };
    const { message_thread_id: thread, text, caption } = parts;
    if (typeof thread === "number") this.#topics.add(`${chat.id}:${thread}`);
    this.#originals.set(message.message_id, message);
    this.#add(message.message_id, chat.id, {
      thread: typeof thread === "number" ? thread : null,
      from: Number(from["id"]),
      text: wordsIn(text ?? caption),
    });
    return message;
  }

  keep({ content, name }: Upload): Json {
    const id = `file${this.#next++}-${name}`;
    this.#files.set(id, Buffer.from(content));
    return { file_id: id, file_unique_id: id, file_size: Buffer.byteLength(content) };
  }
  content(id: string): Buffer | undefined {
    return this.#files.get(id);
  }
  getFile(id: string): Json {
    const content = this.#files.get(id);
    if (content === undefined) throw bad("wrong file_id or the file is temporarily unavailable");
    if (content.length > 20_000_000) throw bad("file is too big");
    return { file_id: id, file_unique_id: id, file_size: content.length, file_path: `files/${id}` };
  }

  /** A call that is about a chat. */
  perform(method: string, params: Json): unknown {
    const chat = this.#chatFor(params);
    // Nothing of ours may show previews: Telegram would fetch whatever address stands in it.
    const preview = params["link_preview_options"] as Json | undefined;
    const { text } = params;
    const hasLink = typeof text === "string" && text.includes("://");
    if (hasLink && preview?.["is_disabled"] !== true) throw bad("previews are on");
    switch (method) {
      case "sendChatAction":
        return true;
      case "sendMessage":
        return this.#say(chat, params, textIn(params, "text"));
      case "sendPhoto":
      case "sendDocument":
      case "sendVoice": {
        const kind = method.slice(4).toLowerCase();
        return this.#say(chat, params, { ...textIn(params, "caption"), file: fileFrom(kind, params[kind]) });
      }
      case "editMessageText":
        return this.#edit(chat, params, textIn(params, "text"));
      case "editMessageMedia": {
        const media = params["media"] as Json;
        const file = fileFrom(String(media["type"]), params[String(media["media"]).replace("attach://", "")]);
        return this.#edit(chat, params, { ...textIn(media, "caption"), file });
      }
      case "editMessageReplyMarkup":
        return this.#edit(chat, params, {});
      case "deleteMessage":
        this.#change(this.#find(chat, params, "delete").id, { isDeleted: true });
        return true;
      case "setMessageReaction":
        return this.#react(params);
      default:
        throw new Refusal(404, "Not Found: method not found");
    }
  }

  #chatFor(params: Json): Chat {
    const id = Number(params["chat_id"]);
    const movedTo = this.#upgraded.get(id);
    if (movedTo !== undefined)
      throw new Refusal(400, "Bad Request: group chat was upgraded to a supergroup chat", {
        migrate_to_chat_id: movedTo,
      });
    const chat = this.#chats.get(id);
    if (chat === undefined) throw bad("chat not found");
    if (this.#blocked.has(id)) throw new Refusal(403, "Forbidden: bot was blocked by the user");
    const thread = params["message_thread_id"];
    if (typeof thread === "number" && !this.#topics.has(`${id}:${thread}`)) throw bad("message thread not found");
    return chat;
  }

  #say(chat: Chat, params: Json, content: Partial<Shown>): Json {
    this.#count(chat);
    const { message_id: wanted, allow_sending_without_reply: mayMiss } = (params["reply_parameters"] ?? {}) as Json;
    const answered = this.shown(chat.id).find((one) => one.id === wanted);
    if (wanted !== undefined && answered === undefined && mayMiss !== true)
      throw bad("message to be replied not found");
    const thread = params["message_thread_id"];
    const one = this.#add(this.#next++, chat.id, {
      thread: typeof thread === "number" ? thread : null,
      replyTo: answered?.id ?? null,
      buttons: buttonsIn(params),
      ...content,
    });
    this.#originals.set(one.id, this.asMessage(one));
    return this.asMessage(one);
  }

  #edit(chat: Chat, params: Json, content: Partial<Shown>): Json {
    this.#count(chat);
    const one = this.#find(chat, params, "edit");
    const now = { ...one, ...content, buttons: buttonsIn(params) };
    if (content.file === undefined && JSON.stringify(now) === JSON.stringify(one))
      throw bad(
        "message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message",
      );
    return this.asMessage(this.#change(one.id, { ...now, edits: one.edits + 1 }));
  }

  #find(chat: Chat, params: Json, what: string): Shown {
    const found = this.shown(chat.id).find((one) => one.id === params["message_id"]);
    if (found === undefined) throw bad(`message to ${what} not found`);
    if (found.from !== null) throw bad(`message can't be ${what}ed`);
    return found;
  }

  #react(params: Json): true {
    const [first] = params["reaction"] as readonly { readonly emoji: string }[];
    this.#change(Number(params["message_id"]), { reaction: first?.emoji ?? null });
    return true;
  }

  #add(id: number, chat: number, more: Partial<Shown>): Shown {
    const empty = { text: "", html: null, buttons: [], file: null, replyTo: null, reaction: null } as const;
    const one = { id, chat, thread: null, from: null, ...empty, edits: 0, isDeleted: false, ...more };
    this.#messages.push(one);
    return one;
  }

  #change(id: number, more: Partial<Shown>): Shown {
    const n = this.#messages.findIndex((one) => one.id === id);
    const old = this.#messages[n];
    if (old === undefined) throw bad("message not found");
    const now = { ...old, ...more };
    this.#messages[n] = now;
    return now;
  }

  /** By real counting, when rates are given. */
  #count(chat: Chat): void {
    if (this.rates === null) return;
    const now = Date.now();
    this.#sent = this.#sent.filter(({ at }) => now - at < 60_000);
    const wait = (max: number, ms: number, isCounted: (one: { readonly chat: number }) => boolean): number => {
      const recent = this.#sent.filter((one) => now - one.at < ms && isCounted(one));
      return recent.length < max ? 0 : Math.ceil(((recent.at(-max)?.at ?? now) + ms - now) / 1_000);
    };
    const isHere = (one: { readonly chat: number }): boolean => one.chat === chat.id;
    const seconds = Math.max(
      wait(this.rates.perSecond, 1_000, () => true),
      wait(this.rates.chatPerSecond * burst, burst * 1_000, isHere),
      chat.type === "private" ? 0 : wait(this.rates.groupPerMinute, 60_000, isHere),
    );
    if (seconds > 0) throw new Refusal(429, `Too Many Requests: retry after ${seconds}`, { retry_after: seconds });
    this.#sent.push({ at: now, chat: chat.id });
  }

  /** As Telegram tells the bot of its own messages. */
  asMessage({ id, chat, thread, text, buttons }: Shown): Json {
    const rows = buttons.map((one) => [{ text: one.text, callback_data: one.data }]);
    return {
      message_id: id,
      date: Math.floor(Date.now() / 1_000),
      chat: this.#chats.get(chat),
      from: me,
      text,
      ...(thread === null ? {} : { message_thread_id: thread, is_topic_message: true }),
      ...(rows.length === 0 ? {} : { reply_markup: { inline_keyboard: rows } }),
    };
  }
}

function fileFrom(kind: string, given: unknown): NonNullable<Shown["file"]> {
  const { name, content } = given as { readonly name: string; readonly content: Buffer };
  return { kind, name, content };
}

function buttonsIn(params: Json): Shown["buttons"] {
  const { inline_keyboard: rows = [] } = (params["reply_markup"] ?? {}) as {
    readonly inline_keyboard?: readonly (readonly { readonly text: string; readonly callback_data: string }[])[];
  };
  const all = rows.flat().map(({ text, callback_data: data }) => ({ text, data }));
  if (all.some(({ data }) => Buffer.byteLength(data) > 64 || data === "")) throw bad("BUTTON_DATA_INVALID");
  return all;
}
