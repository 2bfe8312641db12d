// Settings of IRC.

import * as v from "valibot";
import { flag, group, secretText, text, whole } from "../kinds.ts";
import { approvers, everyPlatform, inDoubt, orOff } from "./every.ts";

const word = v.pipe(v.string("must be text"), v.regex(/^[^\s:,@!]+$/, "must be one word"));
const channel = v.pipe(
  v.string("must be text"),
  v.regex(
    /^[#&+!][^\s,:]*( [^\s,:]+)?$/,
    "must be a channel such as #talk, with its key behind a space where it has one",
  ),
);

export const irc = orOff({
  ...everyPlatform,
  approvers,
  host: text,
  port: v.optional(whole(1, 65_535), 6_697),
  tls: v.optional(flag, true),
  nick: word,
  realName: v.optional(text, "Everturn"),
  password: v.exactOptional(secretText),
  sasl: v.exactOptional(group({ account: word, password: secretText })),
  channels: v.optional(v.array(channel, "must be a list of channels"), []),
  /** A few lines may be said at once, then one in each such time; an answer's part has to be said within a minute. */
  lineEveryMs: v.optional(whole(0, 3_000), 1_500),
  /** Where the server does not tell accounts by itself. */
  askAccounts: v.optional(flag, false),
  inDoubt,
});
