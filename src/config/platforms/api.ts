// Settings of the HTTP API. A key lets its holder in, under its name; without any, only the holder of the control token is.

import * as v from "valibot";
import { flag, group, oneOf, secretText, text } from "../kinds.ts";
import { everyPlatform, orOff } from "./every.ts";

/** How the holder of the control token is called. */
const owner = "owner";
const names = v.array(text, "must be a list of names of keys");

const keyName = v.pipe(
  v.string("must be a name"),
  v.regex(/^[\w.-]{1,64}$/, "must be a name of 1 to 64 letters, digits or . _ -"),
  v.check((name) => name !== owner, "must not be called owner: that is the holder of the control token"),
);

const secret = v.pipe(
  secretText,
  v.check((one) => one.reveal().length >= 16, "must have at least 16 characters"),
);

/** A key alone is one of a person. An approver may also allow what agents ask for. */
const key = v.union(
  [
    v.pipe(
      secret,
      v.transform((one) => ({ key: one, role: "person" as const })),
    ),
    group({ key: secret, role: v.optional(oneOf("person", "approver"), "person") }),
  ],
  "must be a key, or a group with key and role",
);

const keys = v.pipe(
  v.record(keyName, key, "must be a group of keys by their names"),
  v.check(
    (named) => new Set(Object.values(named).map((one) => one.key.reveal())).size === Object.keys(named).length,
    "must be different keys: each says who calls",
  ),
);

export const api = orOff({
  ...everyPlatform,
  // Whoever holds a key was let in by whoever configured it.
  allow: v.optional(names, ["*"]),
  admins: v.optional(names, [owner]),
  pairing: v.optional(flag, false),
  restartNotices: v.optional(flag, false),
  keys: v.optional(keys, {}),
});
