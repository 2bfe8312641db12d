// Interrupted conversations: how they are marked, what their agent is told, and when they go on. Real gateways over a
// real store file, one life after another.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import type { BootId } from "../src/core/ids.ts";
import { textOf } from "../src/core/message.ts";
import type { StopClass } from "../src/core/recovery.ts";
import { type Session, sessionKey } from "../src/core/session.ts";
import type { Agent, AgentJob, Step } from "../src/ports/agent.ts";
import { openSqliteStore } from "../src/stores/sqlite/index.ts";
import { aBoot, aSession, at as moment, bootId, sessionId } from "../src/testing/samples.ts";
import { type Living, type Stage, at, stage, whenAborted } from "./stop/stage.ts";

/** What the agent was given at each step. */
type Asked = { readonly text: string; readonly note: string | null; readonly joined: readonly string[] };

/**
 * `hang` waits for its abort until it is resumed. `tool` calls a tool first, `tool hang` hangs after its result. Every
 * answer names all that it answers.
 */
function listener(asked: Asked[]): Agent {
  return {
    tools: [
      {
        name: "look",
        description: "finds something",
        effect: "once",
        input: {},
        run: async () => ({ type: "ok", output: "found" }),
      },
    ],
    async step(job, signal): Promise<Step> {
      const text = textOf(job.input.body);
      const joined = job.journal.flatMap((entry) => (entry.type === "joined" ? [textOf(entry.message.body)] : []));
      asked.push({ text, note: job.note, joined });
      if (text.startsWith("tool") && job.journal.every((entry) => entry.type !== "said")) {
        return { type: "said", text: "", calls: [{ call: "1", tool: "look", input: {} }], final: false };
      }
      if (text.startsWith("ask") && job.journal.every((entry) => entry.type !== "asked")) {
        return { type: "asked", text: "which?", choices: ["a", "b"], until: moment(9e9) };
      }
      if (text.includes("hang") && !resumedInThisStep(job)) await hang(signal);
      return { type: "said", text: `answer to ${[text, ...joined].join(" and ")}`, calls: [], final: true };
    },
    close: async () => undefined,
  };
}

function resumedInThisStep({ journal }: AgentJob): boolean {
  return journal.some((entry) => entry.type === "resumed");
}

function hang(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => whenAborted(signal, () => reject(signal.reason)));
}

async function sessionAt(on: Stage, chat: string): Promise<Session> {
  const session = await on.store.sessionOf(sessionKey(at(chat)));
  assert.ok(session !== null, `no session at ${chat}`);
  return session;
}

function texts(on: Stage): readonly string[] {
  return on.servers.get("chat")?.sent.map(({ text }) => text) ?? [];
}

async function answered(on: Stage, text: string): Promise<void> {
  await on.until(() => texts(on).includes(text), text);
}

/** Says something and waits until the agent works on it. */
async function begin(on: Stage, asked: Asked[], chat: string, text: string): Promise<void> {
  await on.say(text, { from: at(chat) });
  const steps = text.startsWith("tool") ? 2 : 1;
  await on.until(() => asked.filter((one) => one.text === text).length >= steps);
}

/** Writes as a life that is over but has no successor yet. */
async function write(on: Stage, changes: Parameters<Stage["store"]["commit"]>[0]): Promise<void> {
  const [last] = await on.store.lastBoots(1);
  assert.equal(await on.store.commit(changes, last?.id as BootId), "committed");
}

test("S71 a broken moment in the file: the mark and its reason are kept", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "everturn-marks-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "state.db");
  const store = await openSqliteStore({ file, writer: "inline" });
  await store.openBoot(aBoot("b1"));
  await store.commit([{ put: "session", session: aSession("s1") }], bootId("b1"));
  await store.close();
  const db = new DatabaseSync(file);
  db.prepare("UPDATE sessions SET resume = ?").run('{"reason":"shutdown_timeout","markedAt":"not a moment"}');
  db.close();
  const again = await openSqliteStore({ file, writer: "inline" });
  assert.deepEqual((await again.session(sessionId("s1")))?.resume, { reason: "shutdown_timeout", markedAt: null });
  await again.close();
});

