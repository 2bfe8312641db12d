// Faults to plant, each a small and tempting mistake in the real sources. Some suite must find every one of them.

export type Mutant = {
  readonly name: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  /** The suite that should find it, tried first. */
  readonly by?: string;
};

export const mutants: readonly Mutant[] = [
  {
    name: "acknowledged before the commit",
    file: "src/engine/intake.ts",
    find: "return await commitIn(await enter(), cursor, make);",
    replace: 'commitIn(await enter(), cursor, make).catch(() => 0); return "accepted";',
  },
  {
    name: "no inbox key",
    file: "src/engine/plans.ts",
    find: 'return { put: "inbox", platform, account, key: inbound.key,',
    replace: 'return { put: "inbox", platform, account, key: world.id(),',
  },
  {
    name: "turn end and reply in two commits",
    file: "src/engine/turns/saying.ts",
    find: "await book.move(event, entries, [...written.changes, ...more]);",
    replace: "await book.move(event, entries, more); await parts.ledger.keep(written.changes);",
  },
  {
    name: "tool before its intent",
    file: "src/engine/turns/calls/calls.ts",
    find: 'return [{ type: "tool-begun", call: call.call, effect }];',
    replace: "return [];",
  },
  {
    name: "a once tool runs again after a crash",
    file: "src/core/journal.ts",
    find: 'if (begun.effect === "once") return { type: "give-up", call: first };',
    replace: "",
  },
  {
    name: "orphaned send forgotten at boot",
    file: "src/engine/recovery/recover.ts",
    find: "const changes = [...counters.changes, ...turns.changes, ...answers, ...items];",
    replace: "const changes = [...counters.changes, ...turns.changes, ...answers];",
  },
  {
    name: "running turn not resumed",
    file: "src/engine/recovery/recover.ts",
    find: "const changes = [...counters.changes, ...turns.changes, ...answers, ...items];",
    replace: "const changes = [...counters.changes, ...answers, ...items];",
  },
  {
    name: "no fence",
    file: "src/stores/sqlite/apply.ts",
    find: 'if (!live.has(by) && liveBoot.get(by) === undefined) return { result: "fenced", written: false };',
    replace: "",
  },
  {
    name: "replies out of order",
    file: "src/stores/sqlite/queries.ts",
    find: "WHERE session = ? AND state = 'pending' ORDER BY n LIMIT 1",
    replace: "WHERE session = ? AND state = 'pending' ORDER BY n DESC LIMIT 1",
  },
  {
    name: "later reply overtakes a retry",
    file: "src/engine/outbox/pump.ts",
    find: "const leave = lines.has(session) || !isOpen ? null : all.take(to);",
    replace: "const leave = !isOpen ? null : all.take(to);",
  },
  {
    name: "finished tool forgotten",
    file: "src/core/journal.ts",
    find: 'for (const entry of since) if (entry.type === "tool-ended") ended.add(entry.call);',
    replace: 'for (const entry of since.slice(-1)) if (entry.type === "tool-ended") ended.add(entry.call);',
  },
  {
    name: "reminder not stored with its tool's result",
    file: "src/engine/turns/calls/calls.ts",
    find: "await book.record([...ended, ...following], wished);",
    replace: "await book.record([...ended, ...following]);",
  },
  {
    name: "deaths are not counted",
    file: "src/core/recovery.ts",
    find: "const strikes = counts ? before + 1 : before;",
    replace: "const strikes = before;",
    by: "poison",
  },
  {
    name: "a stop waits for a hanging turn",
    file: "src/engine/stop/supervisor.ts",
    find: "void world.sleep(until, over.signal).then(() => {",
    replace: "void world.sleep((until + 3_600_000) as Instant, over.signal).then(() => {",
    by: "stop",
  },
  {
    name: "a full disk loses a finished step",
    file: "src/engine/ledger.ts",
    find: "if (closing.signal.aborted || !mayRecover(error)) throw error;",
    replace: 'return "conflict";',
    by: "seeds",
  },
  {
    name: "a stop forgets the answer to a send",
    file: "src/engine/outbox/pump.ts",
    find: "if (taken !== null) await underWay(sendAndSettle(taken));",
    replace: "if (taken !== null) await sendAndSettle(taken);",
    by: "stop",
  },
  {
    name: "interruptions are not counted",
    file: "src/engine/marks.ts",
    find: 'if (!one.hasResult && stop !== "fault") {',
    replace: "if (stop === null) {",
    by: "resume",
  },
  {
    name: "a mark outlives the turn it was made for",
    file: "src/engine/turns/saying.ts",
    find: "if (running.session.resume !== null) clear.push(...(await unmark(parts, running.session)));",
    replace: "",
    by: "resume",
  },
  {
    name: "a suspension strands what waits",
    file: "src/engine/recovery/suspend.ts",
    find: "if (kept.length > 0) changes.push(...(await succeededBy(parts, session, kept)));",
    replace: "",
    by: "suspend",
  },
  {
    name: "a crash suspends what is to be resumed",
    file: "src/engine/recovery/suspend.ts",
    find: 'if (session.standing === "active" && session.resume === null) found.set(session.id, session);',
    replace: 'if (session.standing === "active") found.set(session.id, session);',
    by: "suspend",
  },
  {
    name: "a turn that waits for its user starts beside it",
    file: "src/engine/lanes/lanes.ts",
    find: "queued: lane.queued || lane.parked || suspects.keeps(lane)",
    replace: "queued: lane.queued || suspects.keeps(lane)",
    by: "resume",
  },
  {
    name: "a second request changes what kind of stop it is",
    file: "src/core/lifecycle.ts",
    find: "return at - life.since >= limits.sameRequestMs ? park(life, at) : stay(life);",
    replace: "return at - life.since >= limits.sameRequestMs ? park(life, at) : stay({ ...life, intent });",
    by: "impossible-outside",
  },
  {
    name: "marked after the interrupt",
    file: "src/engine/stop/supervisor.ts",
    find: 'await line.step("mark", cap(limits.noteMs), async () => ({',
    replace: 'void line.step("mark", cap(limits.noteMs), async () => ({',
    by: "stop/marks",
  },
  {
    name: "the lock goes before the last word",
    file: "src/run/end.ts",
    find: "(isFenced(intent) ? undefined : sayLast(intent, parts, revoked))",
    replace: "(isFenced(intent) ? undefined : void setTimeout(() => void sayLast(intent, parts, revoked), 500))",
    by: "impossible-outside",
  },
  {
    name: "a marker is obeyed whomever it names",
    file: "src/host/markers.ts",
    find: 'return pid === self.pid && !comparable ? "self" : "other";',
    replace: 'return "self";',
    by: "impossible-outside",
  },
  {
    name: "a restart is answered at every start",
    file: "src/engine/recovery/recover.ts",
    find: 'return [{ put: "turn", turn }, ...writeReply(reply, null).changes];',
    replace: "return writeReply({ ...reply, id: parts.world.id() }, null).changes;",
    by: "restart",
  },
  {
    name: "a restart asked in a chat is forgotten at the start",
    file: "src/engine/recovery/recover.ts",
    find: "const answers = (await store.restarting()).flatMap((turn) => answer(parts, turn));",
    replace: "const answers: Change[] = [];",
    by: "restart",
  },
];
