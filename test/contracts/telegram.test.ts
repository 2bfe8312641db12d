// The contract of platforms, kept by Telegram: the real client library against the fake of the Bot API.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sizeOf, textMax } from "../../src/platforms/telegram/markup.ts";
import { telegram } from "../../src/platforms/telegram/index.ts";
import type { Platform } from "../../src/ports/platform.ts";
import { openBlobs } from "../../src/stores/blobs/index.ts";
import { type OpenedPlatform, type Receipt, platformSuite } from "../../src/testing/index.ts";
import { realWorld } from "../../src/world.ts";
import { type Breakage, FakeTelegram, type Json, type Shown, type Update } from "../fakes/telegram.ts";

type Failure = Parameters<NonNullable<OpenedPlatform["failNext"]>>[0];

const breakages: Readonly<Record<Failure, Breakage>> = {
  rate: { type: "answer", code: 429, description: "Too Many Requests: retry after 2", parameters: { retry_after: 2 } },
  server: { type: "answer", code: 500, description: "Internal Server Error" },
  html: { type: "html", when: "before" },
  "dropped-before": { type: "drop", when: "before" },
  "dropped-after": { type: "drop", when: "after" },
  denied: { type: "answer", code: 401, description: "Unauthorized" },
};

async function openTelegram(): Promise<OpenedPlatform> {
  const folder = mkdtempSync(join(tmpdir(), "everturn-contract-"));
  const fake = await FakeTelegram.start();
  const around = { world: realWorld(() => undefined), blobs: openBlobs(folder) };
  const settings = { token: fake.token, apiRoot: fake.url, streaming: true, receipts: false };
  const open = (): Platform => telegram(settings, around).platform;
  const platform = open();
  const ada = fake.person("Ada");
  const group = fake.group("Friends");
  const threads = new Map<string, number>();
  const threadOf = (name: string): number => {
    const known = threads.get(name) ?? threads.size + 50;
    threads.set(name, known);
    return known;
  };
  let last: { readonly update: Update; readonly message: Json; receipt: Receipt | null } | null = null;
  const after = async (message: Json, update = fake.updateOf(message)): Promise<Receipt> => {
    const told = { update, message, receipt: null as Receipt | null };
    last = told;
    told.receipt = await fake.receipt(update);
    return told.receipt;
  };
  const read = (shown: readonly Shown[]): readonly string[] =>
    shown.flatMap(({ from, text, file }) => (from === null ? [file?.content.toString() ?? text] : []));
  return {
    platform,
    home: { platform: "telegram", account: platform.account, chat: String(ada.id) },
    say: (text) => after(ada.write(text)),
    redeliver() {
      if (last === null) throw new Error("nothing was said");
      // What was refused is still there, and comes by itself.
      return last.receipt === "refused" ? fake.receipt(last.update) : fake.receipt(fake.repeat(last.update));
    },
    stored: async () => undefined,
    seen: async () => read(fake.shown(ada.chat)),
    breakOff: () => fake.down(),
    async close() {
      await fake.close();
      rmSync(folder, { recursive: true, force: true });
    },
    limit: { max: textMax, measure: sizeOf },
    reopen: async () => open(),
    hasBacklog: true,
    sayIn: (thread, text) => after(ada.write(text, { thread: threadOf(thread) })),
    seenIn: async (thread) => read(fake.shown(ada.chat, threadOf(thread))),
    sayInGroup: (text, called) => after(ada.write(called ? `@everturn_bot ${text}` : text, { in: group })),
    async edit(text) {
      if (last === null) throw new Error("nothing was said");
      const { message } = last;
      ada.edit(message, text);
      return fake.receipt(fake.newest());
    },
    press(choice) {
      const question = fake.shown(ada.chat).at(-1);
      if (question === undefined) throw new Error("nothing is shown");
      ada.press(question, choice);
      return after({}, fake.newest());
    },
    failNext(kind) {
      let isDone = false;
      fake.breaks = (method) => {
        if (kind === "denied") return breakages.denied;
        if (isDone || !/^(?:send(?!ChatAction)|edit)/.test(method)) return null;
        isDone = true;
        return breakages[kind];
      };
    },
    goDown: () => fake.down(),
    comeBack: () => fake.up(),
  };
}

platformSuite("telegram", openTelegram);