test("S80 S98 a session that is to be resumed keeps its id and its mark until a turn has ended well; then counter and mark are gone", async (t) => {
  const on = await stage(t);
  const asked: Asked[] = [];
  const one = await on.start({ agent: listener(asked) });
  await on.say("first");
  await answered(on, "answer to first");
  const before = await sessionAt(on, "a");
  await on.stop(one);
  await write(on, [
    { put: "resume", session: before.id, resume: { reason: "restart_timeout", markedAt: moment(5) } },
    { put: "strikes", key: before.key, strikes: 2 },
  ]);
  const [working, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const patient: Agent = {
    ...listener(asked),
    async step() {
      working.resolve();
      await go.promise;
      return { type: "said", text: "answer to second", calls: [], final: true };
    },
  };
  await on.start({ agent: patient });
  await on.say("second");
  await working.promise;
  const during = await sessionAt(on, "a");
  assert.deepEqual([during.id, during.reset, during.resume?.reason], [before.id, null, "restart_timeout"]);
  assert.equal(await on.store.strikes(before.key), 2, "nothing has ended yet");
  go.resolve();
  await answered(on, "answer to second");
  const after = await sessionAt(on, "a");
  assert.deepEqual([after.id, after.resume, await on.store.strikes(after.key)], [before.id, null, 0]);
});

/** Restarts in the middle of a turn, whose second life fails as with a wrong key. */
async function interruptedThenFailed(
  on: Stage,
  asked: Asked[],
  text = "hang there",
  why = "the key is wrong",
): Promise<Living> {
  const one = await on.start({ agent: listener(asked) });
  await begin(on, asked, "a", text);
  await end(on, one, "restart");
  const broken: Agent = {
    ...listener(asked),
    step: async () => ({ type: "failed", retry: "never", why }),
  };
  const two = await on.start({ agent: broken });
  await answered(on, `I could not finish this: ${why}`);
  return two;
}

async function interruptionAt(on: Stage): Promise<readonly unknown[]> {
  const { key, resume } = await sessionAt(on, "a");
  return [resume?.reason ?? null, await on.store.strikes(key), await on.store.interruptions(key)];
}

test("S98 a resumed turn that fails keeps mark and counts; the next turn is told of the interruption, and its success clears them", async (t) => {
  const on = await stage(t);
  const asked: Asked[] = [];
  const two = await interruptedThenFailed(on, asked);
  assert.deepEqual(await interruptionAt(on), ["restart_timeout", 1, 1]);
  await on.stop(two);
  assert.deepEqual(await interruptionAt(on), ["restart_timeout", 1, 1], "an idle session is not interrupted");
  await on.start({ agent: listener(asked) });
  assert.deepEqual(await interruptionAt(on), ["restart_timeout", 1, 1], "nor does a start clear it");
  await on.say("tool again");
  await answered(on, "answer to tool again");
  const notes = asked.filter(({ text }) => text === "tool again").map(({ note }) => note);
  assert.match(notes[0] ?? "", /^\[System note: your previous turn.*gateway restart.*\]$/);
  assert.deepEqual(notes.slice(1), [null], "told once");
  assert.deepEqual(await interruptionAt(on), [null, 0, 0]);
  await on.say("plain");
  await answered(on, "answer to plain");
  assert.equal(asked.at(-1)?.note, null);
});

/** Leaves two strikes of two turns, both interrupted and failed. */
async function twoStrikes(on: Stage, asked: Asked[]): Promise<void> {
  await on.stop(await interruptedThenFailed(on, asked));
  await on.stop(await interruptedThenFailed(on, asked, "hang again", "the model is away"));
  assert.deepEqual(await interruptionAt(on), ["restart_timeout", 2, 2]);
}

for (const [how, cut, counted] of [
  ["convict the next turn at its first death", async (_: Stage, { life }: Living) => life.kill(), 2],
  [
    "suspend the session of the next turn at its first interruption",
    (on: Stage, one: Living) => end(on, one, "restart"),
    3,
  ],
] as const) {
  test(`S98 strikes that failed turns left behind do not ${how}`, async (t) => {
    const on = await stage(t);
    const asked: Asked[] = [];
    await twoStrikes(on, asked);
    const { id } = await sessionAt(on, "a");
    const one = await on.start({ agent: listener(asked) });
    await begin(on, asked, "a", "hang once");
    await cut(on, one);
    assert.deepEqual(await interruptionAt(on), ["restart_timeout", 2, counted]);
    await on.start({ agent: listener(asked) });
    await answered(on, "answer to hang once");
    assert.deepEqual([(await sessionAt(on, "a")).id, await interruptionAt(on)], [id, [null, 0, 0]]);
  });
}

test("S98 after failed turns, a turn that is interrupted three times itself suspends its session", async (t) => {
  const on = await stage(t);
  const asked: Asked[] = [];
  await twoStrikes(on, asked);
  const stuck: Agent = { ...listener(asked), step: (_, signal) => hang(signal) };
  for (const n of [1, 2, 3]) {
    const one = await on.start({ agent: stuck });
    if (n === 1) await on.say("stuck");
    await on.until(() => one.gateway.status().running.length === 1);
    await end(on, one, "restart");
    assert.deepEqual(await interruptionAt(on), ["restart_timeout", n < 3 ? 2 : 3, 2 + n]);
  }
  await on.start({ agent: stuck });
  assert.equal((await sessionAt(on, "a")).standing, "suspended");
});

for (const [how, clear] of [
  ["/stop", (on: Stage) => on.say("/stop")],
  ["/new", (on: Stage) => on.say("/new")],
  [
    "suspension",
    async (on: Stage, life: Living) => {
      const { key } = await sessionAt(on, "a");
      await on.stop(life);
      await write(on, [{ put: "strikes", key, strikes: 3 }]);
      await on.start({ agent: listener([]) });
      await on.say("hello");
    },
  ],
] as const) {
  test(`S98 ${how} clears an interruption that a failed turn kept`, async (t) => {
    const on = await stage(t);
    const asked: Asked[] = [];
    const life = await interruptedThenFailed(on, asked);
    const before = await sessionAt(on, "a");
    await clear(on, life);
    assert.deepEqual(await interruptionAt(on), [null, 0, 0]);
    assert.equal((await sessionAt(on, "a")).id === before.id, how === "/stop");
  });
}

test("S98 a newer message that takes the place of a resumed turn does not clear the interruption; its success does", async (t) => {
  const on = await stage(t);
  const asked: Asked[] = [];
  const stuck: Agent = {
    ...listener(asked),
    step: (job, signal) => (textOf(job.input.body) === "stuck" ? hang(signal) : listener(asked).step(job, signal)),
  };
  const busy = { settings: { chat: { busy: "interrupt" } } } as const;
  const one = await on.start({ agent: stuck, ...busy });
  await on.say("stuck");
  await on.until(() => one.gateway.status().running.length === 1);
  await end(on, one, "restart");
  const two = await on.start({ agent: stuck, ...busy });
  await on.until(() => two.gateway.status().running.length === 1);
  await on.say("hang instead");
  await on.until(() => asked.length === 1);
  assert.match(asked[0]?.note ?? "", /your previous turn.*gateway restart/);
  assert.deepEqual(await interruptionAt(on), ["restart_timeout", 1, 1]);
});

const endings: readonly { readonly stop: StopClass | null; readonly says: string }[] = [
  { stop: "restart", says: "gateway restart" },
  { stop: "take-over", says: "gateway restart" },
  { stop: "planned", says: "gateway shutdown" },
  { stop: "unexpected", says: "gateway shutdown" },
  { stop: null, says: "gateway interruption" },
];

async function end(on: Stage, one: Living, stop: StopClass | null): Promise<void> {
  if (stop === null) one.life.kill();
  else await on.stop(one, { class: stop });
}

test("S85 S86 S87 the first step after an interruption is told which it was, once, and the turn ends as usual", async (t) => {
  for (const { stop, says } of endings) {
    const on = await stage(t);
    const asked: Asked[] = [];
    const one = await on.start({ agent: listener(asked) });
    await begin(on, asked, "a", "hang there");
    await end(on, one, stop);
    await on.start({ agent: listener(asked) });
    await answered(on, "answer to hang there");
    assert.equal(asked[0]?.note, null, "nothing had happened yet");
    assert.match(asked[1]?.note ?? "", /^\[System note: [^\]]*\]$/, "without a new message it stands alone");
    assert.ok(asked[1]?.note?.includes(says), `${stop}: ${asked[1]?.note}`);
    const history = await on.store.history((await sessionAt(on, "a")).id, 10);
    assert.deepEqual(
      history.map(({ text }) => text),
      ["hang there", "answer to hang there"],
      "the note is nobody's words",
    );
  }
});

