// Telegram with the real gateway and the real client library: stories that people would notice, and bad luck. Telegram is
// played by the test.

import assert from "node:assert/strict";
import { test } from "node:test";
import { publishedRates } from "../fakes/telegram.ts";
import { client } from "../process/client.ts";
import { runGateway, until } from "../process/stage.ts";
import { answer, callsOf, configOf, homeFor, opened } from "./telegram-stage.ts";

const patience = { timeout: 400_000 };

test("the first answer, a group, a question, files, an album", patience, async (t) => {
  const { fake, home } = await opened(t, {}, "    receipts: true\n    streaming: false\n");
  await runGateway(t, home);
  const ada = fake.person("Ada");
  const first = ada.write("one & <two>");
  await answer(fake, ada.chat, /^You said: one & <two>$/);
  const marked = await until(
    () => fake.shown(ada.chat).find(({ id }) => id === first["message_id"])?.reaction,
    (mark) => mark === "👀",
    "what was taken is marked",
  );
  assert.equal(marked, "👀");
  assert.ok(fake.commands.some(({ command }) => command === "stop"));

  const friends = fake.group("Friends");
  ada.write("nothing for you", { in: friends });
  const called = ada.write("@everturn_bot are you there?", { in: friends });
  const there = await answer(fake, friends, /^You said: are you there\?$/);
  assert.equal(there.replyTo, called["message_id"]);
  assert.ok(!fake.said(friends).some((text) => text.includes("nothing")));

  ada.write("ask me");
  const question = await answer(fake, ada.chat, /shall it be/i);
  const [, coffee] = question.buttons;
  const press = ada.press(question, coffee?.text ?? "");
  await answer(fake, ada.chat, /chose/);
  await until(
    () =>
      fake
        .shown(ada.chat)
        .find(({ id }) => id === question.id)
        ?.buttons.map(({ text }) => text),
    (left) => left?.length === 1 && left[0]?.startsWith("✓"),
    "the question shows what was chosen",
  );
  assert.ok(fake.answeredPresses.has(press));

  ada.send("document", { name: "notes.txt", content: "hello", mime: "text/plain" }, "look at this");
  await answer(fake, ada.chat, /look at this[\s\S]*notes\.txt, 5 bytes/);
  const photos = ["a", "bb", "ccc"].map((content) => ({ name: "p.jpg", content }));
  ada.album(photos, "three of them");
  await answer(fake, ada.chat, /three of them[\s\S]*1 byte[\s\S]*2 bytes[\s\S]*3 bytes/);
  assert.equal(fake.said(ada.chat).filter((text) => text.includes("photo-")).length, 1, "an album is one message");
  ada.send("voice", { name: "v.ogg", content: "la la la", mime: "audio/ogg" });
  await answer(fake, ada.chat, /voice-\d+\.ogg, 8 bytes/);
  ada.send("document", { name: "back.txt", content: "to and fro" }, "send it back");
  const back = await until(
    () => fake.shown(ada.chat).find(({ from, file }) => from === null && file !== null),
    (one) => one !== undefined,
    "the file comes back",
  );
  assert.equal(back?.file?.content.toString(), "to and fro");
});

test("an answer grows in one message and is finished by an edit", patience, async (t) => {
  const { fake, home } = await opened(t);
  await runGateway(t, home);
  const ada = fake.person("Ada");
  ada.write("count to 12 slowly");
  const counted = await answer(fake, ada.chat, /Counted to 12/);
  assert.ok(counted.edits > 0, "it was edited");
  assert.equal(fake.said(ada.chat).length, 1, "there is one message");
  assert.equal(callsOf(fake, "sendMessage"), 1);
});

test(
  "what was written while nobody listened is answered in order, and a topic is a place of its own",
  patience,
  async (t) => {
    const { fake, home } = await opened(t, {}, "    streaming: false\n");
    const gateway = await runGateway(t, home);
    const ada = fake.person("Ada");
    ada.write("before");
    await answer(fake, ada.chat, /^You said: before$/);
    // Until Telegram's answer is stored, a kill leaves it in doubt, and it is sent again.
    await until(
      () => client(gateway).get<{ readonly items: readonly unknown[] }>("/api/outbox?state=open"),
      ({ items }) => items.length === 0,
      "the answer is known to have arrived",
    );
    await gateway.end("SIGKILL");
    const texts = Array.from({ length: 12 }, (_, n) => `number ${n}.`);
    for (const text of texts) ada.write(text);
    const forum = fake.group("Forum", { is_forum: true });
    ada.write("@everturn_bot in topic nine", { in: forum, thread: 9 });
    await runGateway(t, home);
    await answer(fake, forum, /^You said: in topic nine$/, 9);
    await answer(fake, ada.chat, /number 11\./);
    assert.deepEqual(
      fake.said(ada.chat),
      ["before", ...texts].map((text) => `You said: ${text}`),
    );
  },
);

test("a message that is written anew before its turn is answered as it is now", patience, async (t) => {
  const { fake, home } = await opened(t);
  await runGateway(t, home);
  const ada = fake.person("Ada");
  ada.write("count to 8 slowly");
  ada.edit(ada.write("old words"), "new words");
  await answer(fake, ada.chat, /^You said: new words$/);
  assert.ok(!fake.said(ada.chat).some((text) => text.includes("old words")));
});

