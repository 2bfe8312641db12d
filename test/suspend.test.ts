// Conversations that start over by themselves: after three interruptions that got nowhere, or after a crash where their
// owner wants that. Nothing that was accepted is lost on the way. Real gateways over a real store file.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import type { BootId } from "../src/core/ids.ts";
import { textOf } from "../src/core/message.ts";
import type { StopClass } from "../src/core/recovery.ts";
import { type Session, sessionKey } from "../src/core/session.ts";
import { readCounts } from "../src/host/files/counters.ts";
import type { Agent, Step } from "../src/ports/agent.ts";
import { openSqliteStore } from "../src/stores/sqlite/index.ts";
import { at as moment } from "../src/testing/samples.ts";
import { type Living, type Stage, type StageOptions, at, stage, whenAborted } from "./stop/stage.ts";

const suspend = { afterCrash: "suspend", autoResume: true } as const;

/** `hang` waits for its abort, every time; `tool hang` has a result first, `work hang` in each life; `ask` asks. */
const agent: Agent = {
  tools: [
    { name: "look", description: "", effect: "once", input: {}, run: async () => ({ type: "ok", output: "found" }) },
  ],
  async step({ input, journal, history, session }, signal): Promise<Step> {
    const text = textOf(input.body);
    if (text.startsWith("tool") && journal.every((entry) => entry.type !== "said")) {
      return { type: "said", text: "", calls: [{ call: "1", tool: "look", input: {} }], final: false };
    }
    if (text.startsWith("work") && (journal.length === 0 || journal.at(-1)?.type === "resumed")) {
      return { type: "said", text: "", calls: [{ call: `${journal.length}`, tool: "look", input: {} }], final: false };
    }
    if (text.startsWith("ask") && journal.every((entry) => entry.type !== "asked")) {
      return { type: "asked", text: "which?", choices: ["a", "b"], until: moment(9e9) };
    }
    if (text.includes("hang")) {
      await new Promise((_, reject) => whenAborted(signal, () => reject(signal.reason)));
    }
    const choice = journal.flatMap((entry) => (entry.type === "answered" ? [` with ${entry.choice}`] : [])).join("");
    const lines = text.startsWith("recall")
      ? ` in ${session}: ${(await history(9)).map((one) => one.text).join()}`
      : "";
    return { type: "said", text: `answer to ${text}${choice}${lines}`, calls: [], final: true };
  },
  close: async () => undefined,
};

async function sessionAt(on: Stage, chat: string): Promise<Session> {
  const session = await on.store.sessionOf(sessionKey(at(chat)));
  assert.ok(session !== null, `no session at ${chat}`);
  return session;
}

function texts(on: Stage, chat = "a"): readonly string[] {
  return on.servers.get("chat")?.sent.flatMap(({ to, text }) => (to.chat === chat ? [text] : [])) ?? [];
}

async function answered(on: Stage, text: string, chat = "a"): Promise<void> {
  await on.until(() => texts(on, chat).includes(text), text);
}

async function write(on: Stage, changes: Parameters<Stage["store"]["commit"]>[0]): Promise<void> {
  const [last] = await on.store.lastBoots(1);
  assert.equal(await on.store.commit(changes, last?.id as BootId), "committed");
}

const suspensions = (on: Stage) => on.log.filter(({ what }) => what.startsWith("a conversation was suspended")).length;

/** A life in which every chat has said something, and been answered. */
async function lifeWith(on: Stage, chats: readonly string[], options: StageOptions = {}): Promise<Living> {
  const one = await on.start({ agent, ...options });
  for (const chat of chats) {
    await on.say("hello", { from: at(chat) });
    await answered(on, "answer to hello", chat);
  }
  return one;
}

