// Faults in how a gateway is ended from outside, on Windows above all.

import { fault } from "./fault.ts";

const ending = "host/ending.ts";
const windows = "services/windows.ts";

export const windowsFaults = {
  S100: fault(ending, "await attempt(`the marker for ${who} could not be written`, () => request.writeMarker());", ""),
  S101: fault(windows, 'return ["end-task", "sweep"];', 'return ["end-task", "kill-tree"];'),
  S102: fault(
    windows,
    'case "survived":\n      return ["end-task", "kill-tree"];',
    'case "survived":\n      return ["end-task", "sweep"];',
  ),
  S103: fault(windows, 'target === null ? { type: "absent" }', 'target === null ? { type: "ended", waitedMs: 0 }'),
  S104: fault(ending, "return Number.isSafeInteger(pid) && pid > 0;", "return pid === pid;"),
  S105: fault(
    ending,
    "if (!lookout.isAlive(target)) return true;",
    "if (!lookout.isAlive(target) && lookout.now() > begun) return true;",
  ),
  S106: fault(ending, "if (waitedMs >= patienceMs) return false;", "if (waitedMs >= patienceMs) return true;"),
  S107: fault(ending, "request.onTrouble?.(`${what} (${sentenceOf(error)})`);", "throw error;"),
  S108: fault(ending, "Math.max(30_000, (drainSeconds + 10) * 1_000)", "(drainSeconds + 10) * 1_000"),
  S109: fault(
    "engine/stop/supervisor.ts",
    "marked: await markRunning(parts, running, now.intent.class),",
    "marked: 0,",
  ),
  S110: fault(ending, "const lookAgainMs = 10;", "const lookAgainMs = 900;"),
};
