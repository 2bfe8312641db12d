// The calls of Slack's Web API that we use, and the socket it sends events through. The libraries are loaded at the first
// use. Nothing is repeated here: who may repeat what is decided by those who call. Every rejection is for faults.ts to read.

import type { Streaming } from "../../ports/platform.ts";
import type { SocketModeClient } from "@slack/socket-mode";
import type { WebClient } from "@slack/web-api";
import type { World } from "../../ports/world.ts";
import type { Attachment } from "./attached.ts";
import type { Block } from "./outbound.ts";

export type SlackSettings = {
  readonly botToken: string;
  readonly appToken: string;
  /** Where the Web API is, up to and without the last slash. */
  readonly apiRoot: string;
  readonly streaming: Streaming;
};

/** Slack leaves the payload out where it was not asked for. */
export type Metadata = { readonly event_type: string; readonly event_payload?: Readonly<Record<string, unknown>> };

export type SlackFile = {
  readonly id?: string;
  readonly name?: string | null;
  readonly title?: string;
  readonly mimetype?: string;
  readonly size?: number;
  readonly mode?: string;
  readonly url_private?: string;
  readonly url_private_download?: string;
};

/** A message as events and history show it. */
export type SlackMessage = {
  readonly type?: string;
  readonly subtype?: string;
  readonly ts: string;
  readonly user?: string;
  readonly username?: string;
  readonly bot_id?: string;
  readonly app_id?: string;
  readonly text?: string;
  readonly thread_ts?: string;
  readonly parent_user_id?: string;
  readonly latest_reply?: string;
  readonly files?: readonly SlackFile[];
  readonly blocks?: readonly Block[];
  readonly attachments?: readonly Attachment[];
  readonly edited?: { readonly user?: string; readonly ts: string };
  readonly metadata?: Metadata;
};

export type Conversation = {
  readonly id: string;
  readonly name?: string;
  readonly is_im?: boolean;
  readonly is_mpim?: boolean;
};

export type Us = { readonly user: string; readonly bot: string; readonly name: string; readonly team: string };

type Post = {
  readonly channel: string;
  readonly thread_ts?: string;
  readonly text: string;
  readonly blocks?: readonly Block[];
  readonly metadata?: Metadata;
};

export type Page<T> = { readonly items: readonly T[]; readonly next: string | null };
type Since = { readonly oldest?: string; readonly cursor?: string | null };

export interface Api {
  whoAmI(signal: AbortSignal): Promise<Us>;
  /** Whether a socket could be opened; it is not. */
  trySocket(signal: AbortSignal): Promise<void>;
  socket(): Promise<SocketModeClient>;
  post(message: Post, signal: AbortSignal): Promise<{ readonly ts: string }>;
  update(message: Post & { readonly ts: string }, signal: AbortSignal): Promise<void>;
  remove(channel: string, ts: string, signal: AbortSignal): Promise<void>;
  /** Newest first, without replies in threads. */
  history(channel: string, since: Since, signal: AbortSignal): Promise<Page<SlackMessage>>;
  /** A thread with its first message, oldest first. */
  replies(channel: string, thread: string, since: Since, signal: AbortSignal): Promise<Page<SlackMessage>>;
  /** Where we take part. */
  conversations(types: string, cursor: string | null, signal: AbortSignal): Promise<Page<Conversation>>;
  userName(user: string, signal: AbortSignal): Promise<string | null>;
  /** The chat of two with somebody. */
  direct(user: string, signal: AbortSignal): Promise<string>;
  upload(
    name: string,
    content: Uint8Array,
    signal: AbortSignal,
  ): Promise<{ readonly id: string; readonly title: string }>;
  share(
    files: readonly { readonly id: string; readonly title: string }[],
    to: { readonly channel: string; readonly thread?: string },
    signal: AbortSignal,
  ): Promise<void>;
  download(url: string, signal: AbortSignal): Promise<Response>;
}

/** A call without an answer after this is one that nobody knows about. */
const callMs = 30_000;
/** A ping of ours that nobody answers for this long means that the socket is deaf; we ask three times as often. */
const pongMs = 10_000;
const pageSize = 200;

