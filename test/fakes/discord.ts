// A Discord in a box: its HTTP interface and its gateway on one port of the loopback, one bot, one server with channels, a
// thread and a forum, and people who write, read and press buttons. State outlives the gateways under test. Failures are
// said once or for a while: limits, errors, pages of others, sockets that break before or after the effect.

import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { type GatewayFake, gatewayFake } from "./discord-gateway.ts";
import type { DiscordVerdict, RouteLimit, Sent } from "./limits.ts";

export const bot = {
  id: "900000000000000001",
  username: "ever",
  global_name: null,
  discriminator: "0",
  avatar: null,
  bot: true,
};
export const application = "900000000000000002";
export const token = `${Buffer.from(bot.id).toString("base64url")}.AAAAAA.not-a-real-one`;
export const ann = { id: "100000000000000001", username: "ann", global_name: "Ann" };
export const bob = { id: "100000000000000002", username: "bob", global_name: "Bob" };
export const guild = "500000000000000001";
export const general = "600000000000000001";
export const forum = "600000000000000002";
export const thread = "600000000000000003";
export const direct = "700000000000000001";
export const ourRole = "800000000000000001";

export type Said = {
  readonly id: string;
  readonly channel_id: string;
  readonly author: { readonly id: string; readonly username: string };
  content: string;
  readonly attachments: readonly {
    readonly id: string;
    readonly filename: string;
    readonly size: number;
    readonly url: string;
  }[];
  readonly components: readonly {
    readonly components: readonly { readonly label: string; readonly custom_id: string; readonly disabled?: boolean }[];
  }[];
  readonly timestamp: string;
} & Readonly<Record<string, unknown>>;

export type Call = { readonly method: string; readonly path: string; readonly body: unknown };

/** What a matching call gets instead of its answer. `after`: the effect happens all the same. */
export type Mishap =
  | { readonly status: number; readonly after?: true; readonly html?: true }
  /** `scope`: one bucket of a route, which stays empty for so long; all of the bot; or one message among many others. */
  | { readonly limitedMs: number; readonly scope: "user" | "global" | "shared" }
  | { readonly drop: "before" | "after" }
  | { readonly hang: true };

export type DiscordFake = {
  readonly url: string;
  /** What clients are told about where to connect; another address where a proxy stands between. */
  publicUrl: string;
  readonly gateway: GatewayFake;
  readonly calls: readonly Call[];
  /** Told to the gateway as well. */
  say(channel: string, content: string, more?: object): Said;
  edit(channel: string, id: string, content: string): void;
  /** As if written while nobody was told. */
  write(channel: string, content: string, more?: object): Said;
  /** A new thread in a channel; its id. */
  openThread(parent: string, name: string): string;
  /** What a file holds that the bot has sent. */
  contentOf(attachment: Said["attachments"][number]): string;
  press(channel: string, message: string, label: string, by?: typeof ann): string;
  slash(channel: string, name: string, words?: string, by?: typeof ann): string;
  /** What the bot has written there and is still there, oldest first. */
  seen(channel: string): readonly Said[];
  history(channel: string): readonly Said[];
  /** How an interaction was answered; "late" after three seconds. */
  receipt(id: string): { readonly type: number; readonly data?: { readonly content?: string } } | "late" | undefined;
  commands(): readonly { readonly name: string }[];
  /** The next calls that fit get this. */
  mishap(fits: (call: Call) => boolean, what: Mishap, times?: number): void;
  /** How long a nonce is known. */
  nonceMs: number;
  sessionsLeft: number;
  isTokenWrong: boolean;
  /** Nobody is reached: sockets break and new ones are refused. */
  unplug(): Promise<void>;
  plug(): Promise<void>;
  close(): Promise<void>;
};

const epoch = 1_420_070_400_000n;
const channels: Readonly<Record<string, object>> = {
  [general]: { id: general, type: 0, guild_id: guild, name: "general" },
  [forum]: { id: forum, type: 15, guild_id: guild, name: "help" },
  [thread]: { id: thread, type: 11, guild_id: guild, name: "how do I start", parent_id: forum },
  [direct]: { id: direct, type: 1, recipients: [ann] },
};

export type DiscordOptions = {
  /** How fast messages may be written and edited; absent: as fast as they come. */
  readonly limits?: (one: Sent) => DiscordVerdict;
};

