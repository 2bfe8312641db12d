// The platforms that can be configured, one file each for those that are more than a switch.

import * as v from "valibot";
import { group } from "../kinds.ts";
import { busy, orOff } from "./every.ts";
import { matrix } from "./matrix.ts";
import { telegram } from "./telegram.ts";

export const platforms = group({
  web: v.optional(orOff({ busy }), {}),
  terminal: v.optional(orOff({ busy }), {}),
  telegram: v.optional(telegram, false),
  matrix: v.optional(matrix, false),
});
