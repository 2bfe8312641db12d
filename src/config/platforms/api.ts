// Settings of the HTTP API. A key lets its holder in, under its name; without any, only the holder of the control token is.

import * as v from "valibot";
import { flag, secretText, text } from "../kinds.ts";
import { everyPlatform, orOff } from "./every.ts";

/** How the holder of the control token is called. */
const owner = "owner";
const names = v.array(text, "must be a list of names of keys");

const keyName = v.pipe(
  v.string("must be a name"),
  v.regex(/^[\w.-]{1,64}$/, "must be a name of 1 to 64 letters, digits or . _ -"),
  v.check((name) => name !== owner, "must not be called owner: that is the holder of the control token"),
);

const key = v.pipe(
  secretText,
  v.check((secret) => secret.reveal().length >= 16, "must have at least 16 characters"),
);

const keys = v.pipe(
  v.record(keyName, key, "must be a group of keys by their names"),
  v.check(
    (named) => new Set(Object.values(named).map((one) => one.reveal())).size === Object.keys(named).length,
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
