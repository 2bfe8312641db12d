// Slack with the real gateway and the real client libraries: stories a user would notice, then chaos. Slack is played by
// the test, which loses every event for which there is no socket.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type SlackFake, appToken, bot, botToken, openSlack } from "../fakes/slack.ts";
import { atEnd, newHome, runGateway, until } from "../process/stage.ts";
import { chaos } from "./chaos.ts";

const dm = "DU1";
const mention = `<@${bot.user}>`;

function configOf(fake: SlackFake, allow = '["*"]'): string {
  return `control: { port: 0 }
agent: { backend: echo }
platforms:
  slack:
    botToken: ${botToken}
    appToken: ${appToken}
    apiRoot: ${fake.apiRoot}
    allow: ${allow}
`;
}

async function opened(t: TestContext, allow?: string) {
  const fake = await openSlack();
  atEnd(t, () => fake.close());
  fake.workspace.direct("U1");
  fake.workspace.open("C1", "public_channel", "general");
  const home = newHome(t);
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "config.yaml"), configOf(fake, allow));
  return { fake, home };
}

/** Waits until the bot has written something like it there, and gives it. */
async function answer(fake: SlackFake, channel: string, like: RegExp, thread?: string) {
  const look = () => fake.written(channel).filter((one) => thread === undefined || one.thread_ts === thread);
  const all = await until(
    look,
    (found) => found.some(({ text }) => like.test(text)),
    () => `${channel} has ${like}, but it has ${JSON.stringify(fake.written(channel).map(({ text }) => text))}`,
  );
  return all.find(({ text }) => like.test(text)) ?? assert.fail("it was there");
}

async function connected(fake: SlackFake): Promise<void> {
  await until(
    () => fake.sockets(),
    (count) => count === 1,
    "the socket stands",
  );
}

test("a direct message, a thread in a channel, a question, commands and files", { timeout: 300_000 }, async (t) => {
  const { fake, home } = await opened(t);
  await runGateway(t, home);
  await connected(fake);
  fake.say(dm, "one & <two>");
  await answer(fake, dm, /^You said: one &amp; &lt;two&gt;$/);

  fake.say("C1", "nothing for you");
  const root = fake.say("C1", `${mention} are you there?`, { raw: true });
  const first = await answer(fake, "C1", /You said: are you there\?/);
  assert.equal(first.thread_ts, root.ts, "a mention in a channel starts a thread");
  fake.say("C1", "and without a mention", { thread: root.ts });
  await answer(fake, "C1", /and without a mention/, root.ts);
  assert.deepEqual(
    fake.written("C1").filter(({ text }) => text.includes("nothing for you")),
    [],
  );

  fake.say(dm, "ask me");
  const asked = await answer(fake, dm, /What shall it be/);
  await fake.press(dm, asked.ts, 1);
  await answer(fake, dm, /You chose \*coffee\*/);
  const marked = await answer(fake, dm, /✓ coffee/);
  assert.equal(marked.ts, asked.ts, "the question shows what was chosen");
  assert.ok(!marked.blocks?.some(({ type }) => type === "actions"), "and has no buttons any more");

  assert.equal(await fake.command(dm, "whoami"), "acknowledged");
  await answer(fake, dm, /alice|U1/);
  fake.say(dm, "!status");
  await answer(fake, dm, /nothing|idle|Nothing/i);

  const file = fake.workspace.store("notes.txt", "text/plain", Buffer.from("some notes"));
  fake.say(dm, "send it back", { files: [file] });
  const back = await until(
    () => fake.written(dm).flatMap(({ files }) => files ?? []),
    (files) => files.length > 0,
    "the file comes back",
  );
  assert.deepEqual(back.map(fake.contentOf), ["some notes"]);

  fake.say(dm, `long ${"words ".repeat(7_000)}`);
  await answer(fake, dm, /The whole answer is in the file below/);
  await until(
    () => fake.written(dm).flatMap(({ files }) => files ?? []),
    (files) => files.some(({ name }) => name === "answer.md"),
    "the whole answer as a file",
  );
});

test("what was said while it was dead is answered, once and in order, in its own thread", {
  timeout: 300_000,
}, async (t) => {
  const { fake, home } = await opened(t);
  const first = await runGateway(t, home);
  await connected(fake);
  const root = fake.say("C1", `${mention} begin`, { raw: true });
  fake.say(dm, "before");
  await answer(fake, "C1", /begin/);
  await answer(fake, dm, /before/);
  await first.end("SIGKILL");
  for (const text of ["one", "two", "three"]) fake.say(dm, text);
  fake.say("C1", "in the thread", { thread: root.ts });
  const other = fake.say("C1", `${mention} another`, { raw: true });
  fake.say("C1", `${mention} below another`, { raw: true, thread: other.ts });
  fake.workspace.people.set("U2", "bob");
  fake.workspace.direct("U2");
  fake.say("DU2", "who never wrote before", { user: "U2" });
  await runGateway(t, home);
  await answer(fake, dm, /three/);
  await answer(fake, "C1", /in the thread/, root.ts);
  await answer(fake, "C1", /another/, other.ts);
  await answer(fake, "C1", /below another/, other.ts);
  await answer(fake, "DU2", /who never wrote before/);
  assert.deepEqual(
    fake.written(dm).map(({ text }) => text),
    ["before", "one", "two", "three"].map((text) => `You said: ${text}`),
  );
});

