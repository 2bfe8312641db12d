// Discord from end to end: real gateways, the real client libraries, and a fake of Discord that remembers everything while
// gateways come, die and go.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, describe, test } from "node:test";
import {
  type DiscordFake,
  type Said,
  ann,
  bob,
  bot,
  direct,
  discordFake,
  forum,
  general,
  thread,
  token,
} from "../fakes/discord.ts";
import { type Gateway, atEnd, newHome, run, runGateway, until } from "../process/stage.ts";
import { chaos } from "./chaos.ts";

const config = (fake: DiscordFake, more = ""): string =>
  `agent: { backend: echo }
platforms:
  discord:
    token: "${token}"
    apiRoot: ${fake.url}
    allow: ["${ann.id}"]
${more}`;

type Stage = { readonly fake: DiscordFake; readonly home: string; start(): Promise<Gateway> };

async function stage(t: TestContext, more = ""): Promise<Stage> {
  const fake = await discordFake();
  atEnd(t, () => fake.close());
  const home = newHome(t);
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "config.yaml"), config(fake, more));
  const start = async (): Promise<Gateway> => {
    const gateway = await runGateway(t, home);
    await listens(fake);
    return gateway;
  };
  return { fake, home, start };
}

/** Connected, and done with all it was told. */
function listens(fake: DiscordFake): Promise<unknown> {
  return until(
    () => fake.gateway.ask(),
    (has) => has !== null && has >= (fake.gateway.session()?.seq ?? 2),
    "the gateway listens",
  );
}

const texts = (said: readonly Said[]): readonly string[] => said.map(({ content }) => content);

/** The first text of ours there that fits. */
async function answer(fake: DiscordFake, channel: string, words: RegExp): Promise<Said> {
  const found = await until(
    () => fake.seen(channel).find(({ content }) => words.test(content)),
    Boolean,
    () => `${String(words)} is answered; there stands ${JSON.stringify(texts(fake.seen(channel)))}`,
  );
  return found as Said;
}

describe("a day with Discord", { timeout: 300_000 }, () => {
  test("direct messages, mentions, threads, commands, buttons, and strangers", async (t) => {
    const { fake, home, start } = await stage(t);
    await start();
    fake.say(direct, "good morning");
    await answer(fake, direct, /You said: good morning/);

    fake.say(general, "not for you");
    const asked = fake.say(general, `<@${bot.id}> what now`);
    const replied = await answer(fake, general, /You said: what now/);
    assert.deepEqual(replied["message_reference"], { message_id: asked.id, fail_if_not_exists: false });
    fake.say(thread, `<@${bot.id}> in a thread`);
    await answer(fake, thread, /You said: in a thread/);
    fake.say(general, `<@${bot.id}> let me in`, { author: bob });

    const status = fake.slash(direct, "status");
    await until(() => fake.receipt(status), Boolean, "the command is taken");
    assert.notEqual(fake.receipt(status), "late");

    fake.say(direct, "please ask me");
    const question = await until(
      () => fake.seen(direct).find(({ components }) => components.length > 0),
      Boolean,
      "there are buttons",
    );
    const [first] = question?.components.flatMap((row) => row.components) ?? [];
    fake.press(direct, question?.id ?? "", first?.label ?? "");
    await answer(fake, direct, new RegExp(first?.label ?? "-", "i"));

    fake.say(direct, "show me markdown");
    await listens(fake);
    assert.ok(!texts(fake.seen(general)).some((text) => /not for you|let me in/.test(text)));
    const { out } = await run(t, home, ["gateway", "status"]);
    assert.match(out, /discord/);
  });

  test("an answer grows in one message and is finished there", async (t) => {
    const { fake, start } = await stage(t);
    await start();
    fake.say(direct, "count to 4 slowly");
    await answer(fake, direct, /Counted to 4/);
    const edits = fake.calls.filter(({ method }) => method === "PATCH");
    assert.ok(edits.length > 0, "it was edited");
    assert.equal(fake.seen(direct).length, 1, JSON.stringify(texts(fake.seen(direct))));
  });

  test("what was written while it was down, and Discord has forgotten it, is answered once and in order", async (t) => {
    const { fake, start } = await stage(t, "    groups: all\n");
    const first = await start();
    for (const channel of [direct, general]) {
      fake.say(channel, "before");
      await answer(fake, channel, /You said: before/);
    }
    await first.end("SIGKILL");
    fake.gateway.forget();
    for (let n = 0; n < 5; n++) for (const channel of [direct, general]) fake.say(channel, `missed ${n}n`);
    const opened = fake.openThread(forum, "a new post");
    fake.say(opened, "missed too");
    await start();
    for (const channel of [direct, general]) {
      await answer(fake, channel, /missed 4n/);
      assert.deepEqual(texts(fake.seen(channel)), [
        "You said: before",
        ...Array.from({ length: 5 }, (_, n) => `You said: missed ${n}n`),
      ]);
    }
    await answer(fake, opened, /You said: missed too/);
    assert.equal(fake.gateway.counts.identified, 2);
  });

  test("a plain restart resumes the session", async (t) => {
    const { fake, start } = await stage(t);
    const first = await start();
    await first.end("SIGTERM");
    fake.say(direct, "meanwhile");
    await start();
    await answer(fake, direct, /You said: meanwhile/);
    assert.deepEqual(fake.gateway.counts, { identified: 1, resumed: 1, invalid: 0 });
  });

  test("a connection that has gone deaf is found by its heartbeats", async (t) => {
    const { fake, start } = await stage(t);
    fake.gateway.heartbeatMs = 500;
    await start();
    fake.gateway.deafen();
    fake.say(direct, "can you hear me");
    await answer(fake, direct, /You said: can you hear me/);
    assert.equal(fake.gateway.counts.identified, 1);
  });

  test("without the right to read messages it says where to switch it on, and does not try again", async (t) => {
    const { fake, home } = await stage(t);
    fake.gateway.refuseWith = 4014;
    await runGateway(t, home);
    const { out } = await until(
      () => run(t, home, ["gateway", "status"]),
      (said) => said.out.includes("MESSAGE CONTENT INTENT"),
      "the status tells what is missing",
      500,
    );
    assert.match(out, /discord/);
    assert.equal(fake.gateway.counts.identified, 1);
  });
});

describe("chaos", { timeout: 900_000 }, () => {
  for (const isForgetful of [false, true]) {
    const what = isForgetful ? "and Discord forgets its sessions" : "and the network breaks";
    test(`killed at random ${what}: 100 messages, none lost, none doubled, in order`, async (t) => {
      const fake = await discordFake();
      atEnd(t, () => fake.close());
      const known = new Set<string>();
      const outcome = await chaos(
        t,
        {
          config: config(fake, "    groups: all\n"),
          async say(channel, text) {
            // What was written before the very first connection is history.
            if (!known.has(channel))
              await until(
                () => fake.gateway.ask(),
                (has) => has !== null && has >= 2,
                "it listens",
                5,
              );
            known.add(channel);
            fake.say(channel, text);
          },
          seen: (channel) => texts(fake.seen(channel)),
          drop: () => fake.gateway.drop(),
          async restart() {
            await fake.unplug();
            // A direct chat is found again only when it was known.
            if (isForgetful && fake.seen(direct).length > 0) fake.gateway.forget();
            await fake.plug();
          },
        },
        { chats: [direct, general, thread], slowly: true },
      );
      t.diagnostic(JSON.stringify(fake.gateway.counts));
      const { lost, doubled, reordered } = outcome;
      assert.deepEqual({ lost, doubled, reordered }, { lost: [], doubled: [], reordered: [] });
    });
  }
});
