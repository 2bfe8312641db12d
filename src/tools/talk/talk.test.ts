import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { type TestRoom, aRoom, aVet, asNobody } from "../../../test/fakes/room.ts";
import type { Instant } from "../../core/ids.ts";
import { openBlobs } from "../../stores/blobs/index.ts";
import { aToolContext, at } from "../../testing/samples.ts";
import { askTool } from "./ask.ts";
import { type When, dueAt, remindTool } from "./remind.ts";
import { sendFileTool } from "./send-file.ts";

test("remind asks first in a marked conversation, and shows when and what", async () => {
  const tool = remindTool();
  const input = { text: " send the report ", inSeconds: 60 };
  assert.deepEqual(await tool.vet?.(input, aVet()), { type: "run" });
  const verdict = await tool.vet?.(input, aVet({ outside: true }));
  assert.ok(verdict?.type === "approve" && verdict.subject === null);
  assert.equal(verdict.what, "remind, in 60 s: send the report");
  assert.deepEqual(
    await tool.vet?.({ text: "x" }, aVet({ outside: true })),
    { type: "run" },
    "the call says what is wrong",
  );
});

describe("remind", () => {
  const now = Date.parse("2027-01-15T08:00:00Z") as Instant;
  const due: readonly (readonly [when: When, at: string])[] = [
    [{ inSeconds: 1 }, "2027-01-15T08:00:01.000Z"],
    [{ inSeconds: 0.5 }, "2027-01-15T08:00:00.500Z"],
    [{ inSeconds: 86_400 }, "2027-01-16T08:00:00.000Z"],
    [{ at: "2027-01-15T09:00:01+01:00" }, "2027-01-15T08:00:01.000Z"],
    [{ at: "2027-01-15T09:00+0030" }, "2027-01-15T08:30:00.000Z"],
    [{ at: " 2028-02-29T00:00:00Z " }, "2028-02-29T00:00:00.000Z"],
    [{ at: "2027-03-01T12:00:00.250-08:00" }, "2027-03-01T20:00:00.250Z"],
  ];
  for (const [when, time] of due) {
    test(JSON.stringify(when), () => assert.deepEqual(dueAt(when, now), { type: "due", at: Date.parse(time) }));
  }

  const wrong: readonly (readonly [when: When, why: RegExp])[] = [
    [{}, /either "at" or "inSeconds"/],
    [{ at: "2027-01-16T08:00:00Z", inSeconds: 1 }, /either/],
    [{ inSeconds: 0 }, /is over: it is 2027-01-15T08:00:00\.000Z now/],
    [{ inSeconds: -5 }, /is over/],
    [{ inSeconds: Number.NaN }, /is over/],
    [{ inSeconds: Number.POSITIVE_INFINITY }, /more than 5 years/],
    [{ inSeconds: 1e300 }, /more than 5 years/],
    [{ at: "2027-01-15T08:00:00Z" }, /is over/],
    [{ at: "2027-01-15T08:59:00+01:00" }, /is over/],
    [{ at: "2040-01-01T00:00:00Z" }, /more than 5 years/],
    [{ at: "2027-01-16T08:00:00" }, /with its offset/],
    [{ at: "2027-02-30T08:00:00Z" }, /real time/],
    [{ at: "2027-02-29T08:00:00Z" }, /real time/],
    [{ at: "2027-13-01T08:00:00Z" }, /real time/],
    [{ at: "2027-01-16T25:00:00Z" }, /real time/],
    [{ at: "2027-01-16T08:61:00Z" }, /real time/],
    [{ at: "tomorrow" }, /real time/],
    [{ at: "2027-01-16" }, /real time/],
    [{ at: "+275760-09-13T00:00:00Z" }, /real time/],
  ];
  for (const [when, why] of wrong) {
    test(`not ${JSON.stringify(when)}`, () => {
      const result = dueAt(when, now);
      assert.ok(result.type === "wrong");
      assert.match(result.why, why);
    });
  }

  test("is a wish, so that it is set once", async () => {
    const result = await remindTool().run({ text: " tea ", inSeconds: 60, at: null }, aToolContext());
    const wishes = [{ type: "wake", at: at(60_000), text: "tea" }];
    assert.deepEqual(result, { type: "ok", output: "Set for 2027-01-15T08:01:00.000Z.", wishes });
  });

  for (const input of [
    { inSeconds: 1 },
    { text: "", inSeconds: 1 },
    { text: "a", inSeconds: "1" },
    { text: "a", at: 3 },
  ]) {
    test(`not with ${JSON.stringify(input)}`, async () => {
      assert.equal((await remindTool().run(input, aToolContext())).type, "failed");
    });
  }
});

