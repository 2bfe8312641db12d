// What a program asks of the model beside its words. Part of the accepted message, so a turn that is resumed asks for the
// same. Only agents that have models honor them.

export type CallOptions = {
  /** As provider/name; absent for the model of the conversation. */
  readonly model?: string;
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly maxOutputTokens?: number;
  readonly stopSequences?: readonly string[];
  readonly seed?: number;
  readonly presencePenalty?: number;
  readonly frequencyPenalty?: number;
  readonly reasoning?: ReasoningEffort;
  readonly responseFormat?: JsonFormat;
};

export const reasoningEfforts = ["none", "minimal", "low", "medium", "high", "xhigh"] as const;
export type ReasoningEffort = (typeof reasoningEfforts)[number];

/** Without a schema any JSON object will do. */
export type JsonFormat = {
  readonly schema?: Readonly<Record<string, unknown>>;
  readonly name?: string;
  readonly description?: string;
  readonly strict?: boolean;
};

/** Values that mean the same as leaving the option out. Many programs always send them. */
const neutral: Readonly<Partial<Record<keyof CallOptions, unknown>>> = {
  temperature: 1,
  topP: 1,
  presencePenalty: 0,
  frequencyPenalty: 0,
};

export function isNeutral(name: keyof CallOptions, options: CallOptions): boolean {
  return Object.hasOwn(neutral, name) && neutral[name] === options[name];
}

/** The options under the names that programs know them by. */
export const optionParams: Readonly<Record<Exclude<keyof CallOptions, "model">, string>> = {
  temperature: "temperature",
  topP: "top_p",
  topK: "top_k",
  maxOutputTokens: "max_tokens",
  stopSequences: "stop",
  seed: "seed",
  presencePenalty: "presence_penalty",
  frequencyPenalty: "frequency_penalty",
  reasoning: "reasoning_effort",
  responseFormat: "response_format",
};
