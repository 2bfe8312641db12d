// A workspace of Slack: people, conversations, messages and files, and the methods of the Web API that read and write them.
// No network here. A method gives its answer, or an error by its name.

export type Text = { readonly [key: string]: unknown };

export type Message = {
  type: "message";
  subtype?: string;
  user?: string;
  bot_id?: string;
  app_id?: string;
  ts: string;
  text: string;
  thread_ts?: string;
  parent_user_id?: string;
  reply_count?: number;
  latest_reply?: string;
  metadata?: unknown;
  blocks?: readonly Text[];
  attachments?: readonly Text[];
  files?: readonly StoredFile[];
  edited?: { user: string; ts: string };
};

export type StoredFile = {
  id: string;
  name: string;
  title: string;
  mimetype: string;
  size: number;
  url_private: string;
  url_private_download: string;
};

export type Kind = "im" | "mpim" | "public_channel" | "private_channel";
export type Channel = { readonly id: string; readonly kind: Kind; readonly name: string; readonly messages: Message[] };

export class Refusal extends Error {
  readonly more: Text;
  constructor(code: string, more: Text = {}) {
    super(code);
    this.more = more;
  }
}

export const bot = { user: "U0EVERTURN", bot: "B0EVERTURN", app: "A0FAKE", name: "everturn" };
export const botToken = "xoxb-1-fake";
export const appToken = `xapp-1-${bot.app}-1-fake`;

export type Workspace = ReturnType<typeof newWorkspace>;