test("S81 S82 a suspended session, also one that is to be resumed: the next message gets a new id, and the reason", async (t) => {
  for (const resume of [null, { reason: "restart_timeout", markedAt: moment(5) } as const]) {
    const on = await stage(t);
    await on.stop(await lifeWith(on, ["a"]));
    const before = await sessionAt(on, "a");
    await write(on, [
      { put: "resume", session: before.id, resume },
      { put: "standing", session: before.id, standing: "suspended" },
    ]);
    await on.start({ agent });
    assert.equal((await sessionAt(on, "a")).id, before.id, "a start alone changes nothing");
    // Two at once start over once.
    const both = [on.say("recall 1"), on.say("recall 2")];
    await Promise.all(both);
    const after = await sessionAt(on, "a");
    // Whether the second is there by then is a matter of moments; nothing from before is.
    const remembers = `answer to recall 1 in ${after.id}: recall 1`;
    await on.until(() => texts(on).some((text) => text.startsWith(remembers)), remembers);
    assert.notEqual(after.id, before.id);
    assert.deepEqual([after.reset, after.standing, after.resume], ["suspended", "active", null]);
    const old = await on.store.session(before.id);
    assert.deepEqual([old?.endedAt !== null, old?.standing, old?.resume], [true, "suspended", resume]);
    assert.equal((await on.store.sessions({ limit: 9 })).length, 2);
  }
});

test("a suspended session whose place the operator gives away while a message is on its way: the message goes there", async (t) => {
  const on = await stage(t);
  const { one, before, held } = await suspendedWith(on, (next) => next.reset === "suspended");
  const accepted = on.write("hello again");
  await on.until(held.isThere, "the message at the store");
  await one.gateway.reset(before.id);
  const taken = await sessionAt(on, "a");
  held.go();
  assert.equal(await accepted, "accepted");
  await answered(on, "answer to hello again");
  assert.deepEqual([(await sessionAt(on, "a")).id, taken.reset], [taken.id, null]);
  assert.equal((await on.store.sessions({ limit: 9 })).length, 2, "the old one, and one in its place");
  assert.equal(one.ending, null);
});

test("a suspended session whose place a message takes while the operator gives it away: the operator is told", async (t) => {
  const on = await stage(t);
  const { one, before, held } = await suspendedWith(on, (next) => next.reset !== "suspended");
  const replaced = assert.rejects(one.gateway.reset(before.id), /changed at that very moment/);
  await on.until(held.isThere, "the operator at the store");
  assert.equal(await on.say("hello again"), "accepted");
  const taken = await sessionAt(on, "a");
  held.go();
  await replaced;
  await answered(on, "answer to hello again");
  assert.deepEqual([(await sessionAt(on, "a")).id, taken.reset], [taken.id, "suspended"]);
  assert.equal((await on.store.sessions({ limit: 9 })).length, 2, "the old one, and one in its place");
  assert.equal(one.ending, null);
});

/** A life over a suspended session, in which the first commit that stores such a next one waits until it may go. */
async function suspendedWith(on: Stage, isHeld: (next: Session) => boolean) {
  await on.stop(await lifeWith(on, ["a"]));
  const before = await sessionAt(on, "a");
  await write(on, [{ put: "standing", session: before.id, standing: "suspended" }]);
  const way = Promise.withResolvers<void>();
  let isThere = false;
  const store: Stage["store"] = {
    ...on.store,
    async commit(changes, by) {
      const holds = changes.some((one) => "put" in one && one.put === "session" && isHeld(one.session));
      if (holds && !isThere) {
        isThere = true;
        await way.promise;
      }
      return on.store.commit(changes, by);
    },
  };
  return { one: await on.start({ agent, store }), before, held: { isThere: () => isThere, go: () => way.resolve() } };
}

test("S83 a crash suspends nobody who is to be resumed", async (t) => {
  const on = await stage(t);
  const one = await lifeWith(on, ["a"]);
  const { id } = await sessionAt(on, "a");
  await write(on, [{ put: "resume", session: id, resume: { reason: "restart_timeout", markedAt: moment(5) } }]);
  one.life.kill();
  await on.start({ agent, recovery: suspend });
  const session = await sessionAt(on, "a");
  assert.deepEqual([session.id, session.standing, session.resume?.reason], [id, "active", "restart_timeout"]);
  assert.equal(suspensions(on), 0);
});

