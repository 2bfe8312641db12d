// Settings of Discord.

import * as v from "valibot";
import { address, secretText } from "../kinds.ts";
import { everyPlatform, orOff, streaming } from "./every.ts";

export const discord = orOff({
  ...everyPlatform,
  token: secretText,
  apiRoot: v.optional(address, "https://discord.com/api"),
  streaming,
});
