// What needs its user's word waits through anything: killed while it waits, approved afterwards, it runs exactly once. An
// approval is for what was shown; where that has changed meanwhile, it is asked again.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { scenarios } from "../fakes/models/index.ts";
import type { Message } from "../process/client.ts";
import { run, until } from "../process/stage.ts";
import { linesIn } from "../lines.ts";
import { type Life, type Stage, answerTo, doing, openStage, questionAfter, terminal } from "./stage.ts";

const follow = scenarios["follow"] as NonNullable<(typeof scenarios)[string]>;
const dangerous = "rm -rf doomed; echo gone >> ledger";
/** So that what runs in the sandbox is asked for as well. */
const always = { agent: "  tools: { approvals: always }" };

type Way = {
  readonly name: string;
  readonly approve: (stage: Stage, life: Life, question: Message) => Promise<unknown>;
};

const ways: readonly Way[] = [
  { name: "a command in the chat", approve: (_stage, life) => life.client.send("c", "yes", "/approve") },
  {
    name: "a press in the chat",
    approve: (_stage, life, { question }) =>
      life.client.send("c", "press", { answer: { question: question?.id ?? "", choice: "approve" } }),
  },
  {
    name: "the control protocol",
    approve: async (_stage, life, { question }) => {
      const body = JSON.stringify({ choice: "approve" });
      const answer = await life.client.call(`/api/questions/${question?.id}/answer`, { method: "POST", body });
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
    },
  },
];

for (const { name, approve } of ways) {
  test(`killed while it waits, approved after the restart by ${name}: it runs once`, async (t) => {
    const stage = await openStage(t, follow, always);
    const first = await stage.start();
    const { port } = first;
    mkdirSync(join(stage.workspace, "doomed"), { recursive: true });
    await first.client.send("c", "m1", doing(terminal(dangerous)));
    const question = await questionAfter(first.client, "c", "m1");
    assert.ok(question.text.includes("rm -rf doomed"), question.text);
    assert.deepEqual(linesIn(join(stage.workspace, "ledger")), []);
    await first.end("SIGKILL");
    const second = await stage.start({ port });
    await approve(stage, second, question);
    assert.match(await answerTo(second.client, "c", "m1"), /^done 1: /);
    assert.deepEqual(linesIn(join(stage.workspace, "ledger")), ["gone"]);
    assert.equal(stage.fake.requests.length, 2, "no model call is repeated");
  });
}

test("approved on the command line, killed in the middle of the command: it has run once", async (t) => {
  const stage = await openStage(t, follow, always);
  const first = await stage.start();
  const { port } = first;
  await first.client.send(
    "c",
    "m1",
    doing(terminal("rm -rf doomed; echo gone >> ledger; sleep 2; echo over >> ledger")),
  );
  const { question } = await questionAfter(first.client, "c", "m1");
  const { code, out, err } = await run(t, stage.home, ["approvals", "approve", question?.id ?? ""]);
  assert.equal(code, 0, `${out}${err}`);
  await until(
    () => linesIn(join(stage.workspace, "ledger")),
    (lines) => lines.length > 0,
    "it runs",
  );
  await first.end("SIGKILL");
  const second = await stage.start({ port });
  assert.match(await answerTo(second.client, "c", "m1"), /^done 1: /);
  assert.deepEqual(linesIn(join(stage.workspace, "ledger")), ["gone", "over"]);
});

test("a script that changed while it waited is asked for again, and only what was shown last runs", async (t) => {
  const stage = await openStage(t, follow, { agent: "  tools: { terminal: { outside: true } }" });
  mkdirSync(stage.workspace, { recursive: true });
  const script = join(stage.workspace, "deploy.sh");
  writeFileSync(script, "echo first >> ledger\n");
  const life = await stage.start();
  await life.client.send("c", "m1", doing(terminal("sh deploy.sh", { outside: true })));
  const first = await questionAfter(life.client, "c", "m1");
  assert.match(first.text, /^Runs outside the sandbox with all your rights\./);
  assert.match(first.text, /deploy\.sh@[0-9a-f]{12}/);
  writeFileSync(script, "echo second >> ledger\n");
  await life.client.send("c", "y1", "/approve");
  const again = await questionAfter(life.client, "c", "m1", 2);
  assert.match(again.text, /chang/i);
  assert.deepEqual(linesIn(join(stage.workspace, "ledger")), []);
  await life.client.send("c", "y2", "/approve");
  assert.match(await answerTo(life.client, "c", "y2"), /^done 1: /);
  assert.deepEqual(linesIn(join(stage.workspace, "ledger")), ["second"]);
});

test("what is denied does not run, a late press says why it does nothing, and always is a rule", async (t) => {
  const stage = await openStage(t, follow, always);
  const life = await stage.start();
  await life.client.send("c", "m1", doing(terminal(dangerous)));
  const question = await questionAfter(life.client, "c", "m1");
  await life.client.send("c", "no", "/deny");
  await answerTo(life.client, "c", "no");
  assert.deepEqual(linesIn(join(stage.workspace, "ledger")), []);
  const late = await life.client.call(`/api/questions/${question.question?.id}/answer`, {
    method: "POST",
    body: JSON.stringify({ choice: "approve" }),
  });
  assert.notEqual(late.status, 200);
  assert.match(JSON.stringify(late.body), /answered|denied|already/i);
  await life.client.send("d", "m2", doing(terminal(dangerous)));
  await questionAfter(life.client, "d", "m2");
  await life.client.send("d", "yes", "/approve always");
  await answerTo(life.client, "d", "m2");
  assert.match(await life.ask("d", "m3", doing(terminal(dangerous))), /^done 1: /);
  assert.deepEqual(linesIn(join(stage.workspace, "ledger")), ["gone", "gone"]);
  const { out } = await run(t, stage.home, ["approvals", "rules"]);
  assert.match(out, /rm -rf doomed/);
  assert.ok(!readFileSync(join(stage.home, "config.yaml"), "utf8").includes("rm -rf"));
});
