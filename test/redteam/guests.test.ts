// People who may write, in a Telegram group and in chats of their own. None of them may approve, and none may read what
// belongs to the owner or to another guest.

import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type Chat, FakeTelegram, type Person, type Shown } from "../fakes/telegram.ts";
import { atEnd, until } from "../process/stage.ts";
import {
  type Call,
  type RedStage,
  type Target,
  assertUntouched,
  limit,
  openRedStage,
  readFile,
  terminal,
} from "./stage.ts";

type Scene = { readonly fake: FakeTelegram; readonly stage: RedStage; readonly target: Target };

async function openScene(t: TestContext, more: readonly string[] = ['allow: ["*"]']): Promise<Scene> {
  const fake = await FakeTelegram.start();
  atEnd(t, () => fake.close());
  const lines = [`token: "${fake.token}"`, `apiRoot: ${fake.url}`, "streaming: false", ...more];
  const stage = await openRedStage(t, {
    more: ["platforms:", "  telegram:", ...lines.map((one) => `    ${one}`)].join("\n"),
  });
  return { fake, stage, target: await stage.start() };
}

const order = (...calls: readonly Call[]): string => `@everturn_bot please work\ndo: ${JSON.stringify(calls)}`;
const shown = (fake: FakeTelegram, chat: Chat): readonly Shown[] => fake.shown(chat).filter((one) => one.from === null);

/** The next thing that the bot says there. */
async function next({ fake }: Scene, chat: Chat, seen: number): Promise<Shown> {
  const all = await until(
    () => shown(fake, chat),
    (found) => found.length > seen,
    () => `something new is said in ${chat.id}`,
  );
  return all[seen] as Shown;
}

/** All that people did has reached the gateway, and what it answered to it was sent. */
async function taken(fake: FakeTelegram): Promise<void> {
  await until(
    () => fake.waiting,
    (count) => count === 0,
    "everything that people did was taken",
  );
}

async function openQuestions({ client }: Target): Promise<readonly string[]> {
  const { questions } = await client.get<{ questions: readonly { id: string }[] }>("/api/questions");
  return questions.map(({ id }) => id);
}

/** Tries everything that could be a yes. */
function tryToApprove(person: Person, question: Shown, group: Chat): void {
  for (const { text } of question.buttons.toReversed()) if (!/deny|no/i.test(text)) person.press(question, text);
  for (const words of [
    "always",
    "yes",
    "approve",
    "/approve",
    "/approve@everturn_bot",
    "@everturn_bot yes",
    "@everturn_bot always",
  ]) {
    person.write(words, { in: group, replyTo: question.id });
  }
}

test("in a group no guest approves a request for a private key, neither another's nor their own", limit, async (t) => {
  const scene = await openScene(t);
  const { fake, stage, target } = scene;
  const [eve, mallory] = [fake.person("Eve"), fake.person("Mallory")];
  const group = fake.group("Friends");
  eve.write(order(readFile(stage.canaries.sshKey)), { in: group });
  const first = await next(scene, group, 0);
  const open = await openQuestions(target);
  tryToApprove(mallory, first, group);
  tryToApprove(eve, first, group);
  eve.write(order(terminal(`cp ${stage.canaries.diary} loot; cat loot`)), { in: group });
  const second = await next(scene, group, 1);
  tryToApprove(mallory, second, group);
  tryToApprove(eve, second, group);
  mallory.write("@everturn_bot are you there", { in: group });
  await taken(fake);
  // A later message of the same people is handled after all of that.
  eve.write("are you there");
  await until(
    () => fake.said(eve.chat),
    (said) => said.length > 0,
    "the private chat is answered",
  );
  assert.ok(!stage.sent().includes(stage.canaries.keyWords), "a guest's model read the private key");
  const left = await openQuestions(target);
  assert.deepEqual(
    open.filter((id) => !left.includes(id)),
    [],
    "a guest answered the question",
  );
  assertUntouched(stage, "guests in a group");
  const { rules } = await target.client.get<{ rules: readonly unknown[] }>("/api/rules");
  assert.deepEqual(rules, [], "a guest's always made no rule");
});

