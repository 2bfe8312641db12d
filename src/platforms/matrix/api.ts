// The few calls of the Matrix client-server API that we make, over plain HTTP. An answer that is an error is a value of
// its own kind; what happens to the connection is thrown on. Knows nothing of messages.

export type MatrixEvent = {
  readonly type: string;
  readonly event_id?: string;
  readonly sender?: string;
  readonly state_key?: string;
  readonly origin_server_ts?: number;
  readonly content?: Readonly<Record<string, unknown>>;
  /** The transaction id is shown to the account that sent the event. */
  readonly unsigned?: { readonly transaction_id?: string };
};

export type Timeline = {
  readonly events?: readonly MatrixEvent[];
  /** More happened than is told here; the rest is to be had before `prev_batch`. */
  readonly limited?: boolean;
  readonly prev_batch?: string;
};

export type Sync = {
  readonly next_batch: string;
  readonly rooms?: {
    readonly join?: Readonly<Record<string, { readonly timeline?: Timeline }>>;
    readonly invite?: Readonly<
      Record<string, { readonly invite_state?: { readonly events?: readonly MatrixEvent[] } }>
    >;
  };
};

/** What the server answered when it was not what we asked for. `code` is null where it was no answer of a homeserver. */
export class MatrixError extends Error {
  override name = "MatrixError";
  readonly status: number;
  readonly code: string | null;
  readonly retryAfterMs: number | null;
  constructor(status: number, code: string | null, message: string, retryAfterMs: number | null) {
    super(message);
    this.status = status;
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }
}

export interface MatrixApi {
  whoami(signal: AbortSignal): Promise<{ readonly user_id: string }>;
  sync(since: string | null, waitMs: number, signal: AbortSignal): Promise<Sync>;
  /** The same `txn` again is the same event. */
  sendEvent(room: string, type: string, txn: string, content: object, signal: AbortSignal): Promise<string>;
  /** Whether an event still says something; one that was taken away is empty. */
  stands(room: string, event: string, signal: AbortSignal): Promise<boolean>;
  redact(room: string, event: string, txn: string, signal: AbortSignal): Promise<void>;
  join(room: string, signal: AbortSignal): Promise<void>;
  /** Who is in a room, and how they call themselves there. */
  members(room: string, signal: AbortSignal): Promise<ReadonlyMap<string, string>>;
  /**
   * What happened in a room before a place, the newest first, back to `to`; `end` is null at its beginning. `from` null is
   * now.
   */
  before(
    room: string,
    from: string | null,
    to: string | null,
    signal: AbortSignal,
  ): Promise<{ readonly events: readonly MatrixEvent[]; readonly end: string | null }>;
  typing(room: string, user: string, ms: number, signal: AbortSignal): Promise<void>;
  receipt(room: string, event: string, signal: AbortSignal): Promise<void>;
  upload(bytes: Uint8Array, name: string, mime: string, signal: AbortSignal): Promise<string>;
  download(mxc: string, signal: AbortSignal): Promise<Response>;
}

type Ask = {
  readonly method?: string;
  readonly body?: object;
  readonly bytes?: Uint8Array;
  readonly mime?: string;
};

/** Only what people say is wanted, of rooms only what is new, and nobody's presence. */
export const filter = {
  presence: { types: [] },
  account_data: { types: [] },
  room: {
    account_data: { types: [] },
    ephemeral: { types: [] },
    state: { types: [], lazy_load_members: true },
    timeline: { limit: 100, types: ["m.room.message", "m.room.encrypted", "m.room.member"] },
  },
} as const;

const pageOf = 100;