test("S88 S89 S90 after a tool's result: with a mark one note about the restart, without a mark one about the result; otherwise none", async (t) => {
  for (const marked of [true, false]) {
    const on = await stage(t);
    const asked: Asked[] = [];
    const one = await on.start({ agent: listener(asked) });
    await begin(on, asked, "a", "tool hang");
    await end(on, one, "restart");
    if (!marked) await write(on, [{ put: "resume", session: (await sessionAt(on, "a")).id, resume: null }]);
    await on.start({ agent: listener(asked) });
    await answered(on, "answer to tool hang");
    await on.say("and then?");
    await answered(on, "answer to and then?");
    const notes = asked.map(({ note }) => note);
    assert.deepEqual([notes.length, notes[0], notes[1], notes[3]], [4, null, null, null], "S90");
    const note = notes[2] ?? "";
    assert.equal(note.split("[System note:").length, 2, "exactly one");
    assert.equal(note.includes("gateway restart"), marked);
    assert.equal(note.includes("after a tool result"), !marked);
  }
});

test("interrupted turns that wait for their user: the next message joins, and one answer is for both", async (t) => {
  const on = await stage(t);
  const asked: Asked[] = [];
  const recovery = { afterCrash: "resume", autoResume: false } as const;
  const one = await on.start({ agent: listener(asked), recovery });
  await begin(on, asked, "a", "hang there");
  await end(on, one, "restart");
  const two = await on.start({ agent: listener(asked), recovery });
  await on.pass(60_000);
  assert.equal(asked.length, 1, "nothing goes on by itself");
  assert.deepEqual(
    (await on.store.turns({ state: "open", limit: 9 })).map(({ now }) => now.state),
    ["parked"],
  );
  assert.equal(two.gateway.status().running.length, 0);
  await on.say("what happened?");
  await answered(on, "answer to hang there and what happened?");
  assert.match(asked[1]?.note ?? "", /^\[System note: .*gateway restart.*\]\n\nwhat happened\?$/);
  const outcomes = (await on.store.turns({ limit: 9 })).map(({ now }) => (now.state === "done" ? now.outcome : ""));
  assert.deepEqual(outcomes, ["joined", "replied"]);
  assert.equal((await sessionAt(on, "a")).resume, null);
  await on.say("plain");
  await answered(on, "answer to plain");
  assert.equal(asked[2]?.note, null);
});