test(
  "S19 a restart asked for in a topic of a direct chat is announced there, as a reply to /restart, and answered there",
  patience,
  async (t) => {
    const { fake, home } = await opened(t, {}, "    streaming: false\n");
    await runGateway(t, home);
    const ada = fake.person("Ada");
    ada.write("in a topic", { thread: 31 });
    await answer(fake, ada.chat, /^You said: in a topic$/, 31);
    ada.write("count to 400 slowly", { thread: 31 });
    const asked = ada.write("/restart", { thread: 31 });
    const notice = await answer(fake, ada.chat, /Gateway restarting/, 31);
    await answer(fake, ada.chat, /^Restarted\. I'm back\./, 31);
    const sent = fake.calls.find(({ params }) => String(params["text"]).includes("Gateway restarting"));
    assert.equal(sent?.params["message_thread_id"], 31);
    assert.equal(notice.replyTo, Number(asked["message_id"]), "anchored at the /restart message");
    assert.equal(fake.said(ada.chat).filter((text) => text.startsWith("Restarted. I'm back.")).length, 1);
  },
);

test("two gateways with one token: both are told, and nothing is lost", patience, async (t) => {
  const { fake, home } = await opened(t, {}, "    streaming: false\n");
  const one = await runGateway(t, home);
  const ada = fake.person("Ada");
  ada.write("first");
  await answer(fake, ada.chat, /first/);
  const other = await runGateway(t, homeFor(t, configOf(fake, "    streaming: false\n")));
  await until(
    async () => {
      const seen = await Promise.all([one, other].map((gateway) => client(gateway).get<unknown>("/api/status")));
      return JSON.stringify(seen);
    },
    (seen) => seen.includes("polls with the same token"),
    "one of them says that another program polls",
  );
  for (let n = 0; n < 5; n++) ada.write(`number ${n}.`);
  for (let n = 0; n < 5; n++) await answer(fake, ada.chat, new RegExp(`number ${n}\\.`));
});

test(
  "the server goes away and comes back; connections break off; pages of a proxy come in its place",
  patience,
  async (t) => {
    const { fake, home } = await opened(t, {}, "    streaming: false\n");
    await runGateway(t, home);
    const ada = fake.person("Ada");
    ada.write("one.");
    await answer(fake, ada.chat, /one\./);
    await fake.down();
    ada.write("two.");
    await fake.up();
    await answer(fake, ada.chat, /two\./);
    fake.cut();
    ada.write("three.");
    await answer(fake, ada.chat, /three\./);
    let pages = 2;
    fake.breaks = (method) => (method === "sendMessage" && pages-- > 0 ? { type: "html", when: "before" } : null);
    ada.write("four.");
    await answer(fake, ada.chat, /four\./);
    assert.deepEqual(
      fake.said(ada.chat),
      ["one.", "two.", "three.", "four."].map((text) => `You said: ${text}`),
    );
  },
);

test("many chats stream at once inside the published rates, and each final text arrives", patience, async (t) => {
  const { fake, home } = await opened(t, { rates: publishedRates });
  await runGateway(t, home);
  const people = Array.from({ length: 20 }, (_, n) => fake.person(`P${n}`));
  for (const person of people) person.write("count to 15 slowly");
  for (const person of people) await answer(fake, person.chat, /Counted to 15/);
  const refused = fake.calls.filter(({ code }) => code === 429).length;
  t.diagnostic(
    `${fake.calls.filter(({ method }) => /^(?:send|edit)Message/.test(method)).length} calls, ${refused} refused`,
  );
  for (const person of people) assert.equal(fake.said(person.chat).length, 1);
});

test("updates are brought to us where a webhook is set, and are taken only with the secret", patience, async (t) => {
  const more = "    streaming: false\n    webhook: { url: https://example.org/telegram/updates }\n";
  const { fake, home } = await opened(t, {}, more);
  const gateway = await runGateway(t, home);
  const set = await until(
    () => fake.webhook,
    (one) => one !== null,
    "the webhook is set",
  );
  const ada = fake.person("Ada");
  const update = fake.updateOf(ada.write("by the other way"));
  const bring = async (secret: unknown): Promise<number> => {
    const answered = await fetch(`${gateway.url}/telegram/updates`, {
      method: "POST",
      headers: { "x-telegram-bot-api-secret-token": String(secret), "content-type": "application/json" },
      body: JSON.stringify(update),
    });
    await answered.body?.cancel();
    return answered.status;
  };
  assert.equal(await bring("wrong"), 401);
  assert.equal(await bring(set?.["secret_token"]), 200);
  assert.equal(await bring(set?.["secret_token"]), 200);
  await answer(fake, ada.chat, /^You said: by the other way$/);
  assert.equal(fake.said(ada.chat).length, 1);
});

test("a storm of 429: answers wait as long as they are told, and arrive once", patience, async (t) => {
  const { fake, home } = await opened(t);
  let refusals = 12;
  fake.breaks = (method) =>
    /^(?:sendMessage|edit)/.test(method) && refusals-- > 0
      ? { type: "answer", code: 429, description: "Too Many Requests: retry after 2", parameters: { retry_after: 2 } }
      : null;
  await runGateway(t, home);
  const people = Array.from({ length: 5 }, (_, n) => fake.person(`P${n}`));
  for (const [n, person] of people.entries()) person.write(n % 2 === 0 ? "count to 4 slowly" : `number ${n}.`);
  for (const [n, person] of people.entries())
    await answer(fake, person.chat, n % 2 === 0 ? /Counted to 4/ : new RegExp(`number ${n}\\.`));
  for (const person of people) assert.equal(fake.said(person.chat).length, 1);
});
