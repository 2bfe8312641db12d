// `everturn gateway run`: the gateway in this process.

import { type Context, textFlag } from "../context.ts";

export function run(context: Context): Promise<number> {
  return context.doors.runGateway({ replace: context.flags["replace"] === true, home: textFlag(context, "home") });
}