test("S84 a crash suspends the one that was active and is not to be resumed, and no other", async (t) => {
  const on = await stage(t);
  const one = await lifeWith(on, ["old"]);
  await on.pass(121_000);
  for (const chat of ["pending", "recent"]) await on.say("hello", { from: at(chat) });
  await answered(on, "answer to hello", "recent");
  const resume = { reason: "restart_timeout", markedAt: moment(5) } as const;
  await write(on, [{ put: "resume", session: (await sessionAt(on, "pending")).id, resume }]);
  one.life.kill();
  const two = await on.start({ agent, recovery: suspend });
  const standing = async (chat: string) => (await sessionAt(on, chat)).standing;
  assert.deepEqual(
    [await standing("old"), await standing("pending"), await standing("recent")],
    ["active", "active", "suspended"],
  );
  assert.equal(suspensions(on), 1);
  await on.say("hello again", { from: at("recent") });
  assert.equal((await sessionAt(on, "recent")).reset, "suspended");
  // A stop is no crash.
  await on.stop(two);
  await on.start({ agent, recovery: suspend });
  assert.equal(suspensions(on), 1);
});

test("S84 unless the owner wants it, a crash suspends nobody: what was cut short goes on", async (t) => {
  const on = await stage(t);
  const one = await lifeWith(on, ["a", "b"]);
  one.life.kill();
  await on.start({ agent });
  assert.equal(suspensions(on), 0);
  assert.deepEqual([(await sessionAt(on, "a")).standing, (await sessionAt(on, "b")).standing], ["active", "active"]);
});

test("S83 what a boot held that died inside its own drain is marked first, and so not suspended", async (t) => {
  const on = await stage(t);
  const one = await on.start({ agent, drainMs: 10_000 });
  await on.say("hang there");
  await on.until(() => one.gateway.status().running.length === 1);
  one.gateway.stop({ class: "planned", by: "cli", reason: "asked" });
  await on.pass(100);
  one.life.kill();
  await on.start({ agent, recovery: suspend });
  const { standing, resume } = await sessionAt(on, "a");
  assert.deepEqual([standing, resume?.reason, suspensions(on)], ["active", "shutdown_timeout", 0]);
});

test("whoever is suspended strands nothing: what ran ends with a word, what waits goes on in the session that follows", async (t) => {
  const on = await stage(t);
  const one = await on.start({ agent });
  await on.say("ask me");
  await answered(on, "which?");
  const timer = (text: string) => ({ body: { kind: "timer", timer: text, text } as const });
  await on.say("", timer("tool hang"));
  await on.until(() => one.gateway.status().running.some(({ steps }) => steps === 1));
  await on.say("", timer("recall queued"));
  const before = await sessionAt(on, "a");
  one.life.kill();

  const two = await on.start({ agent, recovery: suspend });
  const after = await sessionAt(on, "a");
  assert.deepEqual([after.id === before.id, after.reset], [false, "suspended"]);
  await answered(on, `answer to recall queued in ${after.id}: ask me,which?`);
  const sorry = texts(on).filter((text) => text.startsWith("I had to give this up: the gateway broke down"));
  assert.equal(sorry.length, 1, "its user is told, once");
  const turns = await on.store.turns({ limit: 9 });
  const ended = turns.find(({ input }) => textOf(input.body) === "tool hang");
  assert.equal(ended?.now.state === "done" && ended.now.outcome, "failed");
  assert.equal(await on.store.strikes(before.key), 0);

  // The question is open where the user now is, and so is its end.
  const waiting = turns.find(({ input }) => textOf(input.body) === "ask me");
  assert.equal(waiting?.session, after.id);
  assert.equal((await on.store.nextTimer())?.session, after.id);
  await on.say("b");
  await answered(on, "answer to ask me with b");
  await on.until(() => two.gateway.status().running.length === 0);
  assert.deepEqual(await on.store.turns({ state: "open", limit: 9 }), []);
});