export async function discordFake({ limits }: DiscordOptions = {}): Promise<DiscordFake> {
  const channelFacts: Record<string, object> = { ...channels };
  const messages = new Map<string, Said[]>();
  const nonces = new Map<string, { readonly message: Said; readonly at: number }>();
  const receipts = new Map<string, { type: number }>();
  const begun = new Map<string, number>();
  const files = new Map<string, Buffer>();
  const calls: Call[] = [];
  const mishaps: { fits: (call: Call) => boolean; what: Mishap; times: number }[] = [];
  const sockets = new Set<Socket>();
  let registered: readonly { readonly name: string }[] = [];
  let last = 0n;

  const newId = (): string => {
    const now = (BigInt(Date.now()) - epoch) << 22n;
    last = now > last ? now : last + 1n;
    return String(last);
  };
  const newest = (channel: string): string | null => messages.get(channel)?.at(-1)?.id ?? null;
  const told = (channel: string): object => ({ ...channelFacts[channel], last_message_id: newest(channel) });
  const isInGuild = (channel: string): boolean => channel !== direct;

  const server = createServer((request, response) => void serve(request, response));
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  const gateway = gatewayFake(server, {
    isToken: (given) => given === token && !fake.isTokenWrong,
    ready: (session) => ({
      v: 10,
      user: bot,
      guilds: [{ id: guild, unavailable: true }],
      session_id: session,
      resume_gateway_url: fake.publicUrl.replace("http", "ws"),
      application: { id: application, flags: 0 },
    }),
    guilds: () => [
      {
        id: guild,
        name: "The Guild",
        joined_at: "2020-01-01T00:00:00.000Z",
        channels: [told(general), told(forum)],
        threads: Object.entries(channelFacts).flatMap(([id, facts]) => ("parent_id" in facts ? [told(id)] : [])),
        roles: [{ id: ourRole, name: "ever", tags: { bot_id: bot.id } }],
      },
    ],
  });

  function write(channel: string, content: string, more: object = {}): Said {
    const said: Said = {
      id: newId(),
      channel_id: channel,
      author: ann,
      content,
      timestamp: new Date().toISOString(),
      edited_timestamp: null,
      tts: false,
      mention_everyone: false,
      mentions: content.includes(`<@${bot.id}>`) ? [bot] : [],
      mention_roles: content.includes(`<@&${ourRole}>`) ? [ourRole] : [],
      attachments: [],
      embeds: [],
      components: [],
      pinned: false,
      type: 0,
      ...more,
    };
    messages.set(channel, [...(messages.get(channel) ?? []), said]);
    return said;
  }

  const tell = (t: string, said: Said): void =>
    gateway.dispatch(t, isInGuild(said.channel_id) ? { ...said, guild_id: guild, member: { roles: [] } } : said);

  function interact(channel: string, by: typeof ann, facts: object): string {
    const id = newId();
    begun.set(id, Date.now());
    const person = isInGuild(channel) ? { guild_id: guild, member: { user: by, roles: [] } } : { user: by };
    const place = { channel_id: channel, channel: channelFacts[channel] };
    gateway.dispatch("INTERACTION_CREATE", {
      id,
      application_id: application,
      token: `of-${id}`,
      version: 1,
      ...place,
      ...person,
      ...facts,
    });
    return id;
  }

  function verdictOn({ method, path }: Call): DiscordVerdict | null {
    const [, chat] = /^\/channels\/(\d+)\/messages/.exec(path) ?? [];
    if (limits === undefined || chat === undefined || (method !== "POST" && method !== "PATCH")) return null;
    return limits({ at: Date.now(), chat, kind: method === "POST" ? "post" : "edit" });
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
    if (pathname.startsWith("/files/")) return void response.end(files.get(pathname));
    const path = pathname.replace(/^\/v10/, "");
    const { body, uploads } = await read(request);
    const call: Call = { method: request.method ?? "", path, body };
    calls.push(call);
    const mishap = mishaps.find(({ fits, times }) => times > 0 && fits(call));
    if (mishap !== undefined) mishap.times--;
    const what: Mishap | { readonly none: true } = mishap?.what ?? { none: true };
    if ("hang" in what) return;
    if ("drop" in what && what.drop === "before") return void request.socket.destroy();
    if ("limitedMs" in what) return limited(response, what.limitedMs, what.scope);
    const verdict = verdictOn(call);
    if (verdict !== null && "waitMs" in verdict) return limited(response, verdict.waitMs, verdict.scope);
    if (verdict !== null)
      for (const [name, value] of Object.entries(bucketHeaders(verdict))) response.setHeader(name, value);
    if ("status" in what && what.after === undefined) return failed(response, what.status, what.html === true);
    const isOurs = request.headers.authorization === `Bot ${token}` && !fake.isTokenWrong;
    const [status, answer] =
      isOurs || path.startsWith("/interactions/")
        ? route(call, searchParams, uploads)
        : [401, { message: "401: Unauthorized", code: 0 }];
    if ("drop" in what) return void request.socket.destroy();
    if ("status" in what) return failed(response, what.status, what.html === true);
    reply(response, status, answer);
  }

  type Answer = readonly [status: number, body: unknown];
  const unknown = (what: string, code: number): Answer => [404, { message: `Unknown ${what}`, code }];

  function route(call: Call, query: URLSearchParams, uploads: readonly Upload[]): Answer {
    const [kind = "", id = "", what = "", item = ""] = call.path.split("/").slice(1);
    const body = (call.body ?? {}) as Readonly<Record<string, unknown>>;
    if (call.path === "/users/@me") return [200, bot];
    if (call.path === "/applications/@me") return [200, { id: application, name: "ever" }];
    if (call.path === "/gateway/bot") {
      const limit = { total: 1_000, remaining: fake.sessionsLeft, reset_after: 3_600_000, max_concurrency: 1 };
      return [200, { url: fake.publicUrl.replace("http", "ws"), shards: 1, session_start_limit: limit }];
    }
    if (kind === "interactions") return answered(id, body);
    if (kind === "applications") {
      if (call.method === "PUT") registered = call.body as typeof registered;
      return [200, registered];
    }
    if (kind === "guilds") return [200, [{ id: ourRole, name: "ever", tags: { bot_id: bot.id } }]];
    if (kind !== "channels" || channelFacts[id] === undefined) return unknown("Channel", 10_003);
    if (what === "") return [200, told(id)];
    if (what === "typing") return [204, null];
    if (call.method === "GET") return [200, after(id, query)];
    // Nothing of ours may show previews: Discord would fetch whatever address stands in it.
    const isPlain = call.method === "GET" || call.method === "DELETE" || ((body["flags"] as number) & 4) === 4;
    if (!isPlain) return [400, { message: "Embeds are not suppressed", code: 50_035 }];
    if (call.method === "POST") return post(id, body, uploads);
    const message = messages.get(id)?.find((one) => one.id === item);
    if (message === undefined) return unknown("Message", 10_008);
    if (call.method === "DELETE") {
      messages.set(
        id,
        (messages.get(id) ?? []).filter((one) => one !== message),
      );
      return [204, null];
    }
    Object.assign(
      message,
      body,
      uploads.length > 0 || body["attachments"] ? { attachments: uploads.map(attachment) } : {},
    );
    return [200, message];
  }

  function after(channel: string, query: URLSearchParams): readonly Said[] {
    const from = BigInt(query.get("after") ?? "0");
    const later = (messages.get(channel) ?? []).filter((one) => BigInt(one.id) > from);
    return later.slice(0, Number(query.get("limit") ?? 50)).toReversed();
  }

  function post(channel: string, body: Readonly<Record<string, unknown>>, uploads: readonly Upload[]): Answer {
    const { content: words } = body;
    const content = typeof words === "string" ? words.trim() : "";
    if (content.length > 2_000 || (content === "" && uploads.length === 0))
      return [400, { message: "Invalid Form Body", code: 50_035 }];
    const nonce = typeof body["nonce"] === "string" ? body["nonce"] : null;
    if (nonce !== null && nonce.length > 25) return [400, { message: "Invalid Form Body", code: 50_035 }];
    const known = nonce === null || body["enforce_nonce"] !== true ? undefined : nonces.get(nonce);
    if (known !== undefined && Date.now() - known.at < fake.nonceMs) return [200, known.message];
    const { components = [], message_reference: reference } = body;
    const said = write(channel, content, {
      author: bot,
      components,
      message_reference: reference,
      attachments: uploads.map(attachment),
    });
    if (nonce !== null) nonces.set(nonce, { message: said, at: Date.now() });
    tell("MESSAGE_CREATE", said);
    return [200, { ...said, nonce }];
  }

  function attachment({ name, data }: Upload): Said["attachments"][number] {
    const path = `/files/${files.size}/${tidied(name)}`;
    files.set(path, data);
    return { id: newId(), filename: tidied(name), size: data.length, url: `${fake.publicUrl}${path}` };
  }

  function answered(id: string, body: Readonly<Record<string, unknown>>): Answer {
    const since = begun.get(id);
    if (since === undefined || Date.now() - since > 3_000) return unknown("interaction", 10_062);
    if (receipts.has(id)) return [400, { message: "Interaction has already been acknowledged.", code: 40_060 }];
    receipts.set(id, body as { type: number });
    return [204, null];
  }

  const listen = (port: number): Promise<void> => new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
  const unplug = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;

  const fake: DiscordFake = {
    url,
    publicUrl: url,
    gateway,
    calls,
    nonceMs: 180_000,
    sessionsLeft: 1_000,
    isTokenWrong: false,
    write,
    say(channel, content, more) {
      const said = write(channel, content, more);
      tell("MESSAGE_CREATE", said);
      return said;
    },
    edit(channel, id, content) {
      const said = messages.get(channel)?.find((one) => one.id === id);
      if (said === undefined) throw new Error(`no message ${id}`);
      Object.assign(said, { content, edited_timestamp: new Date().toISOString() });
      tell("MESSAGE_UPDATE", said);
    },
    openThread(parent, name) {
      const id = newId();
      channelFacts[id] = { id, type: 11, guild_id: guild, name, parent_id: parent };
      gateway.dispatch("THREAD_CREATE", told(id));
      return id;
    },
    contentOf: (one) => String(files.get(new URL(one.url).pathname)),
    press(channel, id, label, by = ann) {
      const message = messages.get(channel)?.find((one) => one.id === id);
      const button = message?.components.flatMap((row) => row.components).find((one) => one.label === label);
      if (button === undefined || button.disabled === true) throw new Error(`no button ${label} on ${id}`);
      return interact(channel, by, { type: 3, data: { component_type: 2, custom_id: button.custom_id }, message });
    },
    slash(channel, name, words, by = ann) {
      const options = words === undefined ? [] : [{ type: 3, name: "words", value: words }];
      return interact(channel, by, { type: 2, data: { id: "1", type: 1, name, options } });
    },
    seen: (channel) => (messages.get(channel) ?? []).filter((one) => one.author.id === bot.id),
    history: (channel) => messages.get(channel) ?? [],
    receipt(id) {
      const given = receipts.get(id);
      return given ?? (Date.now() - (begun.get(id) ?? 0) > 3_000 ? "late" : undefined);
    },
    commands: () => registered,
    mishap: (fits, what, times = 1) => void mishaps.push({ fits, what, times }),
    unplug,
    plug: () => listen(port),
    close: unplug,
  };
  return fake;
}

