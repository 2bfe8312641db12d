// Faults in the order of a stop, in its notices, and in what is left on the disk.

import { fault } from "./fault.ts";

const close = "engine/stop/close.ts";
const lifecycle = "core/lifecycle.ts";
const notice = "core/notice.ts";
const state = "run/state.ts";

export const stopFaults = {
  S11: fault(
    "platforms/telegram/outbound.ts",
    'action: "typing", ...thread }, signal);',
    'action: "typing", ...thread });',
  ),
  S12: [
    fault("agents/model/index.ts", "await connections.close();", "", "test/agent/close"),
    fault("agents/model/step/step.ts", "void keepers.delete(session)", "undefined", "test/agent/close"),
  ],
  S13: fault(close, 'await line.step("agents close", cap(limits.closeMs / 2), () => agent.close("all"));', ""),
  S14: fault(
    "engine/turns/run.ts",
    'await move({ type: "parked", cause: "shutdown", at: world.now() });',
    'await move({ type: "ended", outcome: "cancelled", why: "", at: world.now() });',
  ),
  S15: fault(lifecycle, "const until = later(at, drainMs);", "const until = at;"),
  S16: fault(notice, '? "Gateway restarting" : "Gateway shutting down"', '? "Gateway restarting" : "Gateway stopping"'),
  S17: fault("run/end.ts", "      await launchShortcut(parts);\n", ""),
  S18: fault(
    lifecycle,
    'if (supervisor !== null && supervisor !== "systemd") return exitCodes.again;',
    'if (supervisor === "s6") return exitCodes.again; if (supervisor !== null && supervisor !== "systemd") return 0;',
  ),
  S19: fault(notice, "restart?.anchor ?? input.anchor", "input.anchor ?? restart?.anchor", "src/core"),
  S20: fault(notice, "places.add(place);", ""),
  S21: fault(notice, "if (isAskedInside(stop)) return toBusy;", ""),
  S22: fault(notice, "if (isAskedInside(stop)) return toBusy;", ""),
  S23: fault("run/end.ts", "&& !isAskedInside(intent)", ""),
  S24: fault("engine/stop/drain.ts", "for (const listener of listeners) listener();", ""),
  S25: fault(close, 'if (interrupted.length > 0) await kill(crew, line, "tool kill", closing);', ""),
  S26: fault(close, "if (interrupted.length > 0) await kill", "await kill"),
  S27: fault(
    state,
    'return { gateway_state: "running", desired_state: wanted };',
    'return { gateway_state: "stopped", desired_state: wanted };',
  ),
  S28: [
    fault(
      state,
      'return { gateway_state: "stopped", desired_state: "stopped" };',
      'return { gateway_state: "running", desired_state: "stopped" };',
    ),
    fault("services/announce.ts", 'await writeDesiredState(paths.state, "stopped");', "", "test/process/verbs"),
  ],
  S29: fault(
    state,
    'return { gateway_state: "stopped", desired_state: wanted };',
    'return { gateway_state: "running", desired_state: wanted };',
  ),
  S30: fault(
    "config/schema.ts",
    "drainSeconds: v.optional(amount(0, 86_400), 0)",
    "drainSeconds: v.optional(amount(0, 86_400), 180)",
  ),
  S31: fault("services/kinds.ts", "Math.ceil(Math.max(60, drainSeconds)) + 30", "Math.ceil(drainSeconds) + 30"),
  S32: fault("services/drift.ts", '"everturn gateway install --force"', '"everturn gateway service install --replace"'),
  S33: fault(
    "services/autostart.ts",
    "(state.desired_state ?? state.gateway_state)",
    "(state.gateway_state ?? state.desired_state)",
  ),
  S113: fault(close, '? "all-but-jobs" : "all"', '? "all-but-jobs" : "all-but-jobs"', "test/agent/close"),
  S114: fault("run/end.ts", "() => removeOwnMarkers(paths, self, world.now())", "() => undefined", "src/run"),
  S115: fault(lifecycle, 'supervisor === "systemd" ? exitCodes.stayDown : exitCodes.stopped', "exitCodes.stopped"),
};