test("interrupted turns that wait for their user: of messages that were queued already, the first joins at the start", async (t) => {
  const on = await stage(t);
  const asked: Asked[] = [];
  const recovery = { afterCrash: "resume", autoResume: false } as const;
  const one = await on.start({ agent: listener(asked), recovery });
  await begin(on, asked, "a", "hang there");
  await on.say("second");
  await on.say("third");
  await end(on, one, null);
  await on.start({ agent: listener(asked), recovery });
  await answered(on, "answer to third");
  assert.deepEqual(texts(on), ["answer to hang there and second", "answer to third"]);
  assert.match(asked[1]?.note ?? "", /gateway interruption.*\n\nsecond$/s);
});

test("interrupted turns that wait for their user: /stop ends them, /new lets them go on at once, an answer does not wait for them", async (t) => {
  const recovery = { afterCrash: "resume", autoResume: false } as const;
  const cases = [
    { says: "/stop", sees: "Stopped.", left: [] },
    { says: "/new", sees: "answer to hang there", left: [] },
    { says: "b", sees: "answer to ask me", left: ["hang there"] },
  ];
  for (const { says, sees, left } of cases) {
    const on = await stage(t);
    const asked: Asked[] = [];
    const one = await on.start({ agent: listener(asked), recovery });
    if (says === "b") {
      await on.say("ask me");
      await answered(on, "which?");
    }
    // A second turn beside an open question is a timer's; everything a user says would answer it.
    const body = { kind: "timer", timer: "t1", text: "hang there" } as const;
    await on.say("hang there", says === "b" ? { body } : {});
    await on.until(() => asked.some(({ text }) => text === "hang there"));
    await end(on, one, "restart");
    const two = await on.start({ agent: listener(asked), recovery });
    await on.say(says);
    await answered(on, sees);
    await on.until(() => two.gateway.status().running.length === 0);
    const open = (await on.store.turns({ state: "open", limit: 9 })).map(({ input }) => textOf(input.body));
    assert.deepEqual(open, left, says);
  }
});

