// What a real gateway says of itself while it works: that its model does not answer, and what runs in the background.

import assert from "node:assert/strict";
import { test } from "node:test";
import { markedProcesses } from "../../src/host/jobs/marked.ts";
import { openaiError, scenarios } from "../fakes/models/index.ts";
import { run, until } from "../process/stage.ts";
import { doing, openStage, terminal } from "./stage.ts";

const follow = scenarios["follow"] as NonNullable<(typeof scenarios)[string]>;

test("a model that does not answer is told by every look at the gateway and at the turn", async (t) => {
  const busy = { status: 503, body: openaiError("overloaded", "server_error"), headers: { "retry-after": "300" } };
  const stage = await openStage(t, () => busy);
  const life = await stage.start();
  await life.client.send("c", "m1", "hello");
  const typed = async (...words: string[]): Promise<string> => (await run(t, stage.home, words)).out;
  const told = /I try again at \d\d:\d\d:\d\d UTC\./;
  const status = await until(
    () => typed("gateway", "status"),
    (text) => told.test(text),
    "the status tells of it",
  );
  assert.match(status, /^Turn \S+ does not go on: /m);
  assert.match(await typed("turns", "list"), /running, in trouble/);
  const { turns } = JSON.parse(await typed("turns", "list", "--json")) as {
    turns: readonly { id: string; trouble: { why: string; until: number } | null }[];
  };
  const [turn] = turns;
  assert.ok(turn?.trouble !== undefined && turn.trouble !== null && turn.trouble.until > 0);
  assert.match(await typed("turns", "show", turn.id), told);
  assert.match(await life.ask("c", "m2", "/status"), /I cannot go on at the moment: .*I try again at /);
});

test("/status tells what runs in the background, and /stop ends it", async (t) => {
  const stage = await openStage(t, follow, { agent: "  tools: { approvals: never }" });
  const life = await stage.start();
  const left = async () => (await markedProcesses()).filter((one) => one.folder.startsWith(`${stage.home}/`));
  await life.ask("c", "m1", doing(terminal("sleep 600", { background: true })));
  assert.ok((await left()).length > 0);
  assert.match(
    await life.ask("c", "m2", "/status"),
    /Nothing waits\.\nIn the background:\n- sleep 600 \(for [\d.]+ s\)$/,
  );
  assert.doesNotMatch(await life.ask("other", "m3", "/status"), /background/);
  assert.equal(await life.ask("c", "m4", "/stop"), "Stopped in the background:\n- sleep 600");
  assert.deepEqual(await left(), []);
  assert.equal(await life.ask("c", "m5", "/stop"), "There is nothing to stop.");
});
