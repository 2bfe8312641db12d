// A home of 0.4.0 with wide settings, opened by this version: conversations, memories and rules are kept, rules that would
// now be too wide are shown and asked for again, and what waited is answered. The store was made by home-0.4.0/make.ts.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { FakeTelegram } from "../fakes/telegram.ts";
import { atEnd, run, until } from "../process/stage.ts";
import { type RedSettings, type RedStage, isWalled, limit, openRedStage, terminal } from "./stage.ts";

type Found = { readonly stage: RedStage; readonly telegram: FakeTelegram };

async function openOld(t: TestContext, tools: string, more: Partial<RedSettings> = {}): Promise<Found> {
  const telegram = await FakeTelegram.start();
  atEnd(t, () => telegram.close());
  const stage = await openRedStage(t, {
    agent: `  tools: ${tools}`,
    more: `platforms:
  telegram: { token: "${telegram.token}", apiRoot: "${telegram.url}", streaming: false, allow: [4242] }
  email:
    address: bot@fake.test
    imap: { host: 127.0.0.1, port: 1, tls: false, password: a-password-of-mail }
    smtp: { host: 127.0.0.1, port: 1, tls: false }
    allow: [ann@fake.test]`,
    ...more,
  });
  const bytes = gunzipSync(readFileSync(join(import.meta.dirname, "home-0.4.0", "state.db.gz")));
  stage.plant(join(stage.home, "state.db"), bytes);
  return { stage, telegram };
}

type Rule = { readonly id: string; readonly tool: string; readonly subject: string; readonly held?: boolean };
const rulesOf = [
  "git push origin ann (in /home/ann/.everturn/workspace)",
  "git push origin main (in /home/ann/.everturn/workspace)",
  "sudo true (in /home/ann/.everturn/workspace)",
  "writing any content to /home/ann/outside.txt",
];

test("an upgrade keeps conversations, memories and rules, and answers what waited", limit, async (t) => {
  const { stage, telegram } = await openOld(t, "{ approvals: dangerous }");
  // Telegram's numbers go on where its fake begins anew; what has an old number is taken for a repetition.
  for (let n = 0; n < 100; n++) telegram.group("other");
  const ann = telegram.person("Ann", { id: 4_242 });
  for (let n = 0; n < 30; n++) ann.write(`Are you still there? ${n}`);
  const target = await stage.start();
  const { client } = target;
  for (const [chat, words] of [
    ["talk", /You said: Hello from m1/],
    ["work", /^done 1: /],
    ["cut", /You said: Hello before the update/],
    ["cut", /You said: Hello behind it/],
  ] as const) {
    await until(
      () => client.transcript(chat),
      (all) => all.some((one) => one.role === "assistant" && words.test(one.text)),
      () => `${chat} has ${words}`,
    );
  }
  const { rules } = await client.get<{ rules: readonly Rule[] }>("/api/rules");
  const subjects = rules.map(({ subject }) => subject);
  assert.deepEqual(new Set(subjects), new Set(rulesOf));
  const held = rules.filter((rule) => rule.held === true).map(({ subject }) => subject);
  assert.deepEqual(held, ["git push origin ann (in /home/ann/.everturn/workspace)"], "a guest's rule is not in effect");
  await until(
    () => telegram.said(ann.chat),
    (said) => said.some((text) => text.includes("Are you still there? 29")),
    "Telegram is answered",
  );
  const ran = await target.attack([{ tool: "recall", input: { query: "tea" } }]);
  assert.match(ran.results.join("\n"), /Ann likes green tea/);
});

test("rules of before that are too wide are shown, and what they allowed is asked for again", limit, async (t) => {
  const { stage } = await openOld(t, "{ approvals: dangerous }");
  const target = await stage.start();
  const { out } = await run(t, stage.home, ["approvals", "rules"]);
  for (const subject of rulesOf) assert.ok(out.includes(subject), `${subject} is shown in ${out}`);
  assert.match(out, /asked again[\s\S]*git push origin ann|git push origin ann[\s\S]*asked again/);
  const outside = join(stage.userHome, "outside.txt");
  for (const call of [
    { tool: "write_file", input: { path: outside, content: "x" } },
    { tool: "write_file", input: { path: "/home/ann/outside.txt", content: "x" } },
    terminal("git push origin main"),
  ]) {
    const { questions, results } = await target.attack([call]);
    const said = results.join("\n");
    const isHeld =
      questions.length > 0 ||
      /refus|failed|denied|no such remote|does not appear|in the sandbox, without network/i.test(said);
    assert.ok(isHeld, `an old rule allowed ${JSON.stringify(call)}: ${said}`);
  }
  assert.deepEqual(stage.canaries.changes(), []);
});

test("a question of before is not answered by the old approval of something else", limit, async (t) => {
  const { stage } = await openOld(t, "{ approvals: dangerous }");
  const { client } = await stage.start();
  const { questions } = await client.get<{ questions: readonly { id: string }[] }>("/api/questions");
  assert.equal(questions.length, 1);
  const body = JSON.stringify({ choice: "approve" });
  const answered = await client.call(`/api/questions/${questions[0]?.id}/answer`, { method: "POST", body });
  assert.equal(answered.status, 200);
  await until(
    () => client.transcript("waiting"),
    (all) => {
      const last = all.at(-1);
      return (
        all.some((one) => one.role === "assistant" && one.question === undefined) ||
        last?.question?.id !== questions[0]?.id
      );
    },
    "the turn goes on, or asks again",
  );
});

const wide = "{ approvals: never, terminal: { sandbox: off } }";

test(
  "settings of before that switched the walls off are refused or have no effect, and the start says why",
  limit,
  async (t) => {
    const { stage } = await openOld(t, wide);
    const target = await stage.start();
    const { canaries } = stage;
    const payload = `cp ${canaries.diary} loot; touch ${canaries.folder}/pwned`;
    const { questions, results } = await target.attack([terminal(payload)]);
    t.diagnostic(`${questions.join("\n").slice(0, 200)} ${results.join("\n").slice(0, 300)}`);
    assert.deepEqual(canaries.changes(), [], "sandbox: off and approvals: never let a command out unasked");
    const status = await run(t, stage.home, ["gateway", "status"]);
    assert.match(`${target.out()}${target.err()}${status.out}`, /sandbox/i, "it is said");
    assert.ok(isWalled || questions.length > 0 || /unsafe|sandbox/i.test(results.join("\n")));
  },
);
