// Settings of webhooks: one group for each, by its name.

import * as v from "valibot";
import { parseAddress } from "../../core/message.ts";
import { everyPlatform } from "./every.ts";
import { address, group, oneOf, secretText, text } from "../kinds.ts";

const hookName = v.pipe(
  v.string("must be a name"),
  v.regex(/^[\w.-]{1,64}$/, "must be a name of 1 to 64 letters, digits or . _ -"),
);

const secret = v.pipe(
  secretText,
  v.check((one) => one.reveal().length >= 16, "must have at least 16 characters"),
);

const place = v.pipe(
  text,
  v.check(
    (given) => parseAddress(given) !== null && !/^(?:hooks|api)\//.test(given),
    "must be an address on another platform, such as telegram/<account>/<chat>; `everturn sessions list` shows them",
  ),
);

const bodyPath = v.pipe(text, v.regex(/^[\w$.-]+$/, "must be a path into the body such as event.id, without braces"));

const hook = v.pipe(
  group({
    secret,
    style: v.optional(oneOf("everturn", "github"), "everturn"),
    text: v.exactOptional(text),
    id: v.exactOptional(bodyPath),
    to: v.exactOptional(place),
    /** Whose rights its turns have. It never approves and never commands. */
    role: v.optional(oneOf("person", "admin"), "person"),
    reply: v.exactOptional(group({ url: address, secret: v.exactOptional(secret) })),
  }),
  v.check((one) => one.to === undefined || one.reply === undefined, "must have `to` or `reply`, not both"),
);

const all = v.record(hookName, hook, "must be a group of hooks by their names, or false to switch them off");

/** A caller that can sign has the secret from the owner. */
const standing = v.parse(group(everyPlatform), { allow: ["*"], pairing: false, restartNotices: false });

export const hooks = v.union(
  [
    v.literal(false),
    v.pipe(
      all,
      v.transform((named) => {
        const admins = Object.entries(named).flatMap(([name, { role }]) => (role === "admin" ? [name] : []));
        return { ...standing, admins, hooks: named };
      }),
    ),
  ],
  "must be a group of hooks by their names, or false to switch them off",
);
