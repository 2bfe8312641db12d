// One far side per platform for breaks of the connection: a fake server behind a fault proxy, the people who write there, and
// what they see. State lives here, outside of any gateway.

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { TestContext } from "node:test";
import { bot as discordBot, ann as discordAnn, discordFake, forum, token as discordToken } from "../fakes/discord.ts";
import { fakeMatrix } from "../fakes/matrix.ts";
import { receiver } from "../fakes/receiver.ts";
import { appToken, botToken, openSlack } from "../fakes/slack.ts";
import { type Chat, FakeTelegram } from "../fakes/telegram.ts";
import type { Certificates } from "../kit/certificates.ts";
import { type FaultProxy, faultProxy } from "../kit/fault-proxy.ts";
import { atEnd, patienceMs } from "../process/stage.ts";
import { answerOf, ask, key as apiKey, user } from "./api-stage.ts";

export type Side = {
  readonly platform: PlatformName;
  readonly proxy: FaultProxy;
  /** Its part of config.yaml, below `platforms:`. */
  readonly config: string;
  /** A repeat is recognized there, so everything is seen exactly once. */
  readonly isKeyed: boolean;
  /** Whether the gateway follows it, so that people may begin. */
  isFollowed(): boolean | Promise<boolean>;
  /** Resolves when the message is on its way, whatever the network does. */
  write(person: string, text: string): void | Promise<void>;
  /** Texts of the gateway that stand there now, oldest first. */
  seen(person: string): readonly string[] | Promise<readonly string[]>;
  /** Whether a request carries this text for this person. */
  carries(request: string, person: string, text: string): boolean;
  /** Called with the address of each gateway process that serves. */
  served?(url: string): void;
};

export type Opening = {
  readonly t: TestContext;
  readonly people: readonly string[];
  readonly tls: Certificates | undefined;
  /** How soon Discord asks for a heartbeat; its own interval where it is absent. */
  readonly heartbeatMs?: number;
};

type Open = (opening: Opening) => Promise<Side>;

function proxyTo({ t, tls }: Opening, port: number | (() => number)): Promise<FaultProxy> {
  const target = {
    get port() {
      return typeof port === "number" ? port : port();
    },
  };
  return faultProxy(target, { http: true, ...(tls === undefined ? {} : { tls }) }).then((proxy) => {
    atEnd(t, () => proxy.close());
    return proxy;
  });
}

const portOf = (url: string): number => Number(new URL(url).port);

/** The value that belongs to a person; every person has one. */
function known<T>(map: ReadonlyMap<string, T>, person: string): T {
  return map.get(person) ?? assert.fail(`there is no ${person}`);
}

const telegram: Open = async (opening) => {
  const fake = await FakeTelegram.start();
  atEnd(opening.t, () => fake.close());
  const proxy = await proxyTo(opening, portOf(fake.url));
  const all = new Map(opening.people.map((name) => [name, fake.person(name)]));
  const chatOf = (name: string): Chat => known(all, name).chat;
  return {
    platform: "telegram",
    proxy,
    config: `  telegram:
    token: "${fake.token}"
    apiRoot: ${proxy.url}
    allow: ["*"]
`,
    isKeyed: false,
    isFollowed: () => fake.isPolled,
    write: (name, text) => void known(all, name).write(text),
    seen: (name) => fake.said(chatOf(name)),
    carries: (request, name, text) =>
      /\/sendMessage /.test(request) && request.includes(String(chatOf(name).id)) && request.includes(text),
  };
};

const discord: Open = async (opening) => {
  const fake = await discordFake();
  atEnd(opening.t, () => fake.close());
  if (opening.heartbeatMs !== undefined) fake.gateway.heartbeatMs = opening.heartbeatMs;
  const proxy = await proxyTo(opening, portOf(fake.url));
  fake.publicUrl = proxy.url;
  const threads = new Map(opening.people.map((name) => [name, fake.openThread(forum, name)]));
  return {
    platform: "discord",
    proxy,
    config: `  discord:
    token: "${discordToken}"
    apiRoot: ${proxy.url}
    allow: ["${discordAnn.id}"]
`,
    isKeyed: true,
    isFollowed: () => fake.gateway.isConnected() && (fake.gateway.session()?.seq ?? 0) >= 2,
    write: (name, text) => void fake.say(known(threads, name), `<@${discordBot.id}> ${text}`),
    seen: (name) => fake.seen(known(threads, name)).map(({ content }) => content),
    carries: (request, name, text) => request.includes(known(threads, name)) && request.includes(text),
  };
};

const slack: Open = async (opening) => {
  const fake = await openSlack();
  atEnd(opening.t, () => fake.close());
  const proxy = await proxyTo(opening, fake.port);
  fake.setPublicUrl(proxy.url);
  const users = new Map(opening.people.map((name, n) => [name, `U${n + 1}`]));
  for (const id of users.values()) {
    fake.workspace.people.set(id, id.toLowerCase());
    fake.workspace.direct(id);
  }
  return {
    platform: "slack",
    proxy,
    config: `  slack:
    botToken: ${botToken}
    appToken: ${appToken}
    apiRoot: ${proxy.url}/api
    allow: ["*"]
`,
    isKeyed: true,
    isFollowed: () => fake.sockets() > 0,
    write: (name, text) => void fake.say(`D${known(users, name)}`, text, { user: known(users, name) }),
    seen: (name) => fake.written(`D${known(users, name)}`).map(({ text }) => text),
    carries: (request, name, text) => request.includes(`D${known(users, name)}`) && request.includes(text),
  };
};

