// Platforms as the benchmarks meet them: a fake server, many chats, what people there see in the end, every message that
// reached the wire, and how fast the platform says that may go. One more platform is one more row.

import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { IncomingMessage, ServerResponse } from "node:http";
import { discord } from "../../src/platforms/discord/index.ts";
import { matrix } from "../../src/platforms/matrix/index.ts";
import { slack } from "../../src/platforms/slack/index.ts";
import { telegram } from "../../src/platforms/telegram/index.ts";
import type { Platform, Surroundings } from "../../src/ports/platform.ts";
import { discordFake, general, token } from "../../test/fakes/discord.ts";
import { fakeMatrix } from "../../test/fakes/matrix.ts";
import { discordLimits, slackLimits, synapseLimits } from "../../test/fakes/limits.ts";
import { appToken, botToken, openSlack } from "../../test/fakes/slack.ts";
import { FakeTelegram, publishedRates } from "../../test/fakes/telegram.ts";

/** A message that was sent or edited, when it reached the server. */
export type Wired = { readonly at: number; readonly chat: string; readonly kind: "post" | "edit" };

/** At most `count` within any `ms`, of the whole account or of each chat. */
export type Rate = {
  readonly of: "all" | "chat";
  readonly kind?: Wired["kind"];
  readonly count: number;
  readonly ms: number;
};

export type Crowd = {
  readonly make: (around: Surroundings) => Platform;
  /** Somebody writes in the n-th chat. */
  write(n: number, text: string): void;
  /** What we have said there, as it is seen now. */
  said(n: number): readonly string[];
  wired(): readonly Wired[];
  close(): Promise<void>;
};

export type Meeting = {
  readonly name: string;
  readonly rates: readonly Rate[];
  readonly open: (options: CrowdOptions) => Promise<Crowd>;
  /** Answers at once; fewer where the platform is so slow that it would take a quarter of an hour. */
  readonly crowd: number;
};

export type CrowdOptions = {
  readonly chats: number;
  readonly streaming: boolean;
  /** The server refuses what is faster than it publishes. */
  readonly isLimited: boolean;
};

/** Requests of any server in this process, as they arrive. */
function wiretap(read: (request: IncomingMessage) => Omit<Wired, "at"> | null) {
  const wired: Wired[] = [];
  const hear = (message: unknown): void => {
    const found = read((message as { readonly request: IncomingMessage }).request);
    if (found !== null) wired.push({ at: Date.now(), ...found });
  };
  subscribe("http.server.request.start", hear);
  return { wired, stop: () => unsubscribe("http.server.request.start", hear) };
}

/** Answers of any server in this process: how many, and how many that refuse for speed. Updates that are waited for count not. */
export function countAnswers(): { readonly all: number; readonly refused: number; stop(): void } {
  let [all, refused] = [0, 0];
  const hear = (message: unknown): void => {
    const { request, response } = message as { readonly request: IncomingMessage; readonly response: ServerResponse };
    if (/getUpdates|\/sync\b/.test(request.url ?? "")) return;
    all += 1;
    if (response.statusCode === 429) refused += 1;
  };
  subscribe("http.server.response.finish", hear);
  return {
    get all() {
      return all;
    },
    get refused() {
      return refused;
    },
    stop: () => unsubscribe("http.server.response.finish", hear),
  };
}

async function openTelegramCrowd({ chats, streaming, isLimited }: CrowdOptions): Promise<Crowd> {
  const fake = await FakeTelegram.start(isLimited ? { rates: publishedRates } : {});
  const people = Array.from({ length: chats }, (_, n) => fake.person(`user${n}`));
  const kinds: Readonly<Record<string, Wired["kind"]>> = { sendMessage: "post", editMessageText: "edit" };
  const personOf = (n: number) => people[n] ?? fake.person("nobody");
  return {
    make: (around) => telegram({ apiRoot: fake.url, token: fake.token, streaming, receipts: false }, around).platform,
    write: (n, text) => void personOf(n).write(text),
    said: (n) => fake.said(personOf(n).chat),
    wired: () =>
      fake.calls.flatMap(({ method, params, at }) => {
        const kind = kinds[method];
        return kind === undefined ? [] : [{ at, chat: String(params["chat_id"]), kind }];
      }),
    close: () => fake.close(),
  };
}