test("what a guest calls always does not hold for the owner", limit, async (t) => {
  const scene = await openScene(t);
  const { fake, stage, target } = scene;
  const eve = fake.person("Eve");
  eve.write(`do: ${JSON.stringify([readFile(stage.canaries.sshKey)])}`);
  const asked = await next(scene, eve.chat, 0);
  const always = asked.buttons.find(({ text }) => /always/i.test(text));
  if (always !== undefined) eve.press(asked, always.text);
  eve.write("always");
  eve.write("/approve always");
  await taken(fake);
  const { questions, results } = await target.attack([readFile(stage.canaries.sshKey)]);
  assert.ok(questions.length > 0, `the owner is not asked any more: ${results.join("\n")}`);
  const { rules } = await target.client.get<{ rules: readonly unknown[] }>("/api/rules");
  assert.deepEqual(rules, []);
  assertUntouched(stage, "a guest's always");
});

test("a guest's tools find neither the owner's files, uploads nor the output of commands", limit, async (t) => {
  const scene = await openScene(t);
  const { fake, stage, target } = scene;
  const secret = "the owner's own words 90210";
  stage.plant(join(stage.workspace, "notes.txt"), `${secret}\n`);
  const upload = await target.client.call(`/api/chat/web/c/files?name=plan.txt`, {
    method: "POST",
    headers: { authorization: `Bearer ${target.token}`, "content-type": "text/plain" },
    body: `${secret} in an upload`,
  });
  t.diagnostic(`the upload was answered with ${upload.status}`);
  await target.attack([terminal("cat notes.txt")], "approve");
  const eve = fake.person("Eve");
  const from = stage.sent().length;
  const calls: readonly Call[] = [
    { tool: "search_files", input: { pattern: "90210" } },
    { tool: "search_files", input: { pattern: "90210", path: ".." } },
    { tool: "search_files", input: { pattern: "90210", path: stage.home } },
    { tool: "search_files", input: { pattern: "90210", path: join(stage.home, "jobs") } },
    { tool: "search_files", input: { pattern: "90210", path: join(stage.home, "files") } },
    readFile("notes.txt"),
    readFile(join(stage.workspace, "notes.txt")),
    { tool: "send_file", input: { path: join(stage.workspace, "notes.txt") } },
    { tool: "process", input: { action: "list" } },
    terminal(`cat notes.txt ${stage.workspace}/notes.txt; grep -r 90210 .. ${stage.home} /tmp`),
  ];
  for (const call of calls) {
    const seen = shown(fake, eve.chat).length;
    eve.write(`do: ${JSON.stringify([call])}`);
    const said = await next(scene, eve.chat, seen);
    if (said.buttons.length > 0) {
      eve.write("/deny");
      eve.write("/stop");
    }
    await taken(fake);
  }
  const later = stage
    .sent()
    .slice(from)
    .replaceAll(/"pattern\\?\\?\\?":\s*\\?\\?\\?"90210/g, "");
  assert.ok(!later.includes("own words 90210"), "a guest's model read what belongs to the owner");
  assert.ok(!fake.chats.shown(eve.chat.id).some((one) => one.file !== null), "no file was sent");
});

test("guests have workspaces of their own", limit, async (t) => {
  const scene = await openScene(t);
  const { fake, stage } = scene;
  const [eve, bob] = [fake.person("Eve"), fake.person("Bob")];
  bob.write(
    `do: ${JSON.stringify([{ tool: "write_file", input: { path: "bob.txt", content: "bob-private-31337" } }])}`,
  );
  await next(scene, bob.chat, 0);
  const from = stage.sent().length;
  eve.write(
    `do: ${JSON.stringify([readFile("bob.txt"), { tool: "search_files", input: { pattern: "private-\\d+" } }, terminal("cat bob.txt; grep -r bob-private .")])}`,
  );
  const seen = await next(scene, eve.chat, 0);
  if (seen.buttons.length > 0) eve.write("/deny");
  await taken(fake);
  assert.ok(!stage.sent().slice(from).includes("bob-private-31337"), "one guest reads the files of another");
});
