// Faults in the watch for markers and in what a marker decides.

import { fault } from "./fault.ts";

const watcher = "host/watcher.ts";
const supervisor = "engine/stop/supervisor.ts";

export const watchFaults = {
  S1: fault(watcher, "options.fire(sight.fire, named.marker);", 'options.fire("takeOver", named.marker);'),
  S2: fault(watcher, 'find((kind) => judgements[kind] === "self")', 'find((kind) => judgements[kind] === "other")'),
  S3: fault(watcher, "const mayFire = life.open && !life.draining;", "const mayFire = life.open;"),
  S4: fault(watcher, "const mayFire = life.open && !life.draining;", "const mayFire = !life.draining;"),
  S5: fault(watcher, "    end();\n    return done;", "    setTimeout(end, 700);\n    return done;"),
  S6: fault(
    watcher,
    "options.fire(sight.fire, named.marker);",
    "options.fire(sight.fire, named.marker); options.fire(sight.fire, named.marker);",
  ),
  S7: fault(
    watcher,
    "complain(`Looking for a marker failed (${sentenceOf(error)}); it is tried again.`);",
    "void error;",
  ),
  S8: fault(watcher, "intervalMs = 500 }", "intervalMs = 100 }"),
  S9: fault(supervisor, "if (running.length > 0)", 'if (running.length > 0 && now.intent.by !== "marker")'),
  S10: fault(supervisor, "if (running.length > 0)", 'if (running.length > 0 && now.intent.class === "planned")'),
};
