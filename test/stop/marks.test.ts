// Which sessions a stop marks for resuming, with which reason, and when: only what still runs at the end of the drain,
// before it is interrupted.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { StopIntent } from "../../src/core/lifecycle.ts";
import { exitCodeOf } from "../../src/core/lifecycle.ts";
import { type Session, sessionKey } from "../../src/core/session.ts";
import type { Agent } from "../../src/ports/agent.ts";
import { type Stage, at, slowly, stage, whenAborted } from "./stage.ts";

async function sessionAt(on: Stage, chat: string): Promise<Session> {
  const session = await on.store.sessionOf(sessionKey(at(chat)));
  assert.ok(session !== null, `no session at ${chat}`);
  return session;
}

const reasonAt = async (on: Stage, chat: string) => (await sessionAt(on, chat)).resume?.reason ?? null;

async function begin(on: Stage, chat: string, text: string): Promise<void> {
  const steps = () => on.calls.filter((call) => call === `step ${text}`).length;
  const before = steps();
  await on.say(text, { from: at(chat) });
  await on.until(() => steps() > before);
}

test("S91 a drain that times out on a stop marks every running session with shutdown_timeout, before the interrupt", async (t) => {
  const on = await stage(t);
  const seen: Promise<Session | null>[] = [];
  const agent: Agent = {
    tools: [],
    step: (job, signal) =>
      new Promise((_, reject) =>
        whenAborted(signal, () => {
          // What the store says at the very moment of the interrupt.
          seen.push(on.store.sessionOf(sessionKey(job.address)));
          reject(signal.reason);
        }),
      ),
    close: async () => undefined,
  };
  const one = await on.start({ agent, drainMs: 50 });
  for (const chat of ["a", "b", "c"]) await on.say("work", { from: at(chat) });
  await on.until(() => one.gateway.status().running.length === 3);
  await on.stop(one);
  const then = await Promise.all(seen);
  assert.deepEqual(
    then.map((session) => session?.resume?.reason),
    ["shutdown_timeout", "shutdown_timeout", "shutdown_timeout"],
  );
  for (const chat of ["a", "b", "c"]) {
    const { resume, standing } = await sessionAt(on, chat);
    assert.equal(resume?.reason, "shutdown_timeout");
    assert.ok((resume?.markedAt ?? 0) > 0);
    assert.equal(standing, "active");
  }
});

test("S92 while restarting the reason is restart_timeout", async (t) => {
  for (const kind of ["restart", "take-over"] as const) {
    const on = await stage(t);
    const one = await on.start({ drainMs: 20 });
    await begin(on, "a", "stuck");
    await on.stop(one, { class: kind });
    assert.equal(await reasonAt(on, "a"), "restart_timeout", kind);
  }
});

test("S93 a clean drain marks nobody and interrupts nobody", async (t) => {
  const on = await stage(t);
  const one = await on.start({ drainMs: 1_000 });
  await begin(on, "a", "work 50");
  await begin(on, "b", "work 90");
  await on.stop(one);
  assert.deepEqual([await reasonAt(on, "a"), await reasonAt(on, "b")], [null, null]);
  assert.ok(!on.calls.some((call) => call.startsWith("interrupt")));
  assert.ok(!on.log.some(({ what }) => what === "stop: mark"), "the store is not even asked");
});

test("S94 a session that finishes in the window is not marked; the one that is stuck is", async (t) => {
  const on = await stage(t);
  const one = await on.start({ drainMs: 200 });
  await begin(on, "quick", "work 50");
  await begin(on, "slow", "stuck");
  await on.stop(one);
  assert.equal(await reasonAt(on, "quick"), null);
  assert.equal(await reasonAt(on, "slow"), "shutdown_timeout");
});

test("S95 sessions whose agent has not started are not marked: queued, or just being accepted", async (t) => {
  const on = await stage(t);
  const one = await on.start({ lanesMax: 2 });
  await begin(on, "busy", "stuck");
  const accept = on.servers.get("chat")?.accept;
  assert.ok(accept);
  const body = { kind: "text", text: "barely in", files: [] } as const;
  const stored = accept({ key: "k", from: at("barely"), sender: "ann", body, sentAt: on.clock.now() }, null);
  await on.stop(one);
  assert.equal(await stored, "accepted", "it is kept all the same");
  assert.equal(await reasonAt(on, "busy"), "shutdown_timeout");
  assert.equal(await reasonAt(on, "barely"), null);

  const two = await on.start({ lanesMax: 1, drainMs: 100 });
  await on.until(
    () => one !== two && on.servers.get("chat")?.sent.some(({ text }) => text.includes("barely")) === true,
  );
  await begin(on, "busy", "deaf");
  await on.say("waits for a lane", { from: at("queued") });
  await on.stop(two);
  assert.equal(await reasonAt(on, "queued"), null);
  assert.ok(!on.calls.includes("step waits for a lane"));
  await on.start();
  await on.until(() => on.calls.includes("send answer to waits for a lane"));
});

const ways: Readonly<Record<string, Pick<StopIntent, "class" | "by">>> = {
  "a marker that names it": { class: "planned", by: "marker" },
  "a signal that nobody announced": { class: "unexpected", by: "signal" },
};

test("S9 S10 a marker and a bare signal take the same path: the same drain, marks and closing; only the class and so the exit code differ", async (t) => {
  const lived: Record<string, unknown>[] = [];
  const codes: number[] = [];
  for (const intent of Object.values(ways)) {
    const on = await stage(t);
    const one = await on.start({ drainMs: 200 });
    await begin(on, "quick", "work 50");
    await begin(on, "slow", "stuck");
    const ending = await on.stop(one, intent);
    const [boot] = await on.store.lastBoots(1);
    assert.equal(boot?.stop?.class, intent.class);
    codes.push(exitCodeOf(ending, null, false));
    lived.push({
      calls: on.calls,
      marks: [await reasonAt(on, "quick"), await reasonAt(on, "slow")],
      clean: ending.clean,
      drain: on.log.find(({ what }) => what === "stop: drain")?.facts,
      updates: one.events.flatMap((event) => (event.type === "draining" ? [[event.running, event.over]] : [])),
    });
  }
  assert.deepEqual(lived[0], lived[1]);
  assert.deepEqual(codes, [0, 1]);
});

test("a process that dies between the mark and the end goes on with the reason of its stop", async (t) => {
  const on = await stage(t);
  const one = await on.start({ drainMs: 20 });
  await begin(on, "a", "deaf");
  one.gateway.stop({ class: "restart", by: "cli", reason: "asked" });
  await on.until(() => on.log.some(({ what }) => what === "stop: mark"));
  one.life.kill();
  await on.start();
  await on.until(() => on.calls.includes("send answer to deaf"));
  const [turn] = await on.store.turns({ limit: 1 });
  assert.ok(turn);
  const resumed = (await on.store.journalOf(turn.id)).find((entry) => entry.type === "resumed");
  assert.equal(resumed?.type === "resumed" && resumed.reason, "restart_timeout");
});

test("S95 a message that was just being stored is no interrupted one: it starts by itself, whatever waits for its user", async (t) => {
  const recovery = { afterCrash: "resume", autoResume: false } as const;
  for (const drainMs of [0, 5_000]) {
    const on = await stage(t);
    const one = await on.start({ recovery, drainMs, store: slowly(on, 5) });
    void on.write("barely in");
    await on.pass(2);
    await on.stop(one);
    assert.ok(!on.calls.includes("step barely in"), "its agent was not asked");
    await on.start({ recovery });
    await on.until(() => on.servers.get("chat")?.sent.length === 1, "its answer");
  }
});
