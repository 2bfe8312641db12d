// Settings of Discord.

import * as v from "valibot";
import { address, secretText } from "../kinds.ts";
import { approvers, everyPlatform, orOff, streaming } from "./every.ts";

export const discord = orOff({
  ...everyPlatform,
  approvers,
  token: secretText,
  apiRoot: v.optional(address, "https://discord.com/api"),
  streaming,
});
