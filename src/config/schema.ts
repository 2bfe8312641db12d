// The one schema of the configuration; its type is inferred from here and nowhere written twice.
// Groups are strict, so an unknown key is an error. Messages continue a sentence that begins with the key.
// What is documented but not built yet is accepted here and refused by `available.ts`.

import * as v from "valibot";
import type { BusyPolicy } from "../core/lane.ts";
import type { InDoubtPolicy } from "../core/outbox.ts";
import { Secret } from "./secret.ts";

const group = <const E extends v.ObjectEntries>(entries: E) => v.strictObject(entries, "must be a group of settings");
const oneOf = <const T extends readonly string[]>(...names: T) =>
  v.picklist(names, `must be ${names.slice(0, -1).join(", ")} or ${names.at(-1)}`);
const flag = v.boolean("must be true or false");
const text = v.pipe(v.string("must be text"), v.trim(), v.nonEmpty("must not be empty"));
const address = v.pipe(
  v.string("must be text"),
  v.regex(/^https?:\/\/[^\s/]+/i, "must be an address that begins with http:// or https://"),
);
const words = (what: string) => v.pipe(v.array(text, what), v.minLength(1, what));
const command = words("must be a list with a program and its arguments");

/** Compared by identity, so that a message never shows what stands there. */
export const secretText = v.pipe(
  v.string("must be text"),
  v.trim(),
  v.nonEmpty("must not be empty"),
  v.transform((value) => new Secret(value)),
);

function whole(min: number, max: number) {
  const message = `must be a whole number from ${min} to ${max}`;
  return v.pipe(v.number(message), v.integer(message), v.minValue(min, message), v.maxValue(max, message));
}

function amount(min: number, max: number) {
  const message = `must be a number from ${min} to ${max}`;
  return v.pipe(v.number(message), v.minValue(min, message), v.maxValue(max, message));
}

const busyPolicies = ["queue", "interrupt", "steer"] as const satisfies readonly BusyPolicy[];
const inDoubtPolicies = ["resend", "hold"] as const satisfies readonly InDoubtPolicy[];
const providers = ["openai", "anthropic", "google", "openrouter", "ollama", "openai-compatible"];
const model = v.pipe(
  v.string("must be text"),
  v.regex(
    new RegExp(`^(${providers.join("|")})/\\S+$`),
    `must be provider/model; providers are ${providers.join(", ")}`,
  ),
);

const agent = v.pipe(
  group({
    backend: v.exactOptional(oneOf("echo", "model", "acp")),
    model: v.exactOptional(model),
    baseUrl: v.exactOptional(address),
    apiKey: v.exactOptional(secretText),
    fallback: v.optional(v.array(model, "must be a list of models"), []),
    instructions: v.exactOptional(text),
    instructionsFile: v.exactOptional(text),
    maxSteps: v.optional(whole(1, 10_000), 90),
    acp: v.exactOptional(group({ command })),
    tools: v.optional(
      group({
        terminal: v.optional(group({ sandbox: v.optional(oneOf("auto", "bwrap", "off"), "auto") }), {}),
        approvals: v.optional(oneOf("always", "dangerous", "never"), "dangerous"),
      }),
      {},
    ),
    mcp: v.optional(v.record(v.string(), group({ command }), "must be a group of servers, each with a command"), {}),
  }),
  // The offline agent answers as long as nobody has chosen a model.
  v.transform(({ backend, ...rest }) => ({
    backend: backend ?? (rest.model === undefined ? ("echo" as const) : ("model" as const)),
    ...rest,
  })),
);

const orOff = <const E extends v.ObjectEntries>(entries: E) =>
  v.union([v.literal(false), group(entries)], "must be a group of settings, or false to switch it off");

const busy = v.optional(oneOf(...busyPolicies), "queue");
const userId = v.pipe(
  v.union([text, v.number(), v.bigint()], "must be a user id or a name"),
  v.transform((id) => String(id)),
);

const platforms = group({
  web: v.optional(orOff({ busy }), {}),
  terminal: v.optional(orOff({ busy }), {}),
  telegram: v.optional(
    orOff({
      token: secretText,
      apiRoot: v.optional(address, "https://api.telegram.org"),
      allow: v.exactOptional(v.array(userId, "must be a list of user ids or names")),
      home: v.exactOptional(group({ chat: text, thread: v.exactOptional(text) })),
      busy,
      streaming: v.optional(flag, true),
      restartNotices: v.optional(flag, true),
      inDoubt: v.optional(oneOf(...inDoubtPolicies), "resend"),
    }),
    false,
  ),
});

const timeOfDay = v.pipe(
  v.string("must be text"),
  v.regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time such as "04:00"'),
);
const reset = v.union(
  [v.literal("never"), group({ idleMinutes: amount(1, 525_600) }), group({ dailyAt: timeOfDay })],
  'must be never, { idleMinutes: 240 } or { dailyAt: "04:00" }',
);

export const configSchema = group({
  agent: v.optional(agent, {}),
  platforms: v.optional(platforms, {}),
  control: v.optional(
    group({
      host: v.optional(text, "127.0.0.1"),
      port: v.optional(whole(0, 65_535), 7433),
      auth: v.optional(oneOf("token", "password", "header"), "token"),
    }),
    {},
  ),
  gateway: v.optional(group({ drainSeconds: v.optional(amount(0, 86_400), 0) }), {}),
  recovery: v.optional(
    group({ afterCrash: v.optional(oneOf("resume", "suspend"), "resume"), autoResume: v.optional(flag, true) }),
    {},
  ),
  sessions: v.optional(group({ reset: v.optional(reset, "never") }), {}),
  store: v.optional(
    group({
      url: v.optional(
        v.pipe(
          v.string("must be text"),
          v.regex(/^(sqlite$|postgres(ql)?:\/\/.)/, "must be sqlite or begin with postgres://"),
        ),
        "sqlite",
      ),
    }),
    {},
  ),
  log: v.optional(
    group({
      level: v.optional(oneOf("debug", "info", "warn", "error"), "info"),
      format: v.optional(oneOf("json", "pretty", "auto"), "auto"),
    }),
    {},
  ),
});

type Fixed<T> = T extends Secret | string | number | boolean | undefined ? T : { readonly [K in keyof T]: Fixed<T[K]> };

export type Config = Fixed<v.InferOutput<typeof configSchema>>;
