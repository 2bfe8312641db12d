// Faults to plant in what is shown while an answer grows, and in how fast an account sends.

import type { Mutant } from "./faults.ts";

export const growingFaults: readonly Mutant[] = [
  {
    name: "growing: filled before its id is stored",
    file: "src/engine/turns/placed.ts",
    find: 'const kept = isAbandoned ? "conflict" : await keep(result.remoteId);',
    replace: 'const kept = isAbandoned ? "conflict" : (void keep(result.remoteId), "committed");',
    by: "crash",
  },
  {
    name: "growing: its id is never stored",
    file: "src/engine/turns/placed.ts",
    find: "noteDraft(of, remoteId)",
    replace: "...[]",
    by: "crash",
  },
  {
    name: "growing: the end does not wait for what is being written",
    file: "src/engine/outbox/previews.ts",
    find: "busy: (to, remoteId) => filling.get(nameOf(to, remoteId)) ?? null,",
    replace: "busy: () => null,",
    by: "crash",
  },
  {
    name: "growing: previews go on after the end",
    file: "src/engine/turns/placed.ts",
    find: "const stopped = new AbortController();",
    replace: "const stopped = { signal: new AbortController().signal, abort: (_: unknown) => undefined };",
    by: "crash",
  },
  {
    name: "growing: the answer is sent beside its preview",
    file: "src/engine/turns/saying.ts",
    find: "hints: hintsFor(to, hints, anchor), edits };",
    replace: "hints: hintsFor(to, hints, anchor) };",
    by: "crash",
  },
  {
    name: "growing: a resumed turn begins another message",
    file: "src/engine/turns/drafts.ts",
    find: "turn.attempt > 1 ?",
    replace: "turn.attempt > 1_000 ?",
    by: "crash",
  },
  {
    name: "growing: half an answer stays when its turn ends without words",
    file: "src/engine/turns/placed.ts",
    find: ".then(() => previews.remove(to, remoteId));",
    replace: ".then(() => undefined);",
    by: "crash",
  },
  {
    name: "growing: what was given up leaves its half of an answer",
    file: "src/engine/recovery/recover.ts",
    find: "edits: await draftOf(parts, session.address, turn),",
    replace: "edits: null,",
    by: "turns/drafts",
  },
  {
    name: "growing: an edit in doubt is held like a send",
    file: "src/core/outbox.ts",
    find: "if (can.keyedSend || (item.edits !== undefined && item.files.length === 0))",
    replace: "if (can.keyedSend)",
    by: "turns/drafts",
  },
  {
    name: "growing: a slow platform holds up the end of a turn",
    file: "src/engine/turns/placed.ts",
    find: "later(world.now(), limits.draftWaitMs)",
    replace: "later(world.now(), limits.draftWaitMs * 1_000)",
    by: "turns/drafts",
  },
  {
    name: "pace: nobody keeps to it",
    file: "src/core/pace.ts",
    find: "if (Math.max(all, own) <= at)",
    replace: "if (at > 0)",
    by: "turns/pace",
  },
  {
    name: "pace: what has no answer yet is not counted",
    file: "src/core/pace.ts",
    find: "const all = held.length === 0 ? sent :",
    replace: "const all = held.length >= 0 ? sent :",
    by: "turns/pace",
  },
  {
    name: "pace: a pause for all is kept in one chat",
    file: "src/engine/outbox/pace.ts",
    find: "result.afterMs, result.all === true);",
    replace: "result.afterMs, false);",
    by: "turns/pace",
  },
  {
    name: "pace: a pause is kept by its item alone",
    file: "src/engine/outbox/pump.ts",
    find: "      seat.answered(result);",
    replace: "",
    by: "turns/pace",
  },
  {
    name: "pace: previews wait in front of answers",
    file: "src/core/pace.ts",
    find: "const previewShare = 0.5;",
    replace: "const previewShare = 1;",
    by: "turns/pace",
  },
  {
    name: "pace: stored as being sent while it waits",
    file: "src/engine/outbox/pump.ts",
    find: "const seat = isBusy || !isOpen ? null : all.take(to);",
    replace:
      "const seat = isBusy || !isOpen ? null : (all.take(to) ?? { begin: () => 0, answered: () => 0, leave: () => 0 });",
    by: "turns/pace",
  },
];
