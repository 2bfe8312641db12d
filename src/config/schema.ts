// The one schema of the configuration; its type is inferred from here and nowhere written twice.
// Groups are strict, so an unknown key is an error.
// What is documented but not built yet is accepted here and refused by `available.ts`.

import * as v from "valibot";
import { agent } from "./agent/schema.ts";
import { amount, flag, group, oneOf, text, whole } from "./kinds.ts";
import { platforms } from "./platforms/index.ts";
import type { Secret } from "./secret.ts";

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