test("sockets that are refreshed, dropped or deaf are replaced, and nothing is missed meanwhile", {
  timeout: 300_000,
}, async (t) => {
  const { fake, home } = await opened(t);
  await runGateway(t, home);
  await connected(fake);
  const ways = { refresh: fake.refresh, drop: fake.dropSockets, deaf: fake.deafen };
  for (const [name, way] of Object.entries(ways)) {
    way();
    fake.say(dm, `during ${name}`);
    await answer(fake, dm, new RegExp(`You said: during ${name}`));
    await connected(fake);
    fake.say(dm, `after ${name}`);
    await answer(fake, dm, new RegExp(`You said: after ${name}`));
  }
  assert.equal(fake.written(dm).length, 6);
});

test("a stranger is told once how to get in, also when the past is read again; in a channel nobody is told", {
  timeout: 300_000,
}, async (t) => {
  const { fake, home } = await opened(t, "[bob]");
  const first = await runGateway(t, home);
  await connected(fake);
  fake.say(dm, "let me in");
  await answer(fake, dm, /everturn pair approve/);
  fake.say("C1", `${mention} let me in`, { raw: true });
  await first.end("SIGKILL");
  fake.workspace.people.set("U2", "bob");
  fake.workspace.direct("U2");
  fake.say("DU2", "it is me", { user: "U2" });
  await runGateway(t, home);
  await answer(fake, "DU2", /You said: it is me/);
  fake.say("DU2", "and again", { user: "U2" });
  await answer(fake, "DU2", /You said: and again/);
  assert.deepEqual([fake.written(dm).length, fake.written("C1").length], [1, 0]);
});

test("an answer that grows is one message, also when it is killed in the middle", { timeout: 300_000 }, async (t) => {
  const { fake, home } = await opened(t);
  const first = await runGateway(t, home);
  await connected(fake);
  fake.say(dm, "count to 12 slowly");
  await answer(fake, dm, /1, 2/);
  await first.end("SIGKILL");
  await runGateway(t, home);
  await answer(fake, dm, /Counted to 12/);
  assert.equal(fake.written(dm).length, 1);
});

test("calls that fail on the way out double nothing", { timeout: 300_000 }, async (t) => {
  const { fake, home } = await opened(t);
  await runGateway(t, home);
  await connected(fake);
  const ways = [
    "drop after",
    "html after",
    "drop",
    { status: 503 },
    { retryAfter: 1 },
    { code: "fatal_error", after: true },
  ] as const;
  for (const [n, way] of ways.entries()) {
    fake.fail(["chat.postMessage", "chat.update"], way);
    fake.say(dm, `try ${n}`);
    await answer(fake, dm, new RegExp(`You said: try ${n}`));
  }
  assert.equal(fake.written(dm).length, ways.length);
});

test("chaos: kills, stops, dropped sockets and a Slack that goes away lose nothing and double nothing", {
  timeout: 900_000,
}, async (t) => {
  const fake = await openSlack({ retryScale: 0.01 });
  atEnd(t, () => fake.close());
  const { workspace } = fake;
  workspace.open("C1", "public_channel", "general");
  const people = ["U1", "U2", "U3", "U4"];
  for (const user of people) {
    workspace.people.set(user, `person-${user}`);
    workspace.direct(user);
  }
  const root = fake.say("C1", "we talk here", { silent: true }).ts;
  const isDirect = (chat: string): boolean => chat.startsWith("D");
  let begun: Promise<void> | undefined;
  const found = await chaos(
    t,
    {
      config: configOf(fake),
      // What was said before we were there for the first time is nobody's.
      async say(chat, text) {
        await (begun ??= connected(fake));
        if (isDirect(chat)) fake.say(chat, text, { user: chat.slice(1) });
        else fake.say("C1", `${mention} ${text}`, { raw: true, thread: root });
      },
      seen: (chat) => fake.written(isDirect(chat) ? chat : "C1").map(({ text }) => text),
      drop: () => fake.dropSockets(),
      async restart() {
        await fake.down();
        await fake.up();
      },
    },
    { chats: [...people.map((user) => `D${user}`), "thread"], slowly: true },
  );
  assert.deepEqual([found.lost, found.doubled], [[], []], `seed ${found.seed}`);
  assert.deepEqual(found.reordered, [], `seed ${found.seed}`);
});