export function openApi(settings: SlackSettings, world: World): Api {
  const options = {
    slackApiUrl: `${settings.apiRoot}/`,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    timeout: callMs,
    allowAbsoluteUrls: false,
  };
  const logger = quiet(world);
  let client: Promise<WebClient> | undefined;
  const web = (): Promise<WebClient> =>
    (client ??= import("@slack/web-api").then(
      (library) => new library.WebClient(settings.botToken, { ...options, logger }),
    ));

  async function call<T>(method: string, args: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<T> {
    const ready = await web();
    // Slack's answer is what its documents say, or it is found at the first use of what is missing.
    return raced(ready.apiCall(method, { ...args }) as Promise<unknown> as Promise<T>, signal);
  }
  async function page<T>(
    method: string,
    of: "messages" | "channels",
    args: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<Page<T>> {
    const answer = await call<Paged<T>>(method, { limit: pageSize, ...args }, signal);
    const next = answer.response_metadata?.next_cursor;
    return { items: answer[of] ?? [], next: next === undefined || next === "" ? null : next };
  }

  return {
    async whoAmI(signal) {
      const { user_id, bot_id = "", user, team = "" } = await call<Identity>("auth.test", {}, signal);
      return { user: user_id, bot: bot_id, name: user, team };
    },
    async trySocket(signal) {
      const { WebClient: Client } = await import("@slack/web-api");
      const app = new Client(settings.appToken, { ...options, logger });
      await raced(app.apiCall("apps.connections.open"), signal);
    },
    async socket() {
      const { SocketModeClient: Client } = await import("@slack/socket-mode");
      return new Client({
        appToken: settings.appToken,
        autoReconnectEnabled: false,
        clientPingTimeout: pongMs,
        clientOptions: options,
        logger,
      });
    },
    post: (message, signal) => call("chat.postMessage", { ...message, ...plainLinks }, signal),
    update: (message, signal) => call("chat.update", message, signal),
    remove: (channel, ts, signal) => call("chat.delete", { channel, ts }, signal),
    history: (channel, since, signal) =>
      page("conversations.history", "messages", { channel, ...asked(since) }, signal),
    replies: (channel, ts, since, signal) =>
      page("conversations.replies", "messages", { channel, ts, ...asked(since) }, signal),
    conversations: (types, cursor, signal) =>
      page(
        "users.conversations",
        "channels",
        { types, exclude_archived: true, ...(cursor === null ? {} : { cursor }) },
        signal,
      ),
    async userName(user, signal) {
      const answer = await call<{ readonly user?: { readonly name?: string } }>("users.info", { user }, signal);
      return answer.user?.name ?? null;
    },
    async direct(users, signal) {
      const answer = await call<{ readonly channel: { readonly id: string } }>("conversations.open", { users }, signal);
      return answer.channel.id;
    },
    async upload(name, content, signal) {
      const args = { filename: name, length: content.byteLength };
      const { upload_url, file_id } = await call<Upload>("files.getUploadURLExternal", args, signal);
      const body = Buffer.from(content);
      const response = await fetch(upload_url, { method: "POST", body, signal: withLimit(signal) });
      await response.arrayBuffer();
      if (!response.ok) throw new HttpTrouble(response.status, "the upload of a file");
      return { id: file_id, title: name };
    },
    share: (files, { channel, thread }, signal) =>
      call(
        "files.completeUploadExternal",
        { files, channel_id: channel, ...(thread === undefined ? {} : { thread_ts: thread }) },
        signal,
      ),
    download: (url, signal) =>
      fetch(url, { headers: { authorization: `Bearer ${settings.botToken}` }, signal: withLimit(signal) }),
  };
}

/** An answer by HTTP alone, from where the library does not look. */
export class HttpTrouble extends Error {
  override name = "HttpTrouble";
  readonly statusCode: number;
  constructor(statusCode: number, what: string) {
    super(`${what} was answered with ${statusCode}`);
    this.statusCode = statusCode;
  }
}

type Paged<T> = {
  readonly messages?: readonly T[];
  readonly channels?: readonly T[];
  readonly response_metadata?: { readonly next_cursor?: string };
};
type Identity = { readonly user_id: string; readonly bot_id?: string; readonly user: string; readonly team?: string };
type Upload = { readonly upload_url: string; readonly file_id: string };

/** What an agent links to is not fetched by Slack and unfolded below it. */
const plainLinks = { unfurl_links: false, unfurl_media: false };

function asked({ oldest, cursor }: Since): Readonly<Record<string, unknown>> {
  return {
    include_all_metadata: true,
    ...(oldest === undefined ? {} : { oldest }),
    ...(cursor === undefined || cursor === null ? {} : { cursor }),
  };
}

function withLimit(signal: AbortSignal): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(callMs)]);
}

/** Ends with the signal; the library cannot take back a call, so nobody knows what becomes of it. */
export async function raced<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const over = Promise.withResolvers<never>();
  const stop = (): void => over.reject(new Error("the call was given up before there was an answer"));
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([work, over.promise]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** The libraries' own words, where somebody looks closely. */
function quiet(world: World) {
  const say = (...words: readonly unknown[]): void => world.log("debug", "slack library", { words: words.map(String) });
  const level = "warn";
  // The libraries compare levels by their names, which are these texts.
  return {
    debug: () => undefined,
    info: () => undefined,
    warn: say,
    error: say,
    setLevel: () => undefined,
    getLevel: () => level as never,
    setName: () => undefined,
  };
}
