// The webhooks' own words: what is configured, what comes in, what goes out, and the limits of it. Types and numbers only.

import type { Address } from "../../core/message.ts";

/** How a sender signs: our own way, which holds a time, or that of GitHub and many others, which does not. */
export type Style = "everturn" | "github";

export type Hook = {
  readonly name: string;
  readonly secret: string;
  readonly style: Style;
  /** How a body of any shape becomes words: `{{path.in.body}}` is replaced. Absent: the body is in our own shape. */
  readonly text?: string;
  /** Where in a body the name of what happened stands, as a path like those of `text`: under it a repeat is harmless. */
  readonly id?: string;
  /** Where answers go: into a chat of another platform, or to an address on the web. Neither: they only stay here. */
  readonly to?: Address;
  readonly reply?: { readonly url: string; readonly secret: string };
};

/** `POST /hooks/:name` in our own shape. `id` makes a repeat harmless; `chat` names a conversation. */
export type HookBody = {
  readonly id?: string;
  readonly chat?: string;
  readonly sender?: string;
  readonly text: string;
  readonly files?: readonly { readonly name: string; readonly mime?: string; readonly data: string }[];
};

/** Given only after the message is stored. */
export type HookReply = { readonly status: "accepted" | "duplicate"; readonly id: string };

/** What is posted to the address of answers. `id` is the same whenever it is repeated. */
export type AnswerBody = {
  readonly id: string;
  readonly hook: string;
  readonly chat: string | null;
  /** The `id` of the message that is answered. */
  readonly answers: string | null;
  readonly text: string;
  readonly choices?: readonly string[];
  readonly files?: readonly {
    readonly name: string;
    readonly mime: string;
    readonly bytes: number;
    /** Base64; absent where all of them together would be too large. */
    readonly data?: string;
  }[];
};

export const hookLimits = {
  /** Largest body of one request, in bytes. */
  bodyMax: 16 * 1024 * 1024,
  filesMax: 20,
  /** Bytes of files that are sent inside an answer. */
  filesOutMax: 10 * 1024 * 1024,
  /** How far a sender's clock may be off. */
  toleranceMs: 5 * 60_000,
  /** How long the other side may take to answer a post. */
  postMs: 30_000,
  /** The pause after a refusal that does not say how long. */
  pauseMs: 5_000,
  /** A receiver without TLS that answers with nothing but web pages for this long means them as its answer. */
  pagesMs: 2 * 60_000,
} as const;

export const account = "hooks";
