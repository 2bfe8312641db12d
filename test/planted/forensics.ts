// Faults in what is known about the moment of a stop, and in the check of the time that a supervisor gives it.

import { fault } from "./fault.ts";

const core = "core/forensics.ts";
const snapshot = "host/forensics/snapshot.ts";
const diagnostic = "host/forensics/diagnostic.ts";
const timing = "host/forensics/timing.ts";

export const forensicFaults = {
  S34: fault(core, "  SIGTERM: 15,", "  SIGTERM: 16,"),
  S35: fault(core, "?? `signal#${signal}`", "?? String(signal)"),
  S36: fault(core, 'return "UNKNOWN";', 'return "";'),
  S37: fault(
    core,
    'if (typeof signal !== "number") return textOf(signal);',
    'if (typeof signal !== "number") return "UNKNOWN";',
  ),
  S38: fault(snapshot, "signal_num: signalNumber(signal, constants.signals),", "signal_num: null,"),
  S39: fault(
    snapshot,
    "signal_num: signalNumber(signal, constants.signals),",
    "signal_num: signalNumber(signal, constants.signals) ?? 0,",
  ),
  S40: fault(snapshot, "facts.monotonic ?? (() => performance.now())", "() => 0"),
  S41: [
    fault(snapshot, "pid: parentPid,\n          name:", "pid: parentPid,\n          name: null && "),
    fault(snapshot, "facts.isAttended === true ?", "facts.signal === facts ?"),
  ],
  S42: fault(snapshot, "systemd_invocation_id: invocation,", "systemd_invocation_id: null,"),
  S43: fault(snapshot, 'invocation !== null || (parent.pid === 1 && parent.name === "systemd")', "true"),
  S44: fault(
    snapshot,
    'import { constants, loadavg } from "node:os";',
    'import { execFileSync } from "node:child_process";\nimport { constants, loadavg as load } from "node:os";\nconst loadavg = () => (execFileSync("true"), load());',
  ),
  S45: fault(snapshot, '=== "self" };', '=== "other" };'),
  S46: fault(snapshot, 'for_self: judgeMarker(found, self, now) === "self" };', "for_self: true };"),
  S47: fault(snapshot, 'found.type === "found" ? found.content', 'found.type === "found" ? null'),
  S48: fault(
    core,
    'return [...known, `parent_cmdline=${oneLine(parent.cmdline ?? "?")}`].join(" ");',
    'return [`parent_cmdline=${oneLine(parent.cmdline ?? "?")}`, ...known].join(" ");',
  ),
  S49: fault("run/asks.ts", 'return hide(snapshot) as StopIntent["context"];', "return {};"),
  S50: fault("log/redact.ts", "return this.#string(value.toString());", "return value;"),
  S51: fault(diagnostic, "signal=${signal} pid=", "pid="),
  S52: fault(diagnostic, 'if (platform === "win32") return null;', ""),
  S53: fault(diagnostic, "    if (error instanceof Error) return null;\n", ""),
  S54: fault(
    diagnostic,
    'const child = spawn("/bin/sh"',
    'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_100);\n    const child = spawn("/bin/sh"',
  ),
  S55: fault(core, "  s: 1_000_000,", "  s: 1_000,"),
  S56: fault(core, "  min: 60_000_000,", "  min: 1_000_000,"),
  S57: fault(core, "sum += Number(amount) * size;", "sum = Number(amount) * size;"),
  S58: fault(core, "  h: 3_600_000_000,", "  h: 60_000_000,"),
  S59: fault(core, "  ms: 1_000,", "  ms: 1,"),
  S60: fault(core, 'if (whole === "0") return 0;', 'if (whole === "0" || whole === "") return 0;'),
  S61: fault(core, "if (size === undefined) return null;", "if (size === undefined) continue;"),
  S62: fault(timing, 'if (!env["INVOCATION_ID"]) return null;', ""),
  S63: fault(timing, "    if (error instanceof Error) return null;\n", ""),
  S64: fault(core, "const headroomSeconds = 30;", "const headroomSeconds = 0;"),
  S65: fault(
    "run/asks.ts",
    'world.log("info", `asked to stop',
    'if (intent.class === "planned") world.log("info", `asked to stop',
  ),
  S66: fault("engine/stop/timeline.ts", 'world.log("info", `stop: ${name}`, { ms, ...facts });', ""),
  S67: fault(diagnostic, "show 'kernel log' kernel\n", ""),
};
