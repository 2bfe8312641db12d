// The commands about the gateway itself, as data.

import { type Command, json } from "../options.ts";

export const gatewayCommands: readonly Command[] = [
  {
    words: ["gateway", "run"],
    takes: [],
    summary: "run the gateway here until it is stopped (Ctrl-C)",
    options: { replace: { type: "boolean", summary: "take over from a gateway that already serves this home" } },
    load: async () => (await import("./run.ts")).run,
  },
  {
    words: ["gateway", "status"],
    takes: [],
    summary: "what the running gateway does, and the link to its web chat",
    options: json,
    load: async () => (await import("./status.ts")).status,
  },
];
