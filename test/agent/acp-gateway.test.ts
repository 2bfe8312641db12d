// The whole gateway with an ACP agent behind it, killed and stopped: nothing is done twice, no agent is left behind, and
// what was asked before a kill can be answered after it.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { client } from "../process/client.ts";
import { newHome, root, runGateway, until } from "../process/stage.ts";
import { linesIn } from "../lines.ts";
import { processesNaming } from "./processes.ts";
import { answerTo, questionAfter } from "./stage.ts";

const limit = { timeout: 280_000 };

function stage(t: TestContext) {
  const home = newHome(t);
  // Beside the home, which programs never see.
  const world = join(home, "..", "world");
  mkdirSync(world, { recursive: true });
  mkdirSync(home, { recursive: true });
  const command = [process.execPath, join(root, "test", "fakes", "acp", "agent.ts"), world, "load"];
  const acp = JSON.stringify({ command, paths: [`${world}:rw`] });
  writeFileSync(join(home, "config.yaml"), `agent:\n  backend: acp\n  acp: ${acp}\n`);
  return {
    world,
    lines: (file: string) => linesIn(join(world, file)),
    async start(port = 0) {
      const gateway = await runGateway(t, home, { port });
      return { ...gateway, client: client(gateway) };
    },
  };
}

test(
  "killed again and again while its agent works: each tool is done once, and the answer is whole",
  limit,
  async (t) => {
    const { lines, start, world } = stage(t);
    let life = await start();
    const { port } = life;
    await life.client.send("c", "m1", "tools 30");
    for (const goal of [1, 8, 16, 24]) {
      await until(
        () => lines("effects").length,
        (done) => done >= goal,
        () => `tool ${goal} is done`,
      );
      // A slow gateway may not have stored any of it, and three deaths without progress end the turn.
      await until(
        () => life.client.get<{ running: readonly { steps: number }[] }>("/api/status"),
        ({ running }) => running.length === 0 || running.some(({ steps }) => steps > 0),
        "it has stored a step",
      );
      await life.end("SIGKILL");
      life = await start(port);
    }
    const names = Array.from({ length: 30 }, (_, i) => `tool ${i + 1}`);
    assert.equal(await answerTo(life.client, "c", "m1"), `Did ${names.join(", ")}.`);
    assert.deepEqual(lines("effects"), names);
    await life.end("SIGTERM");
    await until(
      () => processesNaming(world),
      (left) => left.length === 0,
      "no agent is left",
    );
  },
);

test("S85 S86 S88 its prompt says why the gateway interrupted it: a shutdown, a crash", limit, async (t) => {
  const { lines, start } = stage(t);
  const texts = () => lines("prompts").map((line) => (JSON.parse(line) as { readonly text: string }).text);
  let life = await start();
  const { port } = life;
  await life.client.send("c", "m1", "tools 500");
  for (const [n, [signal, says]] of (
    [
      ["SIGTERM", /^\[System note: your work on this turn was cut short by a gateway shutdown\. [^]*> tools 500\n/],
      ["SIGKILL", /^\[System note: your work on this turn was cut short by a gateway interruption\. [^]*> tools 500\n/],
    ] as const
  ).entries()) {
    const before = lines("effects").length;
    await until(
      () => lines("effects").length,
      (done) => done > before,
      "it works",
    );
    await life.end(signal);
    life = await start(port);
    await until(texts, (told) => told.length === n + 2, "it is told to go on");
    assert.match(texts()[n + 1] ?? "", says);
  }
});

test("killed while it waits for a permission, and allowed afterwards: it is done once", limit, async (t) => {
  const { lines, start } = stage(t);
  const first = await start();
  await first.client.send("c", "m1", "permit it");
  const { question, text } = await questionAfter(first.client, "c", "m1");
  assert.match(text, /rm -rf build/);
  assert.deepEqual(question?.choices, ["approve", "always", "deny"]);
  await first.end("SIGKILL");
  const second = await start(first.port);
  await second.client.send("c", "a1", { answer: { question: question.id, choice: "approve" } });
  assert.match(await answerTo(second.client, "c", "m1"), /It is removed/);
  assert.deepEqual(lines("effects"), ["Remove the build"]);
});

test(
  "a permission is an approval like any other: listed, not answered by the way, allowed by its command",
  limit,
  async (t) => {
    const { lines, start } = stage(t);
    const { client: own } = await start();
    await own.send("c", "m1", "permit it");
    const { question } = await questionAfter(own, "c", "m1");
    const { questions } = await own.get<{ readonly questions: readonly { id: string; kind: string }[] }>(
      "/api/questions",
    );
    assert.deepEqual(
      questions.map(({ id, kind }) => ({ id, kind })),
      [{ id: question?.id, kind: "approval" }],
    );
    await own.send("c", "m2", "what would you remove?");
    assert.equal(await answerTo(own, "c", "m2"), "You said: what would you remove?");
    await own.send("c", "m3", "/deny not now");
    await until(
      () => own.transcript("c"),
      (all) => /Then I leave it/.test(all.at(-1)?.text ?? ""),
      "it is denied",
    );
    await own.send("c", "m4", "permit this too");
    await questionAfter(own, "c", "m4");
    await own.send("c", "m5", "/approve");
    assert.match(await answerTo(own, "c", "m4"), /It is removed/);
    assert.deepEqual(lines("effects"), ["Remove the build"]);
  },
);

test(
  "allowed without any kill, a word is enough; and /stop ends the agent's work within a second",
  limit,
  async (t) => {
    const { lines, start } = stage(t);
    const { client: own } = await start();
    await own.send("c", "m1", "permit it");
    const { question } = await questionAfter(own, "c", "m1");
    await own.send("c", "a1", { answer: { question: question?.id ?? "", choice: "always" } });
    assert.match(await answerTo(own, "c", "m1"), /It is removed/);
    await own.send("c", "m2", "hang on");
    await until(
      () => lines("prompts").length,
      (told) => told === 2,
      "the agent works",
    );
    const asked = performance.now();
    await own.send("c", "m3", "/stop");
    await until(
      () => lines("cancels").length,
      (told) => told === 1,
      "the agent is told to stop",
    );
    t.diagnostic(`cancelled after ${Math.round(performance.now() - asked)} ms`);
    await own.send("c", "m4", "still there?");
    assert.equal(await answerTo(own, "c", "m4"), "You said: still there?");
    assert.equal(lines("starts").length, 1);
  },
);

test("what the user takes back, the agent does not know of any more", limit, async (t) => {
  const { lines, start } = stage(t);
  const { client: own } = await start();
  for (const [id, text] of [
    ["m1", "my name is Ann"],
    ["m2", "my name is Bob"],
  ] as const) {
    await own.send("c", id, text);
    await answerTo(own, "c", id);
  }
  await own.send("c", "m3", "/undo");
  await own.send("c", "m4", "who am I?");
  await answerTo(own, "c", "m4");
  const prompts = lines("prompts").map(
    (line) => JSON.parse(line) as { readonly session: string; readonly text: string },
  );
  assert.equal(prompts.length, 3);
  assert.equal(prompts[0]?.session, prompts[1]?.session);
  assert.notEqual(prompts[2]?.session, prompts[1]?.session);
  assert.match(prompts[2]?.text ?? "", /my name is Ann[^]*who am I\?$/);
  assert.ok(!prompts[2]?.text.includes("Bob"));
});
