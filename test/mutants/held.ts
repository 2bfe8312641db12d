// Faults to plant in how answers are held and sent again.

import type { Mutant } from "./faults.ts";

const holds = "return [...rest, ...(await noticeOf(parts, item, at))];";

export const heldFaults: readonly Mutant[] = [
  {
    name: "held: the remaining parts pass",
    file: "src/engine/outbox/held.ts",
    find: holds,
    replace: "return noticeOf(parts, item, at);",
    by: "seeds",
  },
  {
    name: "held: without a notice",
    file: "src/engine/outbox/held.ts",
    find: holds,
    replace: "return rest;",
    by: "seeds",
  },
  {
    name: "held: a notice for every held answer",
    file: "src/engine/outbox/held.ts",
    find: "(last !== null && isCurrent(last, at))",
    replace: "(last !== null && at < 0)",
    by: "seeds",
  },
  {
    name: "held: harmless repeats never end",
    file: "src/core/outbox.ts",
    find: "doubts + misses > limits.harmlessSendsMax",
    replace: "doubts + misses < 0",
    by: "turns/breaks",
  },
  {
    name: "held: without a key, repeated as if there was one",
    file: "src/core/outbox.ts",
    find: "doubts <= limits.doubtfulSendsMax && cuts",
    replace: "doubts <= limits.harmlessSendsMax && cuts",
    by: "turns/breaks",
  },
];
