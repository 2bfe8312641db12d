// What a user notices: how long it takes from a message at the platform until the whole answer can be read there. The model
// answers at once, the far side too, and one chat is served at a time; with streaming and without.

import { setTimeout as sleep } from "node:timers/promises";
import type { Agent } from "../src/ports/agent.ts";
import { irc } from "../src/platforms/irc/index.ts";
import { email } from "../src/platforms/email/index.ts";
import type { Platform, Surroundings } from "../src/ports/platform.ts";
import { fakeIrc } from "../test/fakes/irc.ts";
import { openMail, settingsOf, whyNoMail } from "../test/fakes/mail.ts";
import { meetings } from "./far/crowds.ts";
import { openFar } from "./far/stage.ts";
import { quantile } from "./load.ts";

/** Shows something before it answers, as a model does that streams. */
const instant: Agent = {
  tools: [],
  async step({ draft }) {
    draft("an");
    return { type: "said", text: "an answer", calls: [], final: true };
  },
  close: async () => undefined,
};

export type ReadableFigures = { readonly p50: number; readonly p95: number };

type Scene = {
  readonly make: (around: Surroundings) => Platform;
  /** Resolves when the platform has the message. */
  write(chat: number): void | Promise<unknown>;
  /** How many whole answers can be read there. */
  readable(chat: number): number | Promise<number>;
  close(): Promise<void>;
};

/** Several chats in turn, so slowly that no rate is met. */
const chats = 10;

/** Round by round in each scene, so that the load of the machine is the same for all of them. */
async function measure(scenes: readonly Scene[], rounds: number, pauseMs: number): Promise<readonly ReadableFigures[]> {
  const open = await Promise.all(
    scenes.map(async (scene) => ({
      scene,
      bench: await openFar(scene.make, { agent: instant }),
      took: [] as number[],
    })),
  );
  for (let round = 0; round < rounds; round++) {
    for (const { scene, took } of open) {
      took.push(await answerTime(scene, round % chats));
      await sleep(pauseMs);
    }
  }
  for (const { scene, bench } of open) {
    await bench.stop();
    await scene.close();
  }
  // The first ones load and warm up what the others use.
  const warm = open.map(({ took }) => took.slice(Math.floor(rounds / 5)));
  return warm.map((took) => ({ p50: quantile(took, 0.5), p95: quantile(took, 0.95) }));
}

async function answerTime({ write, readable }: Scene, chat: number): Promise<number> {
  const before = await readable(chat);
  await write(chat);
  const from = performance.now();
  while ((await readable(chat)) === before) await sleep(1);
  return performance.now() - from;
}

export type ReadablePlatform = {
  readonly name: string;
  readonly whole: ReadableFigures;
  /** Null where the platform shows no previews. */
  readonly streamed: ReadableFigures | null;
  /** Whether the far side answers at once; else the figure is mostly its own time. */
  readonly isInstant: boolean;
};

export async function* measureReadable(rounds = 60): AsyncGenerator<ReadablePlatform> {
  for (const { name, open } of meetings) {
    const scene = async (streaming: boolean): Promise<Scene> => {
      const crowd = await open({ chats, streaming, isLimited: false });
      const readable = (chat: number) => crowd.said(chat).filter((text) => text.trim() === "an answer").length;
      return { ...crowd, write: (chat: number) => crowd.write(chat, "hello"), readable };
    };
    const [whole, streamed] = await measure([await scene(false), await scene(true)], rounds, 125);
    yield { name, whole: whole as ReadableFigures, streamed: streamed ?? null, isInstant: true };
  }
  for (const [name, open, count, pauseMs] of others) {
    const [whole] = await measure([await open()], count, pauseMs);
    yield { name, whole: whole as ReadableFigures, streamed: null, isInstant: name !== "E-mail" };
  }
}

async function ircScene(): Promise<Scene> {
  const server = await fakeIrc();
  const settings = {
    host: "127.0.0.1",
    port: server.port,
    tls: false,
    nick: "ever",
    realName: "Everturn",
    password: "right",
    sasl: null,
    channels: ["#talk"],
    lineEveryMs: 0,
    askAccounts: false,
  };
  return {
    make: (around) => irc(settings, around),
    write: (chat) => void server.line(`user${chat}`, "ever", "hello"),
    readable: (chat) =>
      server.said.filter(({ target, text }) => target === `user${chat}` && text === "an answer").length,
    close: () => server.close(),
  };
}

/** Real servers: most of the time is theirs. */
async function mailScene(): Promise<Scene> {
  const mail = await openMail();
  return {
    make: (around) => email(settingsOf(mail), around),
    write: (chat) => mail.write(`u${chat}@${mail.domain}`, `bot@${mail.domain}`, "hello"),
    readable: async (chat) => (await mail.read(`u${chat}`)).length,
    close: () => mail.close(),
  };
}

/** Platforms without previews: rounds, and the pause that keeps them inside their rate. */
const others: readonly (readonly [string, () => Promise<Scene>, number, number])[] = [
  ["IRC", ircScene, 30, 500],
  ...(whyNoMail() === null ? ([["E-mail", mailScene, 15, 1_100]] as const) : []),
];

if (import.meta.main) for await (const one of measureReadable()) console.log(one);
