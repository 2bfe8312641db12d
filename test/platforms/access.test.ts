// Who may speak, from outside: real gateway processes, people at the fake of Telegram, the commands of the real program.
// Kills come between, and nobody gets in by them.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type Chat, FakeTelegram } from "../fakes/telegram.ts";
import { client } from "../process/client.ts";
import { atEnd, newHome, patienceMs, run, runGateway, until } from "../process/stage.ts";

const limit = { timeout: 5 * patienceMs };

async function opened(t: TestContext, more: readonly string[] = []) {
  const fake = await FakeTelegram.start();
  atEnd(t, () => fake.close());
  const home = newHome(t);
  const lines = [`token: "${fake.token}"`, `apiRoot: ${fake.url}`, "streaming: false", ...more];
  const config = `agent: { backend: echo }\nplatforms:\n  telegram:\n${lines.map((line) => `    ${line}\n`).join("")}`;
  mkdirSync(home, { recursive: true, mode: 0o700 });
  writeFileSync(join(home, "config.yaml"), config);
  const everturn = async (...words: readonly string[]) => {
    const { code, out, err } = await run(t, home, words);
    return { code, said: `${out}${err}` };
  };
  const heard = (chat: Chat, words: RegExp) =>
    until(
      async () => fake.said(chat),
      (said) => said.some((text) => words.test(text)),
      `somebody hears ${words.source}`,
    );
  return { fake, home, everturn, heard };
}

const codeOf = (said: readonly string[]) =>
  said.flatMap((text) => /: ([2-9A-HJ-NP-Z]{8})\b/.exec(text)?.[1] ?? []).at(-1) ?? "";

test(
  "a stranger is told a code, is let in by the command line across a kill, and sent away again",
  limit,
  async (t) => {
    const { fake, home, everturn, heard } = await opened(t);
    const gateway = await runGateway(t, home);
    const eve = fake.person("Eve");
    eve.write("hello, my secret plan");
    const code = codeOf(await heard(eve.chat, /everturn pair approve/));
    assert.equal(code.length, 8);
    assert.match((await everturn("pair")).said, new RegExp(`telegram +${eve.id} +`));
    await gateway.end("SIGKILL");
    const again = await runGateway(t, home);

    const wrong = await everturn("pair", "approve", "ZZZZ2222");
    assert.deepEqual([wrong.code, /No open request has this code/.test(wrong.said)], [1, true]);
    const right = await everturn("pair", "approve", code.toLowerCase(), "--json");
    assert.equal(right.code, 0, right.said);
    const { paired } = JSON.parse(right.said) as { paired: { sender: string; by: string; admin: boolean } };
    assert.deepEqual([paired.sender, paired.by, paired.admin], [String(eve.id), "operator", false]);
    await heard(eve.chat, /^You may write to me now\.$/);
    eve.write("/whoami");
    await heard(eve.chat, new RegExp(`You are ${eve.id}`));
    const used = await everturn("pair", "approve", code);
    assert.equal(used.code, 1);

    assert.match((await everturn("pair", "list")).said, /Nobody waits to be let in\.[\s\S]*operator/);
    const found = await client(again).get<{ messages: unknown[] }>("/api/sessions/search?q=secret");
    assert.deepEqual(found.messages, [], "what a stranger wrote was not kept");
    assert.match((await everturn("pair", "revoke", String(eve.id))).said, /may no longer write/);
    assert.equal((await everturn("pair", "revoke", String(eve.id))).code, 1);
    eve.write("and now?");
    await until(
      async () => fake.said(eve.chat).filter((text) => /I do not know you yet/.test(text)).length,
      (count) => count === 2,
      "she is a stranger again",
    );
  },
);

test(
  "a group: strangers and what is not meant for us get silence; an admin lets people in from the chat",
  limit,
  async (t) => {
    const boss = 4_242;
    const { fake, home, heard } = await opened(t, [`admins: [${boss}]`]);
    await runGateway(t, home);
    const ann = fake.person("Ann", { id: boss });
    // Called like the number of somebody who may: a name is no id.
    const eve = fake.person("Eve", { username: String(boss), first_name: "*" });
    const group = fake.group("Friends");
    eve.write("@everturn_bot hello", { in: group });
    eve.write("/restart@everturn_bot", { in: group });
    ann.write("how are you all?", { in: group });
    eve.write("hello");
    const code = codeOf(await heard(eve.chat, /everturn pair approve/));
    ann.write("@everturn_bot what is an apple", { in: group });
    await heard(group, /what is an apple/);
    assert.equal(fake.said(group).length, 1, fake.said(group).join(" | "));
    ann.write(`/pair approve ${code}`);
    await heard(ann.chat, /may write to me now/);
    await heard(eve.chat, /^You may write to me now\.$/);
    eve.write("@everturn_bot what is a pear", { in: group });
    await heard(group, /what is a pear/);
    eve.write("/pair@everturn_bot", { in: group });
    await heard(group, /^Only admins of telegram may use \/pair/);
  },
);

test(
  "what waits is answered as it was edited, also across a kill; the home that was chosen hears of a stop",
  limit,
  async (t) => {
    const { fake, home, heard } = await opened(t, ["allow: [4242]", "admins: [4242]"]);
    const gateway = await runGateway(t, home);
    const ann = fake.person("Ann", { id: 4_242 });
    ann.write("count to 8 slowly");
    const waits = ann.write("what is a frog");
    ann.edit(waits, "what is a toad");
    const stored = async (of: typeof gateway) =>
      (await client(of).get<{ turns: { text: string }[] }>("/api/turns")).turns.map(({ text }) => text);
    await until(
      () => stored(gateway),
      (texts) => texts.includes("what is a toad"),
      "the new wording is stored",
    );
    await gateway.end("SIGKILL");
    const again = await runGateway(t, home);
    await heard(ann.chat, /toad/);
    assert.ok(!(await stored(again)).includes("what is a frog"));
    assert.ok(!fake.said(ann.chat).some((text) => text.includes("frog")), fake.said(ann.chat).join(" | "));
    ann.write("/sethome");
    await heard(ann.chat, /^This chat is the home of telegram now/);
    await again.end("SIGINT");
    await heard(ann.chat, /^Gateway shutting down\./);
  },
);
