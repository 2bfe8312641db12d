// Faults to plant, each a small and tempting mistake in the real sources. Some suite must find every one of them.

import { growingFaults } from "./growing.ts";
import { heldFaults } from "./held.ts";
import { orderFaults } from "./order.ts";
import { peopleFaults } from "./people.ts";

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
    file: "src/engine/plans/pieces.ts",
    find: "inboxRow(inbound, turn, world.now()),",
    replace: "inboxRow({ ...inbound, key: world.id() }, turn, world.now()),",
  },
  {
    name: "turn end and reply in two commits",
    file: "src/engine/turns/saying.ts",
    find: "await book.move(event, entries, [...written.changes, ...shown, ...more]);",
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
    find: "WHERE session = here.value AND state = 'pending' ORDER BY n LIMIT 1",
    replace: "WHERE session = here.value AND state = 'pending' ORDER BY n DESC LIMIT 1",
  },
  {
    name: "later reply overtakes a retry",
    file: "src/engine/outbox/pump.ts",
    find: "const isBusy = lines.has(place) || (edits",
    replace: "const isBusy = (edits",
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
    find: "await book.record([...ended, ...following], [...wished, ...outside]);",
    replace: "await book.record([...ended, ...following], outside);",
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
    find: "if (taken !== null) await underWay(sendAndSettle(taken, line));",
    replace: "if (taken !== null) await sendAndSettle(taken, line);",
    by: "stop",
  },
  {
    name: "interruptions are not counted",
    file: "src/engine/marks.ts",
    find: 'if (isLost && stop !== "fault") {',
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
  {
    name: "an intent is stored before the verdict",
    file: "src/engine/turns/calls/calls.ts",
    find: 'return verdict.type === "run" ? intent(first) : [];',
    replace: "return intent(first);",
    by: "crash",
  },
  {
    name: "a call is made whatever the verdict",
    file: "src/engine/turns/calls/calls.ts",
    find: 'const held = verdicts.findIndex((verdict) => verdict === "aborted" || verdict.type !== "run");',
    replace: 'const held = verdicts.indexOf("aborted");',
    by: "crash",
  },
  {
    name: "a denied call is made",
    file: "src/engine/turns/calls/calls.ts",
    find: 'if (decision.type === "approve" || decision.type === "always")',
    replace: 'if (decision.type !== "nobody")',
    by: "crash",
  },
  {
    name: "what was allowed is not compared with what would be done",
    file: "src/engine/turns/calls/calls.ts",
    find: 'verdict.type === "approve" && verdict.bound === asked?.bound',
    replace: 'verdict.type === "approve" && asked !== undefined',
    by: "crash",
  },
  {
    name: "always is forgotten",
    file: "src/engine/turns/calls/calls.ts",
    find: '? [{ put: "rule", rule }] : []',
    replace: "? [] : []",
    by: "turns/leave",
  },
  {
    name: "always counts before what it is for was looked at again",
    file: "src/engine/turns/calls/calls.ts",
    find: 'if (verdict.type !== "run" && !isAsShown(verdict, asked)) return hold(call, verdict, true);',
    replace:
      'if (verdict.type !== "run" && !isAsShown(verdict, asked)) { await book.record([], [{ put: "rule", rule: { id: asked.question, tool: call.tool, subject: asked.subject ?? "", by: "", at: parts.world.now() } }]); return hold(call, verdict, true); }',
    by: "turns/leave",
  },
  {
    name: "leave holds for whatever is there after a crash",
    file: "src/engine/turns/calls/calls.ts",
    find: 'if (verdict.type === "run" || isAsShown(verdict, asked)) return run(',
    replace: 'if (verdict.type === "run" || asked !== undefined) return run(',
    by: "turns/again",
  },
  {
    name: "an intent counts although it was asked about afterwards",
    file: "src/core/journal.ts",
    find: "const from = asked === undefined ? 0 : since.lastIndexOf(asked);",
    replace: "const from = 0;",
    by: "turns/again",
  },
  {
    name: "an older question about a call counts",
    file: "src/core/journal.ts",
    find: "return since.findLast((entry): entry is CallAsked =>",
    replace: "return since.find((entry): entry is CallAsked =>",
    by: "crash",
  },
  {
    name: "a step is not paid for",
    file: "src/engine/turns/run.ts",
    find: "await record([step, ...(await made.intentOf(wanted))], cost);",
    replace: "await record([step, ...(await made.intentOf(wanted))]);",
    by: "crash",
  },
  {
    name: "a summary is not stored with its step",
    file: "src/engine/turns/run.ts",
    find: "await record([step], [summary, ...cost]);",
    replace: "await record([step], cost);",
    by: "crash",
  },
  {
    name: "a stopped turn forgets what its tools did",
    file: "src/engine/turns/run.ts",
    find: "if (entries.length > 0 && (await tryRecord(entries, changes))",
    replace: "if (entries.length < 0 && (await tryRecord(entries, changes))",
    by: "turns/stopped",
  },
  {
    name: "strangers' words are forgotten with their turn",
    file: "src/engine/turns/calls/calls.ts",
    find: "await book.record([...ended, ...following], [...wished, ...outside]);",
    replace: "await book.record([...ended, ...following], wished);",
    by: "turns/again",
  },
  {
    name: "a turn that is cancelled while it rests says nothing of its calls",
    file: "src/engine/commands/ending.ts",
    find: "changes: [...changes, ...left.changes],",
    replace: "changes,",
    by: "turns/stopped",
  },
  {
    name: "whoever starts over cannot answer what is asked afterwards",
    file: "src/engine/plans/answers.ts",
    find: "const its = await lanes.enterSession(session);\n    const plan",
    replace:
      "if (session.key === lane.session.key) return null;\n    const its = await lanes.enterSession(session);\n    const plan",
    by: "turns/succeeded",
  },
  {
    name: "a long command is held against its turn",
    file: "src/engine/recovery/recover.ts",
    find: "progressed: (something || forLong) && !diedOfIt",
    replace: "progressed: something && !diedOfIt",
    by: "turns/followed",
  },
  {
    name: "a call that goes on without us is never given up",
    file: "src/engine/recovery/recover.ts",
    find: "boot.beatAt - begunAt >= limits.beatMs",
    replace: "boot.beatAt >= begunAt - 1e15",
    by: "turns/followed",
  },
  {
    name: "a secret is told in a preview",
    file: "src/engine/outbox/veil.ts",
    find: "platform.draft(to, text === null ? null : hide(text))",
    replace: "platform.draft(to, text)",
    by: "turns/shown",
  },
  ...growingFaults,
  ...heldFaults,
  ...orderFaults,
  ...peopleFaults,
];
