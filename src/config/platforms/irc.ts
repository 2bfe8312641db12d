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

const file = v.pipe(
  v.string("must be text"),
  v.regex(/^(?:\/|[a-z]:[/\\])/i, "must be the absolute path of a PEM file"),
);

/** By a password (SASL PLAIN), or by a certificate that the account knows (SASL EXTERNAL). */
const sasl = v.pipe(
  group({
    account: v.exactOptional(word),
    password: v.exactOptional(secretText),
    certificate: v.exactOptional(file),
    key: v.exactOptional(file),
  }),
  v.check(
    ({ account, password, certificate, key }) =>
      certificate === undefined
        ? account !== undefined && password !== undefined && key === undefined
        : password === undefined,
    "must have `account` and `password`, or `certificate` and, where the key is in a file of its own, `key`",
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
  sasl: v.exactOptional(sasl),
  channels: v.optional(v.array(channel, "must be a list of channels"), []),
  /** A few lines may be said at once, then one in each such time; an answer's part has to be said within a minute. */
  lineEveryMs: v.optional(whole(0, 3_000), 1_500),
  /** Where the server does not tell accounts by itself. */
  askAccounts: v.optional(flag, false),
  inDoubt,
});