describe("ask", () => {
  const hour = 3_600_000;
  const good: readonly (readonly [input: object, choices: readonly string[], ms: number])[] = [
    [{ question: " Go on? " }, [], 168 * hour],
    [{ question: "Go on?", choices: ["yes ", "no"] }, ["yes", "no"], 168 * hour],
    [{ question: "Go on?", choices: null, waitHours: 0.5 }, [], hour / 2],
  ];
  for (const [input, choices, ms] of good) {
    test(JSON.stringify(input), async () => {
      const verdict = await askTool().vet?.(input, aVet());
      assert.deepEqual(verdict, { type: "question", text: "Go on?", choices, until: at(ms) });
    });
  }

  const bad: readonly (readonly [input: unknown, why: RegExp])[] = [
    [{}, /"question" is missing/],
    [{ question: "x".repeat(2_001) }, /at most 2000/],
    [{ question: "a", choices: "yes" }, /"choices" must be Array/],
    [{ question: "a", choices: ["yes", "Yes "] }, /"choices" must differ/],
    [{ question: "a", choices: ["yes", ""] }, /"choices\.1" must not be empty/],
    [{ question: "a", choices: Array.from({ length: 11 }, (_, i) => `${i}`) }, /"choices" must be at most 10/],
    [{ question: "a", choices: ["x".repeat(101)] }, /at most 100/],
    [{ question: "a", waitHours: 0 }, /above 0 and at most 168/],
    [{ question: "a", waitHours: 169 }, /above 0 and at most 168/],
  ];
  for (const [input, why] of bad) {
    test(`not ${JSON.stringify(input).slice(0, 40)}`, async () => {
      const verdict = await askTool().vet?.(input, aVet());
      assert.ok(verdict?.type === "refuse", JSON.stringify(verdict));
      assert.match(verdict.why, why);
    });
  }

  test("has no answer of its own", async () => {
    assert.equal((await askTool().run({ question: "a" }, aToolContext())).type, "failed");
  });
});

describe("send_file", () => {
  const tool = (room: TestRoom) => sendFileTool(room, openBlobs(join(room.home, "files")));

  test("keeps the content and wishes it sent", async (t) => {
    const room = aRoom(t);
    room.put("out/report.pdf", "content");
    const result = await tool(room).run({ path: "out/report.pdf", caption: " Here. " }, aToolContext());
    assert.ok(result.type === "ok");
    assert.equal(result.output, "report.pdf (7 bytes) goes to the user.");
    const [wish] = result.wishes ?? [];
    assert.ok(wish?.type === "send");
    const [file] = wish.files;
    assert.deepEqual([wish.text, file?.name, file?.mime, file?.bytes], ["Here.", "report.pdf", "application/pdf", 7]);
    // What was sent is what it was then.
    room.put("out/report.pdf", "changed");
    const blobs = openBlobs(join(room.home, "files"));
    assert.equal(Buffer.from(await blobs.read(file?.blob ?? "")).toString(), "content");
  });

  const bad: readonly (readonly [name: string, make: (room: TestRoom) => string, why: RegExp])[] = [
    ["nothing there", () => "none", /does not exist/],
    ["a folder", (room) => (room.put("d/f", ""), "d"), /is a folder/],
    ["a device", (room) => (symlinkSync("/dev/zero", join(room.workspace, "z")), "z"), /is a device/],
    ["a pipe", (room) => (execFileSync("mkfifo", [join(room.workspace, "p")]), "p"), /pipe/],
    ["too much", (room) => (truncateSync(room.put("l", ""), 50_000_001), "l"), /50 MB; at most 50 MB can be sent/],
    ["the gateway's own", (room) => (writeFileSync(join(room.home, "t"), ""), "../t"), /belongs to the gateway itself/],
  ];
  for (const [name, make, why] of bad) {
    test(`not ${name}`, { timeout: 60_000 }, async (t) => {
      const room = aRoom(t);
      const result = await tool(room).run({ path: make(room) }, aToolContext());
      assert.ok(result.type === "failed", JSON.stringify(result));
      assert.match(result.why, why);
    });
  }

  test("not what may not be read", async (t) => {
    const room = aRoom(t);
    chmodSync(room.put("f", "x"), 0o000);
    chmodSync(room.files, 0o777);
    assert.match(
      JSON.stringify(await asNobody(() => tool(room).run({ path: "f" }, aToolContext()))),
      /may not be used/,
    );
  });
});
