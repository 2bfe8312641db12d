// What a model can take, guessed from its name: the size of its window, images, PDF documents. A table that is wrong is put
// right by the settings; a model that nobody knows is given little, because too much is an error and too little is not. Pure.

import type { ModelOptions } from "../options.ts";
import { parseModel } from "./names.ts";

export type Abilities = {
  /** Tokens of request and answer together. */
  readonly window: number;
  readonly images: boolean;
  readonly pdf: boolean;
};

type Row = readonly [pattern: RegExp, abilities: Partial<Abilities>];

/** By the name of the model, wherever it is hosted; the first that fits. */
const models: readonly Row[] = [
  [/claude-(?:opus|sonnet|haiku|[3-9])|claude/, { window: 200_000, images: true }],
  [/gemini-1\.0/, { window: 30_000, images: false }],
  [/gemini/, { window: 1_000_000, images: true }],
  [/gpt-4\.1/, { window: 1_000_000, images: true }],
  [/gpt-(?:[5-9]|\d{2})/, { window: 272_000, images: true }],
  [/gpt-4o|chatgpt-4o|gpt-4-turbo/, { window: 128_000, images: true }],
  [/gpt-4/, { window: 8_000, images: false }],
  [/gpt-3\.5/, { window: 16_000, images: false }],
  [/gpt-oss/, { window: 128_000, images: false }],
  [/(?:^|\/)o(?:1|3|4)(?:-|$)/, { window: 200_000, images: true }],
  [/grok-(?:4|[5-9])/, { window: 256_000, images: true }],
  [
    /llava|bakllava|moondream|minicpm-v|pixtral|qwen[\d.]*-?vl|llama-?[34][\w.:-]*vision|llama-?4|gemma-?[3-9]|mistral-(?:small|medium)-?[3-9]/,
    { window: 32_000, images: true },
  ],
  [/deepseek/, { window: 64_000, images: false }],
  [/kimi|qwen-?3|glm-?[4-9]|minimax/, { window: 128_000, images: false }],
  [/mistral|mixtral|codestral|devstral|llama-?3\.[1-9]|command-r|qwen|phi-?[4-9]/, { window: 32_000, images: false }],
];

const unknown: Abilities = { window: 32_000, images: false, pdf: false };
/** A server at home loads a model with a window of its own choice, and cuts what is longer without a word. */
const localWindow = 16_000;

export function abilitiesOf(
  model: string,
  options: Pick<ModelOptions, "contextTokens" | "vision"> & { readonly model?: string },
): Abilities {
  const read = parseModel(model);
  const name = (read?.name ?? model).toLowerCase();
  const found = { ...unknown, ...models.find(([pattern]) => pattern.test(name))?.[1] };
  const window = read?.provider === "ollama" ? Math.min(found.window, localWindow) : found.window;
  // The settings speak of the model they name; a fallback has a table of its own.
  const isSet = options.model === undefined || options.model === model;
  const images = isSet && options.vision !== undefined ? options.vision : found.images;
  return {
    window: isSet ? (options.contextTokens ?? window) : Math.min(window, options.contextTokens ?? window),
    images,
    pdf: images && (read?.provider === "anthropic" || read?.provider === "google" || read?.provider === "openai"),
  };
}

/** Kept free for the answer. */
export function answerTokens(window: number, maxOutputTokens: number | undefined): number {
  return Math.min(maxOutputTokens ?? 8_000, Math.floor(window / 4));
}
