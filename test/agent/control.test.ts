// A turn in the hands of its user: stopped within a second with whatever it runs, steered while it works, and ended by a
// budget with a clear word.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type Script, follow as obey, scenarios } from "../fakes/models/index.ts";
import { until } from "../process/stage.ts";
import { linesIn } from "../lines.ts";
import { answerTo, doing, openStage, terminal } from "./stage.ts";

const follow = scenarios["follow"] as Script;

/** A busy machine takes its time over everything; what would take a thousand seconds must not. */
const soonMs = 15_000;

/** How many processes have these words in their command. */
function running(words: string): number {
  return readdirSync("/proc").filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ").includes(words);
    } catch {
      // It ended while we looked.
      return false;
    }
  }).length;
}

test("/stop ends a command that would run for ever, and the journal says so", async (t) => {
  const stage = await openStage(t, follow);
  const life = await stage.start();
  // Its number is its own in a sandbox, so it is known by its words.
  const words = `sleep 1000.${process.pid}`;
  await life.client.send("c", "m1", doing(terminal(`echo begun >> ledger; ${words}`, { timeoutSeconds: 2_000 })));
  await until(
    () => running(words),
    (count) => count > 0,
    "the command runs",
  );
  const from = performance.now();
  await life.client.send("c", "stop", "/stop");
  await until(
    async () => (await life.client.get<{ running: readonly unknown[] }>("/api/status")).running.length,
    (turns) => turns === 0,
    "the turn has ended",
    5,
  );
  await until(
    () => running(words),
    (count) => count === 0,
    "the command has ended",
    5,
  );
  const tookMs = performance.now() - from;
  t.diagnostic(`stopped after ${Math.round(tookMs)} ms`);
  assert.ok(tookMs < soonMs, `${tookMs} ms`);
  const { turns } = await life.client.get<{ turns: readonly { id: string }[] }>("/api/turns?limit=5");
  const journals = await Promise.all(turns.map(({ id }) => life.client.get<object>(`/api/turns/${id}`)));
  const stopped = journals.map((one) => JSON.stringify(one)).find((one) => one.includes(words));
  assert.match(stopped ?? "", /"tool-ended".*stop/i);
  assert.match(await life.ask("d", "m2", "are you there"), /are you there/);
});

test("/stop ends a model that is in the middle of its answer", async (t) => {
  const script: Script = ({ seen }) =>
    JSON.stringify(seen.messages).includes("for ever")
      ? { text: "word ".repeat(100_000), everyMs: 50, grain: 5 }
      : { text: "here" };
  const stage = await openStage(t, script);
  const life = await stage.start();
  await life.client.send("c", "m1", "talk for ever");
  await stage.fake.asked(1);
  const from = performance.now();
  await life.client.send("c", "stop", "/stop");
  await until(
    () => stage.fake.left(),
    (left) => left > 0,
    "the connection to the model is closed",
    5,
  );
  assert.ok(performance.now() - from < soonMs);
});

test("with steer, a message that comes meanwhile joins the turn at its next step", async (t) => {
  const script: Script = (asked) => {
    const joined = asked.seen.messages.some(({ text }) => text.includes("rather blue"));
    return joined ? { text: "blue it is" } : obey(asked.seen);
  };
  const stage = await openStage(t, script, { more: "platforms: { web: { busy: steer } }" });
  const life = await stage.start();
  await life.client.send("c", "m1", doing(terminal("echo begun >> ledger; sleep 2"), terminal("echo wrong >> ledger")));
  await until(
    () => linesIn(join(stage.workspace, "ledger")),
    (lines) => lines.length > 0,
    "the first command runs",
  );
  await life.client.send("c", "m2", "rather blue, please");
  assert.equal(await answerTo(life.client, "c", "m1"), "blue it is");
  assert.deepEqual(linesIn(join(stage.workspace, "ledger")), ["begun"]);
});

test("a turn that has spent its budget ends with a word about it, and so does a day", async (t) => {
  const script: Script = ({ seen }) => ({ ...obey(seen), usage: { input: 400, output: 100 } });
  const stage = await openStage(t, script, { agent: "  budget: { turnTokens: 1200, dayTokens: 2500 }" });
  const life = await stage.start();
  const many = Array.from({ length: 10 }, (_, i) => terminal(`echo ${i} >> ledger`));
  assert.match(await life.ask("c", "m1", doing(...many)), /budget|tokens/i);
  assert.ok(linesIn(join(stage.workspace, "ledger")).length < 5);
  const asked = stage.fake.requests.length;
  assert.ok(asked <= 4, `${asked} model calls`);
  const said = [await life.ask("d", "m2", doing(...many)), await life.ask("e", "m3", "hello")];
  assert.match(said[1] ?? "", /budget|today|day/i, said.join("\n"));
  const { total } = await life.client.get<{ total: { input: number; output: number } }>("/api/usage");
  assert.equal(total.input + total.output, stage.fake.requests.length * 500);
});
