// The processes behind the file tools: how many there are, when they end, and what becomes of calls when one dies or lies.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import type { Misbehavior } from "../../../test/fakes/file-worker.ts";
import { type RoomOptions, type TestRoom, aRoom, misbehaving } from "../../../test/fakes/room.ts";
import { noGrant } from "../../core/grant.ts";
import type { Sandbox, SandboxState } from "../../ports/sandbox.ts";
import { anOwner, aToolContext } from "../../testing/samples.ts";
import { openBlobs } from "../../stores/blobs/index.ts";
import { sendFileTool } from "../talk/send-file.ts";
import { readFileTool } from "./read.ts";
import { searchFilesTool } from "./search.ts";
import type { Tool } from "../../ports/tool.ts";
import type { Delay } from "./process.ts";
import { encodeFrame } from "./protocol.ts";

/** Time that a test moves. */
function fakeTime() {
  const timers = new Set<{ at: number; work: () => void }>();
  let now = 0;
  const delay: Delay = (ms, work) => {
    const timer = { at: now + ms, work };
    timers.add(timer);
    return () => void timers.delete(timer);
  };
  const pass = (ms: number): void => {
    now += ms;
    for (const timer of timers) {
      if (timer.at > now) continue;
      timers.delete(timer);
      timer.work();
    }
  };
  return { delay, pass };
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await pause(5);
}

const person = (n: number) => ({ ...anOwner, person: `person ${n}` });
const ask = (room: TestRoom, n: number) =>
  room.workers.ask({ requester: person(n), grant: noGrant }, { op: "look", path: "f" });

/** Pure tools, each with a result that shows that it worked. */
const pure: readonly (readonly [name: string, make: (room: TestRoom) => Tool, input: object, output: RegExp])[] = [
  ["read_file", (room) => readFileTool(room), { path: "f" }, /1\\tcontent/],
  ["search_files", (room) => searchFilesTool(room), { pattern: "cont" }, /f:1: content/],
  ["send_file", (room) => sendFileTool(room, openBlobs(join(room.home, "blobs"))), { path: "f" }, /goes to the user/],
];

describe("one worker per person", () => {
  test("it stays warm, ends after a minute without work, and is started again", { timeout: 120_000 }, async (t) => {
    const { delay, pass } = fakeTime();
    const room = aRoom(t, { workers: { delay } });
    assert.equal(room.workers.count, 0);
    await Promise.all([ask(room, 1), ask(room, 1), ask(room, 2)]);
    assert.equal(room.workers.count, 2);
    pass(59_000);
    assert.equal(room.workers.count, 2);
    await ask(room, 1);
    pass(2_000);
    assert.equal(room.workers.count, 1, "the other one was idle for a minute");
    pass(60_000);
    assert.equal(room.workers.count, 0);
    assert.equal((await ask(room, 1)).reply.type, "seen");
  });

  test("there are at most so many, and the one that is idle the longest ends first", {
    timeout: 120_000,
  }, async (t) => {
    const pids = new Map<number, number | undefined>();
    let started = 0;
    const room = aRoom(t, {
      workers: {
        limits: { workers: 3 },
        spawn: (...words) => {
          const child = misbehaving().spawn(...words);
          pids.set(started++, child.pid);
          return child;
        },
      },
    });
    for (const n of [0, 1, 2, 0]) await ask(room, n);
    assert.deepEqual([room.workers.count, started], [3, 3]);
    await ask(room, 3);
    assert.deepEqual([room.workers.count, started], [3, 4]);
    await Promise.all([ask(room, 0), ask(room, 2), ask(room, 3)]);
    assert.equal(started, 4, "it was the one of person 1 that ended");
    const all = await Promise.all(Array.from({ length: 20 }, (_, n) => ask(room, n)));
    assert.deepEqual(new Set(all.map(({ reply }) => reply.type)), new Set(["seen"]));
    assert.ok(room.workers.count <= 3);
  });

  test("the limit is 16", { timeout: 240_000 }, async (t) => {
    let most = 0;
    const room: TestRoom = aRoom(t, {
      workers: {
        spawn: (...words) => {
          most = Math.max(most, room.workers.count);
          return misbehaving().spawn(...words);
        },
      },
    });
    const all = await Promise.all(Array.from({ length: 20 }, (_, n) => ask(room, n)));
    assert.equal(all.length, 20);
    assert.equal(most, 16);
  });

  test("closed, it starts nothing more", { timeout: 60_000 }, async (t) => {
    const room = aRoom(t);
    await ask(room, 1);
    room.workers.close();
    assert.equal(room.workers.count, 0);
    await assert.rejects(ask(room, 1), /The gateway is stopping/);
  });

  test("a digest is of what the person's programs see", { timeout: 60_000 }, async (t) => {
    const room = aRoom(t);
    room.put("s.sh", "echo\n");
    const digest = createHash("sha256").update("echo\n").digest("hex");
    assert.equal(await room.workers.digestFile(anOwner, "s.sh"), digest);
    room.put("s.sh", "echo 2\n");
    assert.notEqual(await room.workers.digestFile(anOwner, "s.sh"), digest);
    assert.equal(await room.workers.digestFile(anOwner, "none"), null);
    assert.equal(await room.workers.digestFile(anOwner, "/etc/passwd"), null, "outside of the workspace");
  });
});

