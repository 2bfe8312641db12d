// Platforms out there: how long a message takes from their server into the store and an answer from the store to the wire;
// whether many growing answers at once stay inside what the platform allows; and what a gateway costs that has all of them
// configured and nothing to do.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { textOf } from "../src/core/message.ts";
import type { Agent } from "../src/ports/agent.ts";
import { telegram } from "../src/platforms/telegram/index.ts";
import { FakeTelegram } from "../test/fakes/telegram.ts";
import { type Meeting, countAnswers, fullest, meetings } from "./far/crowds.ts";
import { openFar } from "./far/stage.ts";
import { median } from "./load.ts";
import { end, newHome, removeHome, residentMb, start, until } from "./process.ts";

const atOnce: Agent = {
  tools: [],
  step: async () => ({ type: "said", text: "an answer", calls: [], final: true }),
  close: async () => undefined,
};

export type WireFigures = { readonly takenMs: number; readonly leftMs: number };

/** One message after another, each in a chat of its own, slowly enough that no rate is met. */
export async function measureWire(rounds = 150): Promise<WireFigures> {
  const storedAt = new Map<string, number>();
  const arrived = new Map<string, PromiseWithResolvers<number>>();
  const arrivalIn = (chat: string): PromiseWithResolvers<number> => {
    const found = arrived.get(chat) ?? Promise.withResolvers<number>();
    arrived.set(chat, found);
    return found;
  };
  const fake = await FakeTelegram.start({
    breaks(method, params) {
      if (method === "sendMessage") arrivalIn(String(params["chat_id"])).resolve(performance.now());
      return null;
    },
  });
  const settings = { apiRoot: fake.url, token: fake.token, streaming: true, receipts: false };
  const bench = await openFar((around) => telegram(settings, around).platform, {
    agent: atOnce,
    onStored(changes) {
      for (const change of changes)
        if ("put" in change && change.put === "item" && change.item.now.state === "sending")
          storedAt.set(change.item.to.chat, performance.now());
    },
  });
  const taken: number[] = [];
  const left: number[] = [];
  await until(() => fake.isPolled, "it polls");
  for (let round = 0; round < rounds; round++) {
    const person = fake.person(`user${round}`);
    const from = performance.now();
    person.write("hello");
    await fake.receipt(fake.newest());
    const takenMs = performance.now() - from;
    const chat = String(person.id);
    const leftMs = (await arrivalIn(chat).promise) - (storedAt.get(chat) ?? Number.NaN);
    // The first ones load and warm up what the others use.
    if (round >= rounds / 5) {
      taken.push(takenMs);
      left.push(leftMs);
    }
    await sleep(50);
  }
  await bench.stop();
  await fake.close();
  return { takenMs: median(taken), leftMs: median(left) };
}

const streamMs = 6_000;
const growEveryMs = 200;

/** Answers that grow for a while; the last word names its chat. */
const growing: Agent = {
  tools: [],
  async step({ input, draft, pause }) {
    const name = /\d+/.exec(textOf(input.body))?.[0] ?? "?";
    let text = "";
    for (let i = 0; i < streamMs / growEveryMs; i++) {
      text += `word ${i} `;
      draft(text);
      await pause(growEveryMs);
    }
    return { type: "said", text: `${text}and done in chat ${name}.`, calls: [], final: true };
  },
  close: async () => undefined,
};

export type StreamFigures = {
  readonly name: string;
  readonly lost: number;
  readonly doubled: number;
  readonly chats: number;
  readonly requests: number;
  /** How many of them the server refused for speed. */
  readonly refused: number;
  /** The fullest window of each published rate, and what it may hold. */
  readonly rates: readonly { readonly of: string; readonly most: number; readonly may: number }[];
  readonly tookMs: number;
};