test("words that waited move into the transcript of the session that follows", async (t) => {
  const on = await stage(t);
  const one = await on.start({ agent });
  await on.say("hang there");
  await on.until(() => one.gateway.status().running.length === 1);
  await on.say("recall");
  const before = await sessionAt(on, "a");
  one.life.kill();
  await on.start({ agent, recovery: suspend });
  const after = await sessionAt(on, "a");
  await answered(on, `answer to recall in ${after.id}: recall`);
  const said = async (session: Session) =>
    (await on.store.history(session.id, 9)).map(({ role, text }) => [role, text]);
  assert.deepEqual((await said(before))[0], ["user", "hang there"]);
  assert.deepEqual((await said(after))[0], ["user", "recall"]);
});

for (const [whose, more] of [
  ["strangers", { outside: true }],
  ["the user", {}],
] as const) {
  test(`a session that follows is marked where words of strangers moved into it: ${whose}`, async (t) => {
    const on = await stage(t);
    const one = await on.start({ agent });
    await on.say("hang there");
    await on.until(() => one.gateway.status().running.length === 1);
    await on.say("recall", more);
    one.life.kill();
    await on.start({ agent, recovery: suspend });
    const after = await sessionAt(on, "a");
    await answered(on, `answer to recall in ${after.id}: recall`);
    assert.equal((await sessionAt(on, "a")).outside, whose === "strangers");
  });
}

/** Interrupts what runs in chat a, life after life. */
async function interrupt(on: Stage, text: string, stops: readonly StopClass[]): Promise<void> {
  for (const [i, kind] of stops.entries()) {
    const one = await on.start({ agent });
    if (i === 0) await on.say(text);
    await on.until(() => one.gateway.status().running.length === 1);
    const steps = text.startsWith("work") || (text.startsWith("tool") && i === 0) ? 1 : 0;
    await on.until(() => one.gateway.status().running[0]?.steps === steps);
    await on.stop(one, { class: kind });
  }
}

test("S97 three interruptions without a result: the boot suspends that session although it is to be resumed, and its user is told", async (t) => {
  const on = await stage(t);
  await interrupt(on, "hang there", ["restart", "unexpected", "restart"]);
  const before = await sessionAt(on, "a");
  assert.deepEqual([await on.store.strikes(before.key), before.resume?.reason], [3, "restart_timeout"]);
  const four = await on.start({ agent });
  assert.equal(suspensions(on), 1);
  const suspended = await sessionAt(on, "a");
  assert.deepEqual([suspended.id, suspended.standing], [before.id, "suspended"]);
  assert.equal(await on.store.strikes(before.key), 0, "the row is gone with the suspension");
  const sorry = () =>
    texts(on).filter((text) => text.startsWith("I had to give this up: it was interrupted three times"));
  await on.until(() => sorry().length > 0);
  assert.equal(four.gateway.status().running.length, 0);
  await on.say("hello");
  await answered(on, "answer to hello");
  const after = await sessionAt(on, "a");
  assert.deepEqual([after.id === before.id, after.reset], [false, "suspended"]);
  assert.equal(sorry().length, 1, "its user is told, once");
});

test("S97 stops that interrupt a session for ever are bounded: after the fiftieth, each with progress, it is suspended and its user told", async (t) => {
  const on = await stage(t);
  await interrupt(on, "work hang", Array<StopClass>(49).fill("restart"));
  const before = await sessionAt(on, "a");
  const counted = async () => [await on.store.strikes(before.key), await on.store.interruptions(before.key)];
  assert.deepEqual(await counted(), [0, 49]);
  const fifty = await on.start({ agent });
  await on.until(() => fifty.gateway.status().running[0]?.steps === 1);
  assert.equal(suspensions(on), 0, "forty-nine are allowed");
  await on.stop(fifty, { class: "planned" });
  assert.deepEqual([await counted(), (await sessionAt(on, "a")).resume?.reason], [[0, 50], "shutdown_timeout"]);
  await on.start({ agent });
  assert.deepEqual([suspensions(on), (await sessionAt(on, "a")).standing, await counted()], [1, "suspended", [0, 0]]);
  const sorry = () => texts(on).filter((text) => text.startsWith("I had to give this up: it was interrupted 50 times"));
  await on.until(() => sorry().length > 0);
  await on.say("hello");
  await answered(on, "answer to hello");
  const after = await sessionAt(on, "a");
  assert.deepEqual([after.id === before.id, after.reset, sorry().length], [false, "suspended", 1]);
});

