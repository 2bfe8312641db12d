// What a fake model is told to do with one request: the words of its script, the same for every protocol.

export type Protocol = "openai" | "responses" | "anthropic" | "google";

/** A request as it came in. */
export type Asked = {
  readonly protocol: Protocol;
  readonly path: string;
  /** The key it came with; null without one. */
  readonly key: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Record<string, unknown>;
  /** The same, read: who said what, whatever the protocol. */
  readonly seen: Seen;
  /** The first is 1. */
  readonly nth: number;
};

export type Seen = {
  readonly model: string;
  readonly system: string;
  readonly tools: readonly string[];
  readonly messages: readonly SeenMessage[];
};
export type SeenMessage = {
  readonly role: string;
  readonly text: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly input: unknown }[];
  readonly results: readonly { readonly id: string; readonly text: string }[];
  /** Media types of what is attached. */
  readonly files: readonly string[];
};

export type Call = {
  readonly name: string;
  /** A string goes out as it is: so it may be broken JSON. */
  readonly input: unknown;
  readonly id?: string;
};

/** Where a stream goes wrong: before its frame of that number, the first being 0; negative counts from the end. */
export type Break = {
  readonly at: number;
  readonly how:
    | "disconnect" // the connection dies
    | "end" // the stream ends as if it were whole
    | "hang" // nothing more comes
    | "malformed" // a frame that is not JSON, then the rest
    | "error"; // an error of the provider inside the stream
};

/** An answer, streamed. */
export type Answer = {
  readonly text?: string;
  /** Said before anything else, where the protocol has it. */
  readonly thinking?: { readonly text: string; readonly signature: string };
  readonly calls?: readonly Call[];
  readonly usage?: {
    readonly input: number;
    readonly output: number;
    readonly cached?: number;
    /** As OpenRouter tells it, in dollars. */
    readonly cost?: number;
  };
  /** The protocol's own word for why it ended. */
  readonly finish?: string;
  /** So many characters a frame; 12 if absent. */
  readonly grain?: number;
  /** Between two frames; none if absent. */
  readonly everyMs?: number;
  readonly break?: Break;
};

/** An answer that is no stream: an error of the provider, a page of a proxy, a dead line. */
export type Refusal =
  | {
      readonly status: number;
      /** An object goes out as JSON, a string as HTML. */
      readonly body: unknown;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | { readonly dead: "hang" | "reset" };

export type Plan = Answer | Refusal;
export type Script = (asked: Asked) => Plan | Promise<Plan>;

/** A frame of a stream, as it goes over the wire. */
export type Frame = string;

export function pieces(text: string, grain: number): string[] {
  const all: string[] = [];
  for (let from = 0; from < text.length; from += grain) all.push(text.slice(from, from + grain));
  return all;
}

export function argumentsOf({ input }: Call): string {
  return typeof input === "string" ? input : JSON.stringify(input);
}