export function newWorkspace() {
  const channels = new Map<string, Channel>();
  const people = new Map<string, string>([["U1", "alice"]]);
  const files = new Map<string, StoredFile & { content: Buffer }>();
  const lacking = new Set<string>();
  let last = 0;
  let origin = "";
  let count = 0;

  /** Moments are unique and grow. */
  function moment(): string {
    last = Math.max(last + 1, Date.now() * 1_000);
    return `${Math.floor(last / 1_000_000)}.${String(last % 1_000_000).padStart(6, "0")}`;
  }
  function channelOf(id: unknown): Channel {
    return channels.get(String(id)) ?? refuse("channel_not_found");
  }
  function add(channel: Channel, message: Omit<Message, "type" | "ts"> & { ts?: string }): Message {
    const whole: Message = { type: "message", ts: moment(), ...message };
    const parent = channel.messages.find(({ ts }) => ts === whole.thread_ts);
    if (parent !== undefined && parent !== whole) {
      parent.thread_ts = parent.ts;
      parent.reply_count = (parent.reply_count ?? 0) + 1;
      parent.latest_reply = whole.ts;
      if (parent.user !== undefined) whole.parent_user_id = parent.user;
    }
    channel.messages.push(whole);
    return whole;
  }
  function store(name: string, mimetype: string, content: Buffer): StoredFile {
    const id = `F${(count += 1)}`;
    const url = `${origin}/files/${id}/${encodeURIComponent(name)}`;
    const file = { id, name, title: name, mimetype, size: content.length, url_private: url, url_private_download: url };
    files.set(id, { ...file, content });
    return file;
  }
  const as = { user: bot.user, bot_id: bot.bot, app_id: bot.app };
  const needs = (scope: string): void => {
    if (lacking.has(scope)) throw new Refusal("missing_scope", { needed: scope, provided: "chat:write" });
  };
  const ours = (channel: Channel, ts: unknown): Message => {
    const found = channel.messages.find((one) => one.ts === ts) ?? refuse("message_not_found");
    return found.user === bot.user ? found : refuse("cant_update_message");
  };

  const methods: { readonly [name: string]: (args: Text) => Text } = {
    "auth.test": () => ({ user_id: bot.user, bot_id: bot.bot, user: bot.name, team: "Fakes", team_id: "T1" }),
    "chat.postMessage"({ channel, text = "", thread_ts, metadata, blocks, unfurl_links, unfurl_media }) {
      needs("chat:write");
      // Nothing of ours may show previews: Slack would fetch whatever address stands in it.
      if (String(unfurl_links) !== "false" || String(unfurl_media) !== "false") throw new Refusal("links_unfurl");
      if (text === "" && blocks === undefined) throw new Refusal("no_text");
      const place = channelOf(channel);
      const { ts } = add(place, {
        ...as,
        text: String(text).slice(0, 40_000),
        ...(thread_ts === undefined ? {} : { thread_ts: thread_ts as string }),
        ...(metadata === undefined ? {} : { metadata }),
        ...(blocks === undefined ? {} : { blocks: blocks as readonly Text[] }),
      });
      return { channel, ts };
    },
    "chat.update"({ channel, ts, text, blocks, metadata }) {
      const message = ours(channelOf(channel), ts);
      message.text = String(text).slice(0, 40_000);
      message.edited = { user: bot.user, ts: moment() };
      if (blocks !== undefined) message.blocks = blocks as readonly Text[];
      if (metadata !== undefined) message.metadata = metadata;
      return { channel, ts };
    },
    "chat.delete"({ channel, ts }) {
      const place = channelOf(channel);
      place.messages.splice(place.messages.indexOf(ours(place, ts)), 1);
      return { channel, ts };
    },
    "conversations.history"(args) {
      const place = channelOf(args["channel"]);
      const tops = place.messages.filter((one) => one.thread_ts === undefined || one.thread_ts === one.ts);
      return paged(within(tops, args).toReversed(), args, "messages");
    },
    "conversations.replies"(args) {
      const place = channelOf(args["channel"]);
      const root = place.messages.find(({ ts }) => ts === args["ts"]) ?? refuse("thread_not_found");
      const replies = place.messages.filter((one) => one !== root && one.thread_ts === root.ts);
      return paged([...shown([root], args), ...within(replies, args)], args, "messages");
    },
    "conversations.open": ({ users }) => ({ channel: { id: direct(String(users)).id } }),
    "users.conversations"(args) {
      const kinds = ((args["types"] as string | undefined) ?? "public_channel").split(",");
      if (kinds.includes("private_channel")) needs("groups:read");
      const found = [...channels.values()].filter(({ kind }) => kinds.includes(kind));
      const shape = ({ id, kind, name }: Channel) => ({ id, ...(kind === "im" ? { is_im: true } : { name }) });
      return paged(found.map(shape), args, "channels");
    },
    "users.info": ({ user }) => ({ user: { id: user, name: people.get(String(user)) ?? refuse("user_not_found") } }),
    "files.getUploadURLExternal"({ filename, length }) {
      needs("files:write");
      const { id } = store(String(filename), "text/plain", Buffer.alloc(Number(length)));
      return { upload_url: `${origin}/upload/${id}`, file_id: id };
    },
    "files.completeUploadExternal"({ files: given, channel_id, thread_ts }) {
      const refs = (given as readonly { id: string; title?: string }[]).map(({ id, title }) => {
        const { content: _, ...file } = files.get(id) ?? refuse("file_not_found");
        return { ...file, title: title ?? file.name };
      });
      const thread = thread_ts === undefined ? {} : { thread_ts: thread_ts as string };
      if (channel_id !== undefined)
        add(channelOf(channel_id), { ...as, subtype: "file_share", text: "", files: refs, ...thread });
      return { files: refs };
    },
  };

  function direct(user: string): Channel {
    const id = `D${user}`;
    return open(id, "im", id);
  }
  function open(id: string, kind: Kind, name: string): Channel {
    const known = channels.get(id) ?? { id, kind, name, messages: [] };
    channels.set(id, known);
    return known;
  }

  return {
    channels,
    people,
    files,
    methods,
    /** Scopes that the app was not given. */
    lacking,
    moment,
    add,
    store,
    open,
    direct,
    channelOf,
    setOrigin: (at: string) => (origin = at),
  };
}

function refuse(code: string): never {
  throw new Refusal(code);
}

function within(messages: readonly Message[], args: Text): readonly Message[] {
  const { oldest, latest, inclusive } = args;
  const isWithin = ({ ts }: Message): boolean => {
    if (typeof oldest === "string" && !(ts > oldest || (inclusive === "true" && ts === oldest))) return false;
    return typeof latest !== "string" || ts < latest;
  };
  return shown(messages.filter(isWithin), args);
}

/** Metadata is shown to those who ask for it. */
function shown(messages: readonly Message[], { include_all_metadata: isAsked }: Text): readonly Message[] {
  if (String(isAsked) === "true") return messages;
  return messages.map((one) => {
    const { metadata, ...rest } = one;
    return metadata === undefined ? one : rest;
  });
}

function paged(all: readonly unknown[], { cursor, limit }: Text, of: string): Text {
  const from = Number(cursor ?? 0);
  const to = from + Math.min(Number(limit ?? 100), 999);
  const next = to < all.length ? String(to) : "";
  return { [of]: all.slice(from, to), has_more: next !== "", response_metadata: { next_cursor: next } };
}
