// What the model backend is made of: plain settings, and the few things it cannot know by itself. Nothing here is read
// from the environment; whoever puts the program together has done that.

import type { Blobs } from "../../ports/blobs.ts";
import type { Requester } from "../../core/requester.ts";
import type { Tool } from "../../ports/tool.ts";
import type { Workspace } from "../../ports/workspaces.ts";

export const providerNames = ["openai", "anthropic", "google", "openrouter", "ollama", "openai-compatible"] as const;
export type ProviderName = (typeof providerNames)[number];

/** How a provider is reached. One that needs no key has none. */
export type Access = {
  /** Used in this order; one that fails rests while the others are used. */
  readonly keys: readonly string[];
  readonly baseUrl?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
};

/** In US dollars per million tokens. */
export type Price = {
  readonly input: number;
  readonly output: number;
  /** Of tokens read from the provider's cache; as `input` when absent. */
  readonly cached?: number | undefined;
};

/** Who writes down what is said in voice messages. */
export type Speech = Access & {
  /** As provider/name. */
  readonly model: string;
};

export type ModelOptions = {
  /** As provider/name; the name may have slashes of its own. */
  readonly model: string;
  /** Tried in this order when the model cannot answer. */
  readonly fallback: readonly string[];
  /** By the name of the provider; one that is absent has no key and its usual address. */
  readonly providers: Readonly<Partial<Record<ProviderName, Access>>>;
  /** The owner's words to the model, beside our own. */
  readonly instructions: string;
  /** Model calls in one turn; the last one has to be the answer. */
  readonly maxSteps: number;
  /** The size of the window, where the table of models does not know it or is wrong. */
  readonly contextTokens?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  /** Whether images reach the model, where the table of models does not know it or is wrong. */
  readonly vision?: boolean | undefined;
  /** Without it the model is told that it cannot hear. */
  readonly speech?: Speech | undefined;
  /** By provider/model. */
  readonly prices: Readonly<Record<string, Price>>;
  /** Asked before each step: servers of tools come and go. */
  readonly tools: (requester?: Requester) => readonly Tool[];
  /** Tools that only their name is known of yet. */
  readonly toolNamed?: ((name: string) => Tool | null) | undefined;
  /** Awaited before the first request: after it `tools` is complete. */
  readonly ready?: (() => Promise<void>) | undefined;
  /** Where the files of the users are, and where tool results go that are too long for a request. */
  readonly blobs: Blobs | null;
  /** Takes every known secret out of a text. */
  readonly hide: (text: string) => string;
  /** What the model is told of where it works. */
  readonly facts: Facts;
  /** The folders of the person who asked, in the place of `blobs` and `facts.workspace`. */
  readonly workspaceFor?: ((requester: Requester) => Promise<Workspace>) | undefined;
  /** Replaces every other provider while the first step is rehearsed. */
  readonly fetch?: typeof fetch | undefined;
  /** Requests to providers with a key; the agent sets its own connections, which it closes. */
  readonly connected?: typeof fetch | undefined;
  /** A model that sends nothing for so long has failed. */
  readonly silenceMs?: number | undefined;
};

export type Facts = {
  /** The folder its tools work in; null without such tools. */
  readonly workspace: string | null;
  /** As "Linux 6.12, x64". */
  readonly system: string;
};