describe("a worker that dies", () => {
  const deaths: readonly Misbehavior[] = [{ dieAtFrame: 0 }, { dieAtFrame: 1 }, { dieAfterReply: 0 }];
  for (const [name, make, input, output] of pure) {
    for (const how of deaths) {
      test(`under ${name}, ${JSON.stringify(how)}: repeated once`, { timeout: 120_000 }, async (t) => {
        const room = aRoom(t, { workers: misbehaving(how) });
        room.put("f", "content");
        const result = await make(room).run(input, aToolContext());
        assert.ok(result.type === "ok", JSON.stringify(result));
        assert.match(JSON.stringify(result.output), output);
      });
    }

    test(`under ${name} twice: told`, { timeout: 120_000 }, async (t) => {
      const how = { dieAtFrame: 1 };
      const room = aRoom(t, { workers: misbehaving(how, how) });
      room.put("f", "content");
      const result = await make(room).run(input, aToolContext());
      assert.deepEqual(result, { type: "failed", why: "The file worker ended: killed by SIGKILL. Try again." });
      assert.equal((await make(room).run(input, aToolContext())).type, "ok", "the next call has a new one");
    });
  }

  test("that cannot be started: the error says why", { timeout: 60_000 }, async (t) => {
    const room = aRoom(t, { workers: { program: "/nowhere/worker.js" } });
    const result = await readFileTool(room).run({ path: "f" }, aToolContext());
    assert.ok(result.type === "failed");
    assert.match(result.why, /^The file worker ended: exit code 1 \(.*nowhere.*\)\. Try again\.$/);
  });
});

describe("a worker that lies is killed, and the call fails", () => {
  const frame = (head: unknown, body = ""): Buffer => encodeFrame(head, Buffer.from(body));
  const large = frame({ id: 1, type: "chunk" }, "x".repeat(300_000)).subarray(0, -300_000);
  const lies: readonly (readonly [name: string, says: Buffer, zeros?: number])[] = [
    ["text instead of a frame", Buffer.from("hello, I am a shell\n$ ")],
    ["a frame of 4 GB", Buffer.from("ffffffffffffffff", "hex")],
    ["a head that is no reply", frame({ id: 1, type: "please open", path: "/etc/shadow" })],
    ["an answer to another call", frame({ id: 2, type: "text" }, "x")],
    ["an answer with a body that does not belong there", frame({ id: 1, type: "changed" }, "x")],
    ["a chunk that is too large", large, 300_000],
    [
      "two answers to one question",
      Buffer.concat([frame({ id: 1, type: "chunk" }, "x"), frame({ id: 1, type: "sent" })]),
    ],
  ];
  for (const [name, says, zeros = 0] of lies) {
    test(name, { timeout: 120_000 }, async (t) => {
      const how = { says: says.toString("base64"), zeros };
      const room = aRoom(t, { workers: misbehaving(how, how) });
      room.put("f", "content");
      const tool = sendFileTool(room, openBlobs(join(room.home, "blobs")));
      const result = await tool.run({ path: "f" }, aToolContext());
      assert.deepEqual(result, {
        type: "failed",
        why: "The file worker ended: it sent something that is no reply. Try again.",
      });
      assert.equal(room.workers.count, 0);
    });
  }

  test("an answer of another kind than asked for", { timeout: 120_000 }, async (t) => {
    const how = { says: frame({ id: 1, type: "changed" }).toString("base64") };
    for (const [, make, input] of pure) {
      const room = aRoom(t, { workers: misbehaving(how, how) });
      assert.equal((await make(room).run(input, aToolContext())).type, "failed");
    }
  });

  test("silence: it is killed when its time is over", { timeout: 120_000 }, async (t) => {
    const { delay, pass } = fakeTime();
    const room = aRoom(t, { workers: { delay, ...misbehaving({ says: "" }, { says: "" }) } });
    let result: unknown = null;
    void readFileTool(room)
      .run({ path: "f" }, aToolContext())
      .then((one) => (result = one));
    while (result === null) {
      await until(() => result !== null || room.workers.count > 0);
      pass(60_000);
      await pause(5);
    }
    assert.deepEqual(result, { type: "failed", why: "The file worker ended: it did not answer for 60 s. Try again." });
    assert.equal(room.workers.count, 0);
  });

  test("a stream without end is cut", { timeout: 120_000 }, async (t) => {
    const room = aRoom(t);
    room.put("f", "x".repeat(600_000));
    const tool = sendFileTool(room, openBlobs(join(room.home, "blobs")));
    const stop = new AbortController();
    const running = tool.run({ path: "f" }, aToolContext("k", { signal: stop.signal }));
    stop.abort(new Error("enough"));
    await assert.rejects(running, /enough/);
    assert.equal((await tool.run({ path: "f" }, aToolContext())).type, "ok");
  });
});

describe("where there is no sandbox", () => {
  const withState = (state: SandboxState): RoomOptions => {
    const sandbox: Sandbox = {
      runtime: { node: "", folder: "" },
      state: async () => state,
      wrap: () => Promise.reject(new Error("there is none")),
    };
    return { workers: { sandbox } };
  };

  test("chosen, but not working: nothing runs, and the error says why", async (t) => {
    const room = aRoom(t, withState({ type: "missing", why: "bwrap is not installed." }));
    const result = await readFileTool(room).run({ path: "f" }, aToolContext());
    assert.deepEqual(result, {
      type: "failed",
      why: "File tools are off. bwrap is not installed.",
    });
    assert.equal(room.workers.count, 0);
  });

  for (const party of ["owner", "admin", "person"] as const) {
    test(`${party}: ${party === "person" ? "refused" : "works"}`, { timeout: 60_000 }, async (t) => {
      const room = aRoom(t, withState({ type: "off", why: "none", isAccepted: false }));
      room.put("f", "content");
      const requester = { party, person: "somebody" };
      const result = await readFileTool(room).run({ path: "f" }, aToolContext("k", { requester }));
      assert.equal(result.type, party === "person" ? "failed" : "ok");
      assert.equal(room.workers.count, party === "person" ? 0 : 1);
    });
  }
});