const matrix: Open = async (opening) => {
  const fake = await fakeMatrix();
  atEnd(opening.t, () => fake.close());
  const proxy = await proxyTo(opening, portOf(fake.url));
  const ann = "@ann:fake.test";
  const roomOf = (name: string): string => `!${name}:fake.test`;
  for (const name of opening.people) fake.makeRoom(roomOf(name), [ann]);
  let isFollowed = false;
  void fake.followed.then(() => (isFollowed = true));
  return {
    platform: "matrix",
    proxy,
    config: `  matrix:
    homeserver: ${proxy.url}
    user: "${fake.user}"
    token: ${fake.token}
    allow: ["${ann}"]
`,
    isKeyed: true,
    isFollowed: () => isFollowed,
    write: (name, text) => void fake.write(roomOf(name), ann, text),
    seen: (name) => fake.shown(roomOf(name)).map(({ text }) => text),
    carries: (request, name, text) => request.includes(encodeURIComponent(roomOf(name))) && request.includes(text),
  };
};

const hookSecret = "a secret of some length";
const answerSecret = "another secret of some length";

/** Senders of webhooks repeat a call under the same id until it is stored; the break is on the way of the answers. */
const hooks: Open = async (opening) => {
  const fake = await receiver(answerSecret);
  atEnd(opening.t, () => fake.goDown());
  const proxy = await proxyTo(opening, portOf(fake.url));
  let gateway = "";
  let count = 0;
  return {
    platform: "hooks",
    proxy,
    config: `  hooks:
    ci:
      secret: ${hookSecret}
      reply: { url: "${proxy.url}/answers", secret: ${answerSecret} }
`,
    isKeyed: true,
    isFollowed: () => gateway !== "",
    served: (url) => void (gateway = url),
    async write(chat, text) {
      const body = JSON.stringify({ id: `call${count++}`, chat, text });
      await untilStored(
        opening.t,
        async () => {
          const seconds = Math.floor(Date.now() / 1_000);
          const hash = createHmac("sha256", hookSecret).update(`${seconds}.${body}`).digest("hex");
          const headers = { "x-everturn-signature": `t=${seconds},v1=${hash}` };
          const { status } = await fetch(`${gateway}/hooks/ci`, { method: "POST", headers, body });
          return status === 200 || status === 202;
        },
        body,
      );
    },
    seen: (chat) => fake.taken.filter((one) => one.chat === chat).map(({ text }) => text),
    carries: (request, chat, text) => request.includes(`"chat":"${chat}"`) && request.includes(text),
  };
};

/** Callers repeat a request under its key until they have its answer; the break is between them and the gateway. */
const api: Open = async (opening) => {
  let gateway = "";
  // Its callers are part of the test and trust no certificate of it.
  const proxy = await proxyTo({ ...opening, tls: undefined }, () => (gateway === "" ? 1 : portOf(gateway)));
  const answers = new Map(opening.people.map((name): readonly [string, string[]] => [name, []]));
  let count = 0;
  return {
    platform: "api",
    proxy,
    config: `  api:
    keys:
      app: ${apiKey}
`,
    isKeyed: true,
    isFollowed: () => gateway !== "",
    served: (url) => void (gateway = url),
    async write(session, text) {
      const headers = { "idempotency-key": `request${count++}`, "x-everturn-session": session };
      await untilStored(
        opening.t,
        async () => {
          const signal = AbortSignal.timeout(10_000);
          const response = await ask(proxy.url, { messages: [user(text)] }, headers, signal);
          const isAnswer = response.ok && response.headers.get("content-type")?.includes("json") === true;
          if (isAnswer) known(answers, session).push(await answerOf(response));
          return isAnswer;
        },
        text,
      );
    },
    seen: (session) => known(answers, session),
    carries: (request, session, text) => request.includes(session) && request.includes(text),
  };
};

/** A caller that gives up on nothing; it ends with the test. */
async function untilStored(t: TestContext, attempt: () => Promise<boolean>, what: string): Promise<void> {
  let isOver = false;
  atEnd(t, () => void (isOver = true));
  for (const deadline = Date.now() + 4 * patienceMs; Date.now() < deadline && !isOver; await pause(300)) {
    try {
      if (await attempt()) return;
    } catch (error) {
      // Whatever breaks on the way is a reason to repeat it; what was found wrong is not.
      if (error instanceof assert.AssertionError) throw error;
    }
  }
  assert.fail(`${what} was never stored`);
}

export const sides = { telegram, discord, slack, matrix, hooks, api } as const satisfies Readonly<Record<string, Open>>;
export type PlatformName = "telegram" | "discord" | "slack" | "matrix" | "hooks" | "api";
export const platformNames: readonly PlatformName[] = ["telegram", "discord", "slack", "matrix", "hooks", "api"];
