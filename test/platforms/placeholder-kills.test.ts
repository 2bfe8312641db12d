// A real gateway that is killed after the platform has the placeholder of a growing answer and before its id is known: the
// next process finds it, and the answer is one message. Telegram cannot be asked for it, so it is not here.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, describe, test } from "node:test";
import { bot as discordBot, ann as discordAnn, discordFake, forum, token as discordToken } from "../fakes/discord.ts";
import { fakeMatrix } from "../fakes/matrix.ts";
import { appToken, botToken, openSlack } from "../fakes/slack.ts";
import { type FaultProxy, faultProxy } from "../kit/fault-proxy.ts";
import { atEnd, newHome, patienceMs, runGateway, until } from "../process/stage.ts";

type Far = {
  readonly config: string;
  isFollowed(): boolean;
  write(text: string): void;
  seen(): readonly string[];
};

async function proxyTo(t: TestContext, port: number): Promise<FaultProxy> {
  const proxy = await faultProxy({ port }, { http: true });
  atEnd(t, () => proxy.close());
  return proxy;
}

const platforms: Readonly<Record<string, (t: TestContext) => Promise<Far & { readonly proxy: FaultProxy }>>> = {
  async matrix(t) {
    const fake = await fakeMatrix();
    atEnd(t, () => fake.close());
    const proxy = await proxyTo(t, Number(new URL(fake.url).port));
    const [ann, room] = ["@ann:fake.test", "!r:fake.test"];
    fake.makeRoom(room, [ann]);
    let isFollowed = false;
    void fake.followed.then(() => (isFollowed = true));
    return {
      proxy,
      config: `homeserver: ${proxy.url}\n    user: "${fake.user}"\n    token: ${fake.token}\n    allow: ["${ann}"]`,
      isFollowed: () => isFollowed,
      write: (text) => void fake.write(room, ann, text),
      seen: () => fake.shown(room).map(({ text }) => text),
    };
  },
  async discord(t) {
    const fake = await discordFake();
    atEnd(t, () => fake.close());
    const proxy = await proxyTo(t, Number(new URL(fake.url).port));
    const thread = fake.openThread(forum, "talk");
    return {
      proxy,
      config: `token: "${discordToken}"\n    apiRoot: ${proxy.url}\n    allow: ["${discordAnn.id}"]`,
      isFollowed: () => fake.gateway.isConnected() && (fake.gateway.session()?.seq ?? 0) >= 2,
      write: (text) => void fake.say(thread, `<@${discordBot.id}> ${text}`),
      seen: () => fake.seen(thread).map(({ content }) => content),
    };
  },
  async slack(t) {
    const fake = await openSlack();
    atEnd(t, () => fake.close());
    const proxy = await proxyTo(t, fake.port);
    fake.workspace.people.set("U1", "u1");
    fake.workspace.direct("U1");
    return {
      proxy,
      config: `botToken: ${botToken}\n    appToken: ${appToken}\n    apiRoot: ${proxy.url}/api\n    allow: ["*"]`,
      isFollowed: () => fake.sockets() > 0,
      write: (text) => void fake.say("DU1", text, { user: "U1" }),
      seen: () => fake.written("DU1").map(({ text }) => text),
    };
  },
};

/** The placeholder in the bytes of a request, as JSON and as a form. */
const placeholder = /\xe2\x80\xa6|%E2%80%A6/;

describe("killed while a placeholder is placed", { concurrency: 3, timeout: 5 * patienceMs }, () => {
  for (const [name, open] of Object.entries(platforms))
    test(name, { timeout: 4 * patienceMs }, async (t) => {
      const { proxy, config, isFollowed, write, seen } = await open(t);
      const home = newHome(t);
      mkdirSync(home, { recursive: true, mode: 0o700 });
      const whole = `agent: { backend: echo }\nplatforms:\n  ${name}:\n    ${config}\n    streaming: always\n`;
      writeFileSync(join(home, "config.yaml"), whole, { mode: 0o600 });
      const first = await runGateway(t, home);
      await until(isFollowed, Boolean, `${name} is followed`);
      // Its answer never comes back, so its id stays unknown.
      proxy.begin({ type: "stall", when: "after", on: placeholder });
      write("count to 3 slowly");
      await until(seen, (texts) => texts.length === 1, "the placeholder stands there");
      await first.end("SIGKILL");
      assert.deepEqual(seen(), ["…"]);
      proxy.end();
      await runGateway(t, home);
      const isOver = (texts: readonly string[]) => texts.some((text) => text.includes("Counted to 3"));
      assert.equal((await until(seen, isOver, "the answer")).length, 1, JSON.stringify(seen()));
    });
});
