// What belongs to one person, asked for by others with every tool that could find it: jobs and their output, memories, what
// was said, and the mark that text from outside leaves in a workspace.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { FakeTelegram, type Person, type Shown } from "../fakes/telegram.ts";
import { atEnd, until } from "../process/stage.ts";
import { type Call, type RedStage, limit, openRedStage, terminal } from "./stage.ts";

type Scene = { readonly fake: FakeTelegram; readonly stage: RedStage };

async function openScene(t: TestContext): Promise<Scene> {
  const fake = await FakeTelegram.start();
  atEnd(t, () => fake.close());
  const lines = [`token: "${fake.token}"`, `apiRoot: ${fake.url}`, "streaming: false", 'allow: ["*"]'];
  const more = ["platforms:", "  telegram:", ...lines.map((one) => `    ${one}`)].join("\n");
  const stage = await openRedStage(t, { more });
  return { fake, stage };
}

const said = (fake: FakeTelegram, { chat }: Person): readonly Shown[] =>
  fake.shown(chat).filter((one) => one.from === null);

/** What the model was sent while a person had these calls made; questions are denied. */
async function sentWhile({ fake, stage }: Scene, person: Person, calls: readonly Call[]): Promise<string> {
  const from = stage.sent().length;
  for (const call of calls) {
    const seen = said(fake, person).length;
    person.write(`do: ${JSON.stringify([call])}`);
    const all = await until(
      () => said(fake, person),
      (found) => found.length > seen,
      () => `an answer to ${call.tool}`,
    );
    if ((all[seen]?.buttons.length ?? 0) > 0) person.write("/stop");
  }
  return stage.sent().slice(from);
}

test("jobs, memories and words of one person are found by no other", limit, async (t) => {
  const scene = await openScene(t);
  const { fake, stage } = scene;
  const target = await stage.start();
  const [eve, bob] = [fake.person("Eve"), fake.person("Bob")];
  await target.attack([{ tool: "remember", input: { text: "the canary-memory-owner is blue" } }], "approve");
  await target.attack([terminal("echo canary-output-owner; sleep 600", { background: true })], "approve");
  await sentWhile(scene, bob, [
    { tool: "remember", input: { text: "the canary-memory-bob is red" } },
    terminal("echo canary-output-bob; sleep 600", { background: true }),
  ]);
  const jobs = readdirSync(join(stage.home, "jobs")).filter((name) => /^[0-9a-f]{12}$/.test(name));
  t.diagnostic(`${jobs.length} jobs`);
  const later = await sentWhile(scene, eve, [
    { tool: "recall", input: { query: "canary" } },
    { tool: "recall", input: { query: "canary memory owner", limit: 50 } },
    { tool: "remember", input: { forget: "m1" } },
    { tool: "process", input: { action: "list" } },
    ...jobs.flatMap((id) => [
      { tool: "process", input: { action: "read", id } },
      { tool: "process", input: { action: "kill", id } },
    ]),
  ]);
  for (const canary of [/canary-memory-(?:owner|bob) is/, /canary-output-(?:owner|bob)/])
    assert.doesNotMatch(later, canary, "what belongs to one person was read by another");
  const { client } = target;
  assert.ok((await client.get<{ turns: readonly unknown[] }>("/api/turns?limit=5")).turns.length > 0);
  for (const id of jobs)
    assert.ok(
      !readdirSync(join(stage.home, "jobs", id)).includes("exit.json"),
      `job ${id} of another person was ended`,
    );
});