test("interrupted turns that wait for their user: also one whose session was started over from outside goes on", async (t) => {
  const on = await stage(t);
  const asked: Asked[] = [];
  const recovery = { afterCrash: "resume", autoResume: false } as const;
  const one = await on.start({ agent: listener(asked), recovery });
  await begin(on, asked, "a", "hang there");
  await end(on, one, "planned");
  const two = await on.start({ agent: listener(asked), recovery });
  await two.gateway.reset((await sessionAt(on, "a")).id);
  await answered(on, "answer to hang there");
});

test("a boot that died inside its own drain: its turns go on with the reason of the stop, and count as stopped, not as dead", async (t) => {
  const on = await stage(t);
  const asked: Asked[] = [];
  const one = await on.start({ agent: listener(asked), drainMs: 10_000 });
  await begin(on, asked, "a", "hang there");
  one.gateway.stop({ class: "restart", by: "cli", reason: "asked" });
  await on.pass(100);
  one.life.kill();
  const { key, resume } = await sessionAt(on, "a");
  assert.equal(resume, null, "the drain was not over");
  await on.start({ agent: listener([]), lanesMax: 0 });
  assert.equal((await sessionAt(on, "a")).resume?.reason, "restart_timeout");
  assert.equal(await on.store.strikes(key), 1, "an interruption without a result");
});

test("S94 a turn that ends in the very moment of the mark is not marked, and holds nobody else's mark up", async (t) => {
  const on = await stage(t);
  const asked: Asked[] = [];
  const go = Promise.withResolvers<void>();
  const agent: Agent = {
    ...listener(asked),
    async step(job, signal): Promise<Step> {
      if (textOf(job.input.body) !== "nearly done") return listener(asked).step(job, signal);
      await go.promise;
      return { type: "said", text: "done", calls: [], final: true };
    },
  };
  // Whatever is about to be marked, another turn ends first, in a commit that nobody waited for.
  const commit: Stage["store"]["commit"] = async (changes, by) => {
    const marks = changes.some((one) => "put" in one && one.put === "resume" && one.resume !== null);
    if (marks) {
      go.resolve();
      await on.until(() => texts(on).includes("done"));
    }
    return on.store.commit(changes, by);
  };
  const one = await on.start({ agent, store: { ...on.store, commit }, drainMs: 20 });
  await begin(on, asked, "stuck", "hang there");
  await on.say("nearly done", { from: at("quick") });
  await on.until(() => one.gateway.status().running.length === 2);
  await on.stop(one);
  const [stuck, quick] = [await sessionAt(on, "stuck"), await sessionAt(on, "quick")];
  assert.deepEqual([stuck.resume?.reason, quick.resume], ["shutdown_timeout", null]);
  assert.deepEqual([await on.store.strikes(stuck.key), await on.store.strikes(quick.key)], [1, 0]);
});