test("S97 a boot that died inside its own stop, before it could count: the next one counts, and suspends after the fiftieth", async (t) => {
  const on = await stage(t);
  await interrupt(on, "work hang", ["restart"]);
  const { key } = await sessionAt(on, "a");
  for (const [before, suspended, after] of [
    [1, 0, 2],
    [49, 1, 0],
  ] as const) {
    await write(on, [{ put: "interruptions", key, interruptions: before }]);
    const one = await on.start({ agent, drainMs: 10_000 });
    await on.until(() => one.gateway.status().running[0]?.steps === 1);
    await on.pass(1_000);
    one.gateway.stop({ class: "restart", by: "cli", reason: "asked" });
    await on.pass(100);
    one.life.kill();
    const two = await on.start({ agent });
    assert.deepEqual([suspensions(on), await on.store.interruptions(key)], [suspended, after]);
    two.life.kill();
  }
});

test("S97 deaths do not count toward the bound on planned interruptions", async (t) => {
  const on = await stage(t);
  await interrupt(on, "work hang", ["restart"]);
  const { key } = await sessionAt(on, "a");
  const two = await on.start({ agent });
  await on.until(() => two.gateway.status().running[0]?.steps === 1);
  two.life.kill();
  await on.start({ agent });
  assert.equal(await on.store.interruptions(key), 1);
});

test("an interruption after a result is no strike; nor is one by a mistake of ours", async (t) => {
  const on = await stage(t);
  await interrupt(on, "tool hang", ["restart"]);
  const { key } = await sessionAt(on, "a");
  assert.equal(await on.store.strikes(key), 0);
  const other = await stage(t);
  await interrupt(other, "hang there", ["fault"]);
  assert.deepEqual(
    [await other.store.strikes(key), (await sessionAt(other, "a")).resume?.reason],
    [0, "shutdown_timeout"],
  );
});

/** Removed at once: the disk of the machine does not wait in virtual time. */
async function countersIn(file: string) {
  const found = await readCounts(file);
  assert.ok(found);
  const remove = async () => {
    rmSync(file);
    return true;
  };
  return { ...found, remove };
}