export function matrixApi(homeserver: string, token: string): MatrixApi {
  const root = homeserver.replace(/\/+$/, "");

  async function ask(path: string, signal: AbortSignal, { method = "GET", body, bytes, mime }: Ask = {}) {
    const headers: Record<string, string> = { authorization: `Bearer ${token}` };
    if (body !== undefined) headers["content-type"] = "application/json";
    if (mime !== undefined) headers["content-type"] = mime;
    const given = bytes ?? (body === undefined ? undefined : JSON.stringify(body));
    const what = given === undefined ? {} : { body: given as string | Uint8Array<ArrayBuffer> };
    const response = await fetch(`${root}/_matrix/${path}`, { method, headers, signal, redirect: "error", ...what });
    if (!response.ok) throw await errorOf(response);
    return response;
  }

  async function json<T>(path: string, signal: AbortSignal, how?: Ask): Promise<T> {
    const response = await ask(path, signal, how);
    try {
      return (await response.json()) as T;
    } catch (error) {
      if (error instanceof SyntaxError) throw notMatrix(response.status);
      throw error;
    }
  }

  const room = (id: string) => `client/v3/rooms/${encodeURIComponent(id)}`;
  return {
    async whoami(signal) {
      const answer = await json<{ readonly user_id?: unknown }>("client/v3/account/whoami", signal);
      return { user_id: textOf(answer.user_id) };
    },
    sync(since, waitMs, signal) {
      // The first time only the place is wanted: what was said before we came is not for us.
      const wanted = since === null ? { ...filter, room: { ...filter.room, timeline: { limit: 0 } } } : filter;
      const query = new URLSearchParams({ filter: JSON.stringify(wanted), timeout: String(waitMs) });
      if (since !== null) query.set("since", since);
      return json(`client/v3/sync?${query.toString()}`, signal);
    },
    async sendEvent(id, type, txn, content, signal) {
      const path = `${room(id)}/send/${type}/${encodeURIComponent(txn)}`;
      const sent = await json<{ readonly event_id?: unknown }>(path, signal, { method: "PUT", body: content });
      return textOf(sent.event_id);
    },
    async stands(id, event, signal) {
      type Found = { readonly content?: object; readonly unsigned?: { readonly redacted_because?: unknown } };
      try {
        const { unsigned } = await json<Found>(`${room(id)}/event/${encodeURIComponent(event)}`, signal);
        return unsigned?.redacted_because === undefined;
      } catch (error) {
        if (error instanceof MatrixError && error.code === "M_NOT_FOUND") return false;
        throw error;
      }
    },
    async redact(id, event, txn, signal) {
      const path = `${room(id)}/redact/${encodeURIComponent(event)}/${encodeURIComponent(txn)}`;
      await ask(path, signal, { method: "PUT", body: {} });
    },
    async join(id, signal) {
      await ask(`client/v3/join/${encodeURIComponent(id)}`, signal, { method: "POST", body: {} });
    },
    async members(id, signal) {
      type Joined = { readonly joined: Readonly<Record<string, { readonly display_name?: string | null }>> };
      const { joined } = await json<Joined>(`${room(id)}/joined_members`, signal);
      return new Map(Object.entries(joined).map(([user, one]) => [user, one.display_name ?? user]));
    },
    async before(id, from, to, signal) {
      const query = new URLSearchParams({ dir: "b", limit: String(pageOf), ...(to === null ? {} : { to }) });
      if (from !== null) query.set("from", from);
      type Page = { readonly chunk?: readonly MatrixEvent[]; readonly end?: string };
      const { chunk = [], end } = await json<Page>(`${room(id)}/messages?${query.toString()}`, signal);
      return { events: chunk, end: end ?? null };
    },
    async typing(id, user, ms, signal) {
      const body = { typing: true, timeout: ms };
      await ask(`${room(id)}/typing/${encodeURIComponent(user)}`, signal, { method: "PUT", body });
    },
    async receipt(id, event, signal) {
      await ask(`${room(id)}/receipt/m.read/${encodeURIComponent(event)}`, signal, { method: "POST", body: {} });
    },
    async upload(bytes, name, mime, signal) {
      const path = `media/v3/upload?filename=${encodeURIComponent(name)}`;
      const answer = await json<{ readonly content_uri?: unknown }>(path, signal, { method: "POST", bytes, mime });
      return textOf(answer.content_uri);
    },
    async download(mxc, signal) {
      const [, server = "", id = ""] = /^mxc:\/\/([^/]+)\/([\w-]+)$/.exec(mxc) ?? [];
      const path = `${encodeURIComponent(server)}/${id}`;
      try {
        return await ask(`client/v1/media/download/${path}`, signal);
      } catch (error) {
        // Servers from before media had to be asked for with a token.
        if (!(error instanceof MatrixError) || error.code !== "M_UNRECOGNIZED") throw error;
        return ask(`media/v3/download/${path}`, signal);
      }
    },
  };
}

async function errorOf(response: Response): Promise<MatrixError> {
  const { status } = response;
  const after = Number(response.headers.get("retry-after"));
  try {
    const told = (await response.json()) as { errcode?: unknown; error?: unknown; retry_after_ms?: unknown };
    if (typeof told.errcode !== "string") return notMatrix(status);
    const pause = typeof told.retry_after_ms === "number" ? told.retry_after_ms : after > 0 ? after * 1_000 : null;
    return new MatrixError(status, told.errcode, typeof told.error === "string" ? told.error : told.errcode, pause);
  } catch (error) {
    if (error instanceof SyntaxError) return notMatrix(status);
    throw error;
  }
}

/** What every homeserver names in such an answer; without it, something else has answered. */
function textOf(given: unknown): string {
  if (typeof given === "string") return given;
  throw notMatrix(200);
}

function notMatrix(status: number): MatrixError {
  return new MatrixError(status, null, `an answer with status ${status} that is none of a homeserver`, null);
}
