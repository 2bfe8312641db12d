// What goes over the wire between an OpenAI-compatible client and the gateway, as far as it means something here, and the
// limits of it. Types and numbers only.

import type { CallOptions } from "../../core/call-options.ts";

/** `POST /v1/chat/completions`, after it was read. */
export type ChatRequest = {
  readonly model: string;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly user: string | null;
  readonly messages: readonly Said[];
  /** What the model is asked beside the messages. */
  readonly options: CallOptions;
};

/** One message of a request. `files` are those whose content came with it. */
export type Said = {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly text: string;
  readonly files: readonly GivenFile[];
};

export type GivenFile = { readonly name: string; readonly mime: string; readonly bytes: Uint8Array };

export type UsageReply = {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly prompt_tokens_details: { readonly cached_tokens: number };
};

export type FinishReason = "stop" | "length" | "content_filter";

export type Completion = {
  readonly id: string;
  readonly object: "chat.completion";
  readonly created: number;
  readonly model: string;
  readonly choices: readonly [
    {
      readonly index: 0;
      readonly message: { readonly role: "assistant"; readonly content: string; readonly refusal: null };
      readonly logprobs: null;
      readonly finish_reason: FinishReason;
    },
  ];
  readonly usage?: UsageReply;
};

export type Chunk = {
  readonly id: string;
  readonly object: "chat.completion.chunk";
  readonly created: number;
  readonly model: string;
  readonly choices: readonly {
    readonly index: 0;
    readonly delta: { readonly role?: "assistant"; readonly content?: string };
    readonly logprobs: null;
    readonly finish_reason: FinishReason | null;
  }[];
  readonly usage?: UsageReply | null;
};

export type ErrorReply = {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string | null;
  };
};

/** `GET /v1/sessions/:session/messages?after=N`: what was said there, also without being asked, oldest first. */
export type MessagesReply = { readonly object: "list"; readonly data: readonly Line[]; readonly has_more: boolean };
export type Line = {
  readonly n: number;
  readonly id: string;
  readonly role: "user" | "assistant" | "notice";
  readonly content: string;
  readonly created: number;
};

export const apiLimits = {
  /** Largest body of one request, in bytes. */
  bodyMax: 32 * 1024 * 1024,
  /** Requests that wait for their answer at the same time. */
  openMax: 500,
  /** Messages in one request, and files with its newest one. */
  messagesMax: 10_000,
  filesMax: 20,
  /** A request is told this often that its answer is still being made. */
  pingMs: 15_000,
  /**
   * An answer that is not streamed gets blanks after so many of these signs. From then on it can no longer become an error
   * with a status; proxies give up after a minute of silence, Node's fetch after five.
   */
  blanksAfterPings: 16,
  blanksAfterPingsProxied: 3,
  /** How long the start of a stream waits for its first words, because an error before them has a status. */
  streamHoldMs: 2_000,
  /** How long a request waits for a turn whose model cannot be had. */
  troubleMs: 20_000,
  /** A request that waits longer than this ends; the turn goes on, and a repeat finds it. */
  waitMs: 60 * 60_000,
  /** Lines of a transcript read at once. */
  pageMax: 100,
  /** Conversations among which one is looked for that its client only repeats. */
  recentMax: 100,
} as const;

export const account = "api";

/** The name of whatever model the gateway is configured with. */
export const defaultModel = "everturn";
