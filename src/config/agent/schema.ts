// The settings of the agent: which model answers, what it may spend, which tools it has. What several keys must fulfil
// together is in `access.ts`.

import * as v from "valibot";
import {
  address,
  amount,
  command,
  flag,
  grantedPaths,
  group,
  hosts,
  oneOf,
  secretNames,
  secrets,
  text,
  whole,
} from "../kinds.ts";
import { providerNames } from "./providers.ts";

export const modelName = v.pipe(
  v.string("must be text"),
  v.regex(
    new RegExp(`^(${providerNames.join("|")})/\\S+$`),
    `must be provider/model; providers are ${providerNames.join(", ")}`,
  ),
);

/** Only these speak the protocol of transcriptions. */
export const speechProviders = ["openai", "openai-compatible"] as const;

const speech = group({
  model: v.pipe(
    v.string("must be text"),
    v.regex(
      new RegExp(`^(${speechProviders.join("|")})/\\S+$`),
      "must be openai/whisper-1 or another of openai, or openai-compatible/name",
    ),
  ),
  baseUrl: v.exactOptional(address),
  apiKey: v.exactOptional(secrets),
});

const provider = v.exactOptional(
  group({
    apiKey: v.exactOptional(secrets),
    baseUrl: v.exactOptional(address),
    headers: v.exactOptional(secretNames("must be a group of header names with their values")),
  }),
);

const providers = group({
  openai: provider,
  anthropic: provider,
  google: provider,
  openrouter: provider,
  ollama: provider,
  "openai-compatible": provider,
} satisfies Record<(typeof providerNames)[number], typeof provider>);

const tokens = v.exactOptional(whole(1, 1_000_000_000_000));
const dollars = v.exactOptional(amount(0, 1_000_000));
const price = amount(0, 100_000);

const timeout = v.exactOptional(amount(1, 86_400));

/** What a program that the gateway starts gets inside of the sandbox. */
const grant = {
  env: v.exactOptional(secretNames("must be a group of variable names with their values")),
  hosts: v.exactOptional(hosts),
  paths: v.exactOptional(grantedPaths),
  unsafe: v.exactOptional(flag),
};

/** Whether it has a command or an address is checked with the rest. */
const server = group({
  command: v.exactOptional(command),
  ...grant,
  cwd: v.exactOptional(text),
  shared: v.exactOptional(flag),
  url: v.exactOptional(address),
  headers: v.exactOptional(secretNames("must be a group of header names with their values")),
  trusted: v.optional(flag, false),
  timeoutSeconds: timeout,
});

const tools = group({
  terminal: v.optional(
    group({
      sandbox: v.optional(oneOf("auto", "bwrap", "docker", "podman", "seatbelt", "off"), "auto"),
      network: v.optional(flag, false),
      hosts: v.optional(hosts, []),
      outside: v.optional(flag, false),
      unsafe: v.optional(flag, false),
      timeoutSeconds: timeout,
    }),
    {},
  ),
  allowRoot: v.optional(flag, false),
  approvals: v.optional(oneOf("always", "dangerous", "never"), "dangerous"),
  web: v.optional(group({ allowPrivate: v.optional(flag, false) }), {}),
  workspace: v.exactOptional(text),
  workspaces: v.optional(oneOf("separate", "shared"), "separate"),
  shareWith: v.optional(v.array(text, "must be a list of platforms or chats, as telegram/bot/12345"), []),
});

export const agent = v.pipe(
  group({
    backend: v.exactOptional(oneOf("echo", "model", "acp")),
    model: v.exactOptional(modelName),
    baseUrl: v.exactOptional(address),
    apiKey: v.exactOptional(secrets),
    fallback: v.optional(v.array(modelName, "must be a list of models"), []),
    providers: v.optional(providers, {}),
    instructions: v.exactOptional(text),
    instructionsFile: v.exactOptional(text),
    maxSteps: v.optional(whole(1, 10_000), 90),
    contextTokens: v.exactOptional(whole(1_000, 100_000_000)),
    maxOutputTokens: v.exactOptional(whole(1, 10_000_000)),
    vision: v.exactOptional(flag),
    speech: v.exactOptional(speech),
    prices: v.optional(
      v.record(
        modelName,
        group({ input: price, output: price, cached: v.exactOptional(price) }),
        "must be a group of models with their prices",
      ),
      {},
    ),
    budget: v.optional(group({ turnTokens: tokens, turnDollars: dollars, dayTokens: tokens, dayDollars: dollars }), {}),
    acp: v.exactOptional(group({ command, ...grant })),
    tools: v.optional(tools, {}),
    mcp: v.optional(v.record(text, server, "must be a group of servers, each with a command or a url"), {}),
  }),
  // The offline agent answers as long as nobody has chosen another.
  v.transform(({ backend, ...rest }) => ({ backend: backend ?? chosen(rest), ...rest })),
);

function chosen({ model, acp }: { readonly model?: unknown; readonly acp?: unknown }): "echo" | "model" | "acp" {
  if (model !== undefined) return "model";
  return acp === undefined ? "echo" : "acp";
}