function countFile(t: TestContext, counts: Readonly<Record<string, number>>): string {
  const folder = mkdtempSync(join(tmpdir(), "everturn-counts-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, ".restart_failure_counts");
  writeFileSync(file, JSON.stringify(counts));
  return file;
}

test("S97 a counter at three in a file of an earlier gateway: that session is suspended despite its mark, no other, and the file is gone", async (t) => {
  const on = await stage(t);
  await on.stop(await lifeWith(on, ["a", "b"]));
  const { id, key } = await sessionAt(on, "a");
  const b = await sessionAt(on, "b");
  await write(on, [{ put: "resume", session: id, resume: { reason: "restart_timeout", markedAt: moment(5) } }]);
  const file = countFile(t, { [key]: 3, [b.key]: 2, "no/such/place": 9 });
  await on.start({ agent, counters: await countersIn(file) });
  assert.equal(suspensions(on), 1);
  const suspended = await sessionAt(on, "a");
  assert.deepEqual([suspended.id, suspended.standing, suspended.resume?.reason], [id, "suspended", "restart_timeout"]);
  assert.equal((await sessionAt(on, "b")).standing, "active");
  assert.deepEqual([await on.store.strikes(key), await on.store.strikes(b.key)], [0, 2], "the larger count is kept");
  assert.equal(await on.store.strikes("no/such/place"), 0);
  assert.equal(existsSync(file), false);
  await on.say("hello");
  const after = await sessionAt(on, "a");
  assert.deepEqual([after.id === id, after.reset], [false, "suspended"]);
});

test("S98 a turn that ends well clears the counter and the mark, also the count of an imported file, which is gone", async (t) => {
  const on = await stage(t);
  await on.stop(await lifeWith(on, ["a"]));
  const { id, key } = await sessionAt(on, "a");
  await write(on, [
    { put: "resume", session: id, resume: { reason: "restart_timeout", markedAt: moment(5) } },
    { put: "strikes", key, strikes: 1 },
  ]);
  const file = countFile(t, { [key]: 2 });
  await on.start({ agent, counters: await countersIn(file) });
  assert.deepEqual([await on.store.strikes(key), existsSync(file)], [2, false], "merged, then removed");
  await on.say("well?");
  await answered(on, "answer to well?");
  const after = await sessionAt(on, "a");
  assert.deepEqual([after.id, after.resume, await on.store.strikes(key)], [id, null, 0]);
});

test("S98 a count file that cannot be removed is not merged again", async (t) => {
  const on = await stage(t);
  await on.stop(await lifeWith(on, ["a"]));
  const { key } = await sessionAt(on, "a");
  const file = countFile(t, { [key]: 2 });
  const counters = await countersIn(file);
  const stubborn = { ...counters, remove: async () => false };
  const one = await on.start({ agent, counters: stubborn });
  assert.equal(await on.store.strikes(key), 2);
  await on.say("well?");
  await answered(on, "answer to well?");
  assert.equal(await on.store.strikes(key), 0);
  await on.stop(one);
  const two = await on.start({ agent, counters: stubborn });
  assert.equal(await on.store.strikes(key), 0, "it is known already");
  await on.stop(two);
  await on.start({ agent, counters });
  assert.deepEqual(
    [await on.store.strikes(key), existsSync(file)],
    [0, false],
    "and removed as soon as that is possible",
  );
});

test("S99 there is one counter, and it is not on the session", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "everturn-columns-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, "home"));
  const file = join(folder, "home", "state.db");
  await (await openSqliteStore({ file, writer: "inline" })).close();
  const db = new DatabaseSync(file, { readOnly: true });
  const columns = (table: string) =>
    db
      .prepare(`SELECT name FROM pragma_table_info('${table}')`)
      .all()
      .map(({ name }) => name);
  assert.deepEqual(columns("strikes"), ["key", "strikes", "interruptions"], "one row for both bounds");
  assert.deepEqual(
    columns("sessions").filter((name) => /\bcounts?\b|strike|fail|attempt/.test(String(name))),
    [],
  );
  const tables = db
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
    .all()
    .map(({ name }) => String(name));
  const counting = tables.filter((name) =>
    columns(name).some((column) => /\bcounts?\b|strike|fail/.test(String(column))),
  );
  assert.deepEqual(counting, ["strikes"]);
  db.close();
  const on = await stage(t);
  await lifeWith(on, ["a"]);
  const session = await sessionAt(on, "a");
  assert.deepEqual(
    Object.values(session).filter((value) => typeof value === "number" && value < 100),
    [session.fence],
  );
});

test("a call that the process dies of is given up, however much the agent gets done between", async (t) => {
  const on = await stage(t);
  let deaths = 0;
  let dying: Living | null = null;
  const stubborn: Agent = {
    tools: [
      {
        name: "boom",
        description: "",
        effect: "once",
        input: {},
        async run() {
          deaths++;
          dying?.life.kill();
          return new Promise(() => undefined);
        },
      },
    ],
    // Whatever it is told, it asks for the same thing again.
    step: async ({ journal }) => ({
      type: "said",
      text: "once more",
      calls: [{ call: `${journal.length}`, tool: "boom", input: { force: true } }],
      final: false,
    }),
    close: async () => undefined,
  };
  dying = await on.start({ agent: stubborn });
  await on.say("do it");
  for (let lives = 0; lives < 10 && texts(on).length === 0; lives++) {
    await on.until(() => dying?.life.alive() === false || texts(on).length > 0);
    if (dying.life.alive() === false) dying = on.live({ agent: stubborn });
  }
  assert.match(texts(on)[0] ?? "", /^I had to give this up: the gateway broke down three times/);
  assert.equal(deaths, 4, "the first death only says what to look at");
  assert.equal((await sessionAt(on, "a")).standing, "active", "the conversation goes on");
});
