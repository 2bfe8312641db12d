// The platforms that can be configured, one file each for those that are more than a switch.

import * as v from "valibot";
import { group } from "../kinds.ts";
import { api } from "./api.ts";
import { discord } from "./discord.ts";
import { busy, orOff } from "./every.ts";
import { email } from "./email.ts";
import { hooks } from "./hooks.ts";
import { irc } from "./irc.ts";
import { matrix } from "./matrix.ts";
import { slack } from "./slack.ts";
import { telegram } from "./telegram.ts";

export const platforms = group({
  web: v.optional(orOff({ busy }), {}),
  terminal: v.optional(orOff({ busy }), {}),
  api: v.optional(api, {}),
  hooks: v.optional(hooks, false),
  telegram: v.optional(telegram, false),
  discord: v.optional(discord, false),
  slack: v.optional(slack, false),
  matrix: v.optional(matrix, false),
  email: v.optional(email, false),
  irc: v.optional(irc, false),
});