// Requests and answers

export type Upload = { readonly name: string; readonly data: Buffer };

async function read(request: IncomingMessage): Promise<{ body: unknown; uploads: readonly Upload[] }> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const whole = Buffer.concat(chunks);
  const type = request.headers["content-type"] ?? "";
  if (!type.startsWith("multipart/"))
    return { body: whole.length === 0 ? null : JSON.parse(String(whole)), uploads: [] };
  const form = await new Response(whole, { headers: { "content-type": type } }).formData();
  const uploads: Upload[] = [];
  for (const [key, value] of form)
    if (key.startsWith("files[") && typeof value !== "string")
      uploads.push({ name: value.name, data: Buffer.from(await value.arrayBuffer()) });
  return { body: JSON.parse(form.get("payload_json") as string), uploads };
}

/** An answer without content must not say that it is JSON: the library would try to read it. */
function reply(response: ServerResponse, status: number, body: unknown): void {
  if (status === 204) return void response.writeHead(204).end();
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function failed(response: ServerResponse, status: number, isPage: boolean): void {
  if (!isPage) return reply(response, status, { message: `${status}: it went wrong`, code: 0 });
  response.writeHead(status, { "content-type": "text/html" }).end("<html><body>Bad gateway</body></html>");
}

function limited(response: ServerResponse, ms: number, scope: "user" | "global" | "shared"): void {
  const seconds = String(ms / 1000);
  const bucket = { "x-ratelimit-limit": "5", "x-ratelimit-remaining": "0", "x-ratelimit-reset-after": seconds };
  response.writeHead(429, {
    "content-type": "application/json",
    "retry-after": seconds,
    "x-ratelimit-scope": scope,
    ...(scope === "user" ? { ...bucket, "x-ratelimit-bucket": "b1" } : {}),
    ...(scope === "global" ? { "x-ratelimit-global": "true" } : {}),
  });
  const global = scope === "global";
  response.end(JSON.stringify({ message: "You are being rate limited.", retry_after: ms / 1000, global }));
}

function bucketHeaders({ limit, remaining, resetMs }: RouteLimit): Readonly<Record<string, string>> {
  return {
    "x-ratelimit-limit": String(limit),
    "x-ratelimit-remaining": String(remaining),
    "x-ratelimit-reset-after": String(resetMs / 1_000),
    "x-ratelimit-bucket": "messages",
  };
}

/** Names of files as Discord keeps them. */
function tidied(name: string): string {
  return (
    name
      .replaceAll(" ", "_")
      .replaceAll(/[^\w.-]/g, "")
      .replace(/^_/, "") || "unknown"
  );
}