/** All chats write at once; over when everybody has their whole answer. */
export async function measureStreaming({ name, open, rates, crowd: chats }: Meeting): Promise<StreamFigures> {
  const answers = countAnswers();
  const crowd = await open({ chats, streaming: true, isLimited: true });
  const bench = await openFar(crowd.make, { agent: growing });
  const from = performance.now();
  for (let n = 0; n < chats; n++) crowd.write(n, `go ${n}`);
  const all = Array.from({ length: chats }, (_, n) => n);
  const isWhole = (text: string, n: number) => text.trimEnd().endsWith(`and done in chat ${n}.`);
  const isAnswered = (n: number) => crowd.said(n).some((text) => isWhole(text, n));
  for (const limit = from + patienceMs; !all.every(isAnswered) && performance.now() < limit; ) await sleep(100);
  const tookMs = performance.now() - from;
  // A double would come now.
  await sleep(3_000);
  const wired = crowd.wired();
  const figures: StreamFigures = {
    name,
    lost: all.filter((n) => !isAnswered(n)).length,
    doubled: all.filter((n) => crowd.said(n).length > 1).length,
    chats,
    requests: answers.all,
    refused: answers.refused,
    rates: rates.map((rate) => ({
      of: `${rate.kind ?? "message"}s ${rate.of === "all" ? "in all" : "a chat"} in ${rate.ms / 1_000} s`,
      most: fullest(wired, rate),
      may: rate.count,
    })),
    tookMs,
  };
  answers.stop();
  await bench.stop();
  await crowd.close();
  return figures;
}

const patienceMs = 15 * 60_000;

/** Nobody answers there, as on a day without a network: the worst that idle can be. One more platform is one more line. */
const nowhere = "http://127.0.0.1:1";
const idle: Readonly<Record<string, object>> = {
  telegram: { token: "1:idle", apiRoot: nowhere, allow: ["1"] },
  discord: { token: "MTIzNDU2Nzg5MDEyMzQ1Njc4.AAAAAA.idle", apiRoot: nowhere, allow: ["1"] },
  slack: { botToken: "xoxb-1-idle", appToken: "xapp-1-A0IDLE-1-idle", apiRoot: nowhere, allow: ["1"] },
  matrix: { homeserver: nowhere, user: "@bot:idle", token: "idle-matrix-token", allow: ["1"] },
  irc: { host: "127.0.0.1", port: 1, nick: "idle", channels: ["#idle"], allow: ["ann"] },
  email: {
    address: "bot@example.org",
    authServer: "mx.example.org",
    imap: { host: "127.0.0.1", port: 1, password: "idle-password" },
    smtp: { host: "127.0.0.1", port: 1, password: "idle-password" },
    allow: ["1"],
  },
};

export type IdleFigures = {
  readonly names: readonly string[];
  readonly mb: number;
  readonly noneMb: number;
  readonly readyMs: number;
  readonly noneMs: number;
  readonly ratio: number;
};

export async function measureIdle(rounds = 7): Promise<IdleFigures> {
  const none = newHome();
  const all = newHome();
  // YAML takes JSON as it is. Both homes have a file, because reading one costs a start something too.
  writeFileSync(join(none, "config.yaml"), JSON.stringify({ platforms: {} }));
  writeFileSync(join(all, "config.yaml"), JSON.stringify({ platforms: idle }));
  const found = {
    none: { ready: [] as number[], mb: [] as number[] },
    all: { ready: [] as number[], mb: [] as number[] },
  };
  for (let round = 0; round <= rounds; round++) {
    for (const [kind, home] of [
      ["none", none],
      ["all", all],
    ] as const) {
      const one = await start(home);
      const isMeasured = round % 3 === 1;
      if (isMeasured) await sleep(5_000);
      if (isMeasured) found[kind].mb.push(residentMb(one.child.pid ?? 0));
      // The first start makes the home and the compile cache.
      if (round > 0) found[kind].ready.push(one.readyMs);
      else await sleep(2_000);
      await end(one, "SIGTERM");
    }
  }
  removeHome(none);
  removeHome(all);
  const [readyMs, noneMs] = [median(found.all.ready), median(found.none.ready)];
  const [mb, noneMb] = [median(found.all.mb), median(found.none.mb)];
  return { names: Object.keys(idle), mb, noneMb, readyMs, noneMs, ratio: readyMs / noneMs };
}

if (import.meta.main) {
  console.log("wire", await measureWire());
  for (const meeting of meetings) console.log("streaming", await measureStreaming(meeting));
  console.log("idle", await measureIdle());
}
