// Settings of Matrix.

import * as v from "valibot";
import { address, secretText } from "../kinds.ts";
import { approvers, everyPlatform, orOff, streaming } from "./every.ts";

export const matrix = orOff({
  ...everyPlatform,
  approvers,
  homeserver: address,
  user: v.pipe(v.string("must be text"), v.regex(/^@[^:\s]+:\S+$/, "must be an id such as @bot:example.org")),
  token: secretText,
  streaming,
});