async function openDiscordCrowd({ chats, streaming, isLimited }: CrowdOptions): Promise<Crowd> {
  const fake = await discordFake(isLimited ? { limits: discordLimits() } : {});
  const threads = Array.from({ length: chats }, (_, n) => fake.openThread(general, `chat ${n}`));
  const tap = wiretap(({ method, url = "" }) => {
    const [, chat] = /\/channels\/(\d+)\/messages/.exec(url) ?? [];
    if (chat === undefined || (method !== "POST" && method !== "PATCH")) return null;
    return { chat, kind: method === "POST" ? "post" : "edit" };
  });
  return {
    make: (around) => discord({ token, apiRoot: fake.url, streaming }, around),
    write: (n, text) => void fake.say(threads[n] ?? general, text),
    said: (n) => fake.seen(threads[n] ?? general).map((one) => one.content),
    wired: () => tap.wired,
    async close() {
      tap.stop();
      await fake.close();
    },
  };
}

async function openSlackCrowd({ chats, streaming, isLimited }: CrowdOptions): Promise<Crowd> {
  const fake = await openSlack(isLimited ? { limits: slackLimits() } : {});
  const ims = Array.from({ length: chats }, (_, n) => `D${n}`);
  for (const id of ims) fake.workspace.channels.set(id, { id, kind: "im", name: id, messages: [] });
  const kinds: Readonly<Record<string, Wired["kind"]>> = { "chat.postMessage": "post", "chat.update": "edit" };
  return {
    make: (around) => slack({ botToken, appToken, apiRoot: fake.apiRoot, streaming }, around),
    write: (n, text) => void fake.say(`D${n}`, text),
    said: (n) => fake.written(`D${n}`).map((one) => one.text),
    wired: () =>
      fake.calls.flatMap(({ method, at, args }) => {
        const kind = kinds[method];
        return kind === undefined ? [] : [{ at, chat: String(args["channel"]), kind }];
      }),
    close: () => fake.close(),
  };
}

async function openMatrixCrowd({ chats, streaming, isLimited }: CrowdOptions): Promise<Crowd> {
  const fake = await fakeMatrix(isLimited ? { limits: synapseLimits() } : {});
  const rooms = Array.from({ length: chats }, (_, n) => `!room${n}:fake.test`);
  for (const room of rooms) fake.makeRoom(room, ["@ann:fake.test"]);
  const tap = wiretap(({ method, url = "" }) => {
    const [, chat] = /\/rooms\/([^/]+)\/send\/m\.room\.message\//.exec(url) ?? [];
    return chat === undefined || method !== "PUT" ? null : { chat, kind: "post" };
  });
  return {
    make: (around) => matrix({ homeserver: fake.url, user: fake.user, token: fake.token, streaming }, around),
    write: (n, text) => void fake.write(rooms[n] ?? "", "@ann:fake.test", text),
    said: (n) => fake.shown(rooms[n] ?? "").map((one) => one.text),
    wired: () => tap.wired,
    async close() {
      tap.stop();
      await fake.close();
    },
  };
}

/** What their makers publish. Matrix leaves it to each server; Synapse takes ten at once and then one in five seconds. */
export const meetings: readonly Meeting[] = [
  {
    name: "Telegram",
    crowd: 200,
    open: openTelegramCrowd,
    rates: [
      { of: "all", count: 30, ms: 1_000 },
      { of: "chat", count: 3, ms: 3_000 },
    ],
  },
  {
    name: "Discord",
    crowd: 200,
    open: openDiscordCrowd,
    rates: [
      { of: "all", count: 50, ms: 1_000 },
      { of: "chat", count: 5, ms: 5_000 },
    ],
  },
  {
    name: "Slack",
    crowd: 200,
    open: openSlackCrowd,
    rates: [
      { of: "chat", kind: "post", count: 1, ms: 1_000 },
      { of: "all", kind: "edit", count: 50, ms: 60_000 },
    ],
  },
  { name: "Matrix", crowd: 60, open: openMatrixCrowd, rates: [] },
];

/** The most that any window of the rate held, beside what it may hold. */
export function fullest(wired: readonly Wired[], { of, kind, ms }: Rate): number {
  const counted = wired.filter((one) => kind === undefined || one.kind === kind);
  const lists = of === "all" ? [counted] : [...Map.groupBy(counted, (one) => one.chat).values()];
  const fullestOf = (list: readonly Wired[]): number => {
    const times = list.map((one) => one.at).toSorted((a, b) => a - b);
    let most = 0;
    for (let from = 0, to = 0; to < times.length; to++) {
      // Both ends are told in whole milliseconds.
      while ((times[to] ?? 0) - (times[from] ?? 0) >= ms - 1) from++;
      most = Math.max(most, to - from + 1);
    }
    return most;
  };
  return Math.max(0, ...lists.map(fullestOf));
}
