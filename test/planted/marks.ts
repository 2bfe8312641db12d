// Faults in the marks of interrupted sessions, in what follows from them, and in the counter.

import { fault } from "./fault.ts";

const resume = "core/resume.ts";
const session = "core/session.ts";
const marks = "engine/marks.ts";
const suspend = "engine/recovery/suspend.ts";

export const markFaults = {
  S68: fault(
    "stores/sqlite/schema.ts",
    "ALTER TABLE sessions ADD COLUMN resume TEXT;",
    `ALTER TABLE sessions ADD COLUMN resume TEXT DEFAULT '{"reason":"crash"}';`,
  ),
  S69: fault("stores/sqlite/rows.ts", 'resume: readResume(raw["resume"] as string | null),', "resume: null,"),
  S70: fault(
    resume,
    "const found = text === null ? null : parsed(text);",
    "const found = text === null ? {} : parsed(text);",
  ),
  S71: fault(resume, "markedAt: isMoment(markedAt) ? markedAt : null", "markedAt: markedAt as Instant"),
  S72: fault(resume, "resume: { reason, markedAt: at }", "resume: { reason, markedAt: null }"),
  S73: fault(resume, "resume: { reason, markedAt: at }", 'resume: { reason: "restart_timeout", markedAt: at }'),
  S74: fault(
    marks,
    'if (result === "committed") return marks.filter((changes) => changes.length > 0).length;',
    "if (result.length > 0) return marks.filter((changes) => changes.length > 0).length;",
  ),
  S75: fault(resume, 'if (session.standing === "suspended") return null;', ""),
  S76: fault("stores/sqlite/rows.ts", 'resume: readResume(raw["resume"] as string | null),', "resume: null,"),
  S77: fault(marks, "resume: cleared.resume }];", "resume: session.resume }];"),
  S78: fault(
    resume,
    "return session.resume === null ? null : { ...session, resume: null };",
    "return { ...session, resume: null };",
  ),
  S79: fault(
    "stores/sqlite/statements.ts",
    'resume: ["UPDATE sessions SET resume = ? WHERE id = ?", "one"],',
    'resume: ["UPDATE sessions SET resume = ? WHERE id = ?", "any"],',
  ),
  S80: fault(session, 'return session.standing === "suspended" ?', "return session.resume !== null ?"),
  S81: fault(session, 'reset: "suspended" };\n}', "reset: null };\n}"),
  S82: fault(
    session,
    'return session.standing === "suspended" ?',
    'return session.standing === "suspended" && session.resume === null ?',
  ),
  S83: fault(
    suspend,
    'if (session.standing === "active" && session.resume === null)',
    'if (session.standing === "active")',
  ),
  S84: fault(suspend, "later(world.now(), -limits.recentMs)", "later(world.now(), -limits.recentMs * 1_000)"),
  S85: [fault(resume, '"gateway restart"', '"pause"'), fault("agents/acp/told/words.ts", "note ??", "", "src/agents")],
  S86: fault(resume, '"gateway shutdown"', '"gateway restart"'),
  S87: fault(resume, "  if (resume !== null) {", '  if (resume !== null && tail === "tool-result") {'),
  S88: fault(resume, "  if (resume !== null) {", '  if (resume !== null && tail === "other") {'),
  S89: fault(resume, 'if (tail === "other") return null;', "if (tail.length > 0) return null;"),
  S90: fault(resume, 'if (tail === "other") return null;', ""),
  S91: fault("engine/stop/supervisor.ts", "marked: await markRunning(parts, running, now.intent.class),", "marked: 0,"),
  S92: fault(
    resume,
    'return stop.class === "restart" || stop.class === "take-over" ? "restart_timeout"',
    'return stop.class === "take-over" ? "restart_timeout"',
  ),
  S93: fault("core/lifecycle.ts", "const until = later(at, drainMs);", "const until = at;"),
  S94: fault(
    "engine/stop/supervisor.ts",
    "const running = crew.lanes.running();\n    const from",
    "const running = crew.lanes.running().slice(1);\n    const from",
  ),
  S95: fault("engine/stop/supervisor.ts", "crew.lanes.close(endingWords(intent.class));", ""),
  S96: fault("core/notice.ts", "${busyText[words]}", ""),
  S97: [
    fault("core/limits.ts", "strikesMax: 3,", "strikesMax: 4,"),
    fault("core/limits.ts", "interruptionsMax: 50,", "interruptionsMax: 5_000,"),
  ],
  S98: [
    fault("engine/recovery/counters.ts", "if (await found.remove()) await", 'if (found.hash === "") await'),
    fault(marks, "resume: cleared.resume }];", "resume: session.resume }];"),
    fault("engine/turns/saying.ts", 'const isOver = outcome !== "failed";', "const isOver = true;"),
    fault("core/recovery.ts", "|| one.attempt >= limits.strikesMax;", "|| one.attempt > 0;"),
  ],
  S111: fault(
    "engine/commands/ending.ts",
    '{ put: "turn", turn: ended },',
    '{ put: "turn", turn: ended }, { put: "standing", session: session.id, standing: "suspended" },',
  ),
  S112: fault(
    resume,
    "First process any tool results that you have not answered yet and say what was done; then",
    "Then",
  ),
  S99: fault(
    "stores/sqlite/schema.ts",
    "ALTER TABLE sessions ADD COLUMN resume TEXT;",
    "ALTER TABLE sessions ADD COLUMN resume TEXT; ALTER TABLE sessions ADD COLUMN strikes INTEGER;",
  ),
};
