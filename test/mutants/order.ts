// Faults to plant in the order of a place, and in when something is given up.

import type { Mutant } from "./faults.ts";

export const orderFaults: readonly Mutant[] = [
  {
    name: "order: what waits has a line for each conversation",
    file: "src/engine/outbox/pump.ts",
    find: "const place = sessionKey(to);\n    const line = lineAt(place);\n    line.sessions",
    replace: "const place: string = session;\n    const line = lineAt(place);\n    line.sessions",
    by: "turns/order",
  },
  {
    name: "order: the newest conversation goes first",
    file: "src/engine/outbox/pump.ts",
    find: "const asked = [...line.sessions];\n      line.sessions.clear();",
    replace: "const asked = [...line.sessions].slice(-1);\n      line.sessions.delete(asked[0] as SessionId);",
    by: "turns/order",
  },
  {
    name: "order: an answer that comes back is passed by the others",
    file: "src/engine/outbox/pump.ts",
    find: 'if (answered.now.state === "pending" || answered.now.state === "in-doubt") line.sessions.add(item.session);',
    replace: "",
    by: "turns/order",
  },
  {
    name: "order: who is being stored is passed",
    file: "src/engine/outbox/pump.ts",
    find: "if (!line.isWorking && line.reserved === 0) lines.delete(place);",
    replace: "if (!line.isWorking) lines.delete(place);",
    by: "turns/order",
  },
  {
    name: "order: two work on one line",
    file: "src/engine/outbox/pump.ts",
    find: "      line.isWorking ||= seat !== null;\n",
    replace: "",
    by: "turns/order",
  },
  {
    name: "order: an answer grows before what still waits",
    file: "src/engine/outbox/previews.ts",
    find: "return waits(to) ? null : track(",
    replace: "return track(",
    by: "turns/order",
  },
  {
    name: "held: an uncertain item is repeated for ever",
    file: "src/core/outbox.ts",
    find: "if (isTooOld(item, answered.now, at) || decideInDoubt",
    replace: "if (decideInDoubt",
    by: "../src/core/outbox",
  },
  {
    name: "breaks: a break costs attempts",
    file: "src/engine/outbox/reach.ts",
    find: "gate.reaches(account.platform, false);",
    replace: "",
    by: "turns/breaks",
  },
  {
    name: "breaks: what is held is announced to nobody",
    file: "src/engine/outbox/held.ts",
    find: "return [...rest, ...(await noticeOf(parts, item, at))];",
    replace: "return rest;",
    by: "turns/breaks",
  },
  {
    name: "given up: a stop whose mark has lost its moment counts twice",
    file: "src/core/recovery.ts",
    find: "resume.markedAt === null ? resume.reason === resumeReason(stop) : resume.markedAt >= stop.at;",
    replace: "(resume.markedAt ?? 0) >= stop.at;",
    by: "../src/core/recovery",
  },
];
