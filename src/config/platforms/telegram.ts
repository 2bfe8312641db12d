// Settings of Telegram.

import * as v from "valibot";
import { address, flag, group, secretText } from "../kinds.ts";
import { approvers, everyPlatform, inDoubt, orOff, streaming } from "./every.ts";

const botToken = v.pipe(
  secretText,
  v.check(
    (token) => /^\d+:[\w-]+$/.test(token.reveal()),
    "must be the token that BotFather told, digits, a colon and letters",
  ),
);

export const telegram = orOff({
  ...everyPlatform,
  approvers,
  token: botToken,
  apiRoot: v.optional(address, "https://api.telegram.org"),
  streaming,
  /** A message that was taken gets an eye. */
  receipts: v.optional(flag, false),
  /** Telegram brings the updates by itself, to an address that leads to the control port. */
  webhook: v.exactOptional(
    group({
      url: v.pipe(
        v.string("must be text"),
        v.regex(/^https:\/\/\S+\/telegram\/updates$/i, "must begin with https:// and end with /telegram/updates"),
      ),
      secretToken: v.exactOptional(secretText),
    }),
  ),
  inDoubt,
});
