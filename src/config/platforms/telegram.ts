// Settings of Telegram.

import * as v from "valibot";
import { address, secretText } from "../kinds.ts";
import { everyPlatform, inDoubt, orOff, streaming } from "./every.ts";

export const telegram = orOff({
  ...everyPlatform,
  token: secretText,
  apiRoot: v.optional(address, "https://api.telegram.org"),
  streaming,
  inDoubt,
});
