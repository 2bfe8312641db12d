// Settings of Slack: one token for the Web API, one for the socket.

import * as v from "valibot";
import { address, secretText } from "../kinds.ts";
import { approvers, everyPlatform, orOff, streaming } from "./every.ts";

const botToken = v.pipe(
  secretText,
  v.check((token) => /^xox[be]/.test(token.reveal()), "must be the Bot User OAuth Token, which begins with xoxb-"),
);
const appToken = v.pipe(
  secretText,
  v.check(
    (token) => /^xapp-\d+-A[A-Z0-9]+-/.test(token.reveal()),
    "must be an app-level token, which begins with xapp-1-A",
  ),
);

export const slack = orOff({
  ...everyPlatform,
  approvers,
  botToken,
  appToken,
  apiRoot: v.optional(address, "https://slack.com/api"),
  streaming,
});
