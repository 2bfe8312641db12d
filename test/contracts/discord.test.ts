// The contract of a platform, kept by Discord: the real client libraries against the fake. A message counts as acknowledged
// when a heartbeat says that everything up to it is settled.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Address } from "../../src/core/message.ts";
import { discord } from "../../src/platforms/discord/index.ts";
import { rendered, textMax } from "../../src/platforms/discord/markup.ts";
import { openBlobs } from "../../src/stores/blobs/index.ts";
import type { Failure, OpenedPlatform, Receipt } from "../../src/testing/platform/driver.ts";
import { platformSuite } from "../../src/testing/platform/index.ts";
import { realWorld } from "../../src/world.ts";
import { type DiscordFake, type Mishap, bot, direct, discordFake, general, token } from "../fakes/discord.ts";

platformSuite("discord", openOne);

const home: Address = { platform: "discord", account: bot.id, chat: direct };
const mishaps: Readonly<Record<Exclude<Failure, "denied">, Mishap>> = {
  rate: { limitedMs: 2_000, scope: "shared" },
  server: { status: 503 },
  html: { status: 502, html: true },
  "dropped-before": { drop: "before" },
  "dropped-after": { drop: "after" },
};

async function openOne(): Promise<OpenedPlatform> {
  const fake = await discordFake();
  const folder = mkdtempSync(join(tmpdir(), "everturn-discord-"));
  const around = { world: realWorld(() => undefined), blobs: openBlobs(folder) };
  const open = () => discord({ token, apiRoot: fake.url, streaming: true }, around);
  return {
    platform: open(),
    home,
    ...people(fake),
    stored: async () => undefined,
    limit: { max: textMax, measure: (part) => rendered(part).length },
    reopen: async () => open(),
    hasBacklog: true,
    failNext(kind) {
      if (kind === "denied") fake.isTokenWrong = true;
      else fake.mishap(({ method, path }) => /messages/.test(path) && method !== "GET", mishaps[kind]);
    },
    breakOff: fake.unplug,
    goDown: fake.unplug,
    comeBack: fake.plug,
    async close() {
      await fake.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** What people do and see. */
function people(fake: DiscordFake): Omit<OpenedPlatform, "platform" | "home" | "stored" | "close"> {
  const threads = new Map<string, string>();
  let last = { id: "", receipt: "acknowledged" as Receipt };

  /** Until the client has settled the newest event, or is gone. */
  async function receipt(): Promise<Receipt> {
    const wanted = fake.gateway.session()?.seq ?? 0;
    for (;;) {
      const has = await fake.gateway.ask();
      if (has === null) return "refused";
      if (has >= wanted) return "acknowledged";
    }
  }

  async function said(channel: string, text: string): Promise<Receipt> {
    const { id } = fake.say(channel, text);
    last = { id, receipt: await receipt() };
    return last.receipt;
  }

  return {
    say: (text) => said(direct, text),
    async redeliver() {
      if (last.receipt === "acknowledged") fake.gateway.repeat();
      else while (!fake.gateway.isConnected()) await new Promise((resolve) => setImmediate(resolve));
      return receipt();
    },
    seen: async () => shown(fake, direct),
    sayIn(name, text) {
      const thread = threads.get(name) ?? fake.openThread(general, name);
      threads.set(name, thread);
      return said(thread, text);
    },
    seenIn: async (name) => shown(fake, threads.get(name) ?? ""),
    sayInGroup: (text, called) => said(general, called ? `<@${bot.id}> ${text}` : text),
    sayAsSelf(text) {
      fake.say(direct, text, { author: bot });
      return receipt();
    },
    edit(text) {
      fake.edit(direct, last.id, text);
      return receipt();
    },
    press(choice) {
      fake.press(direct, fake.seen(direct).at(-1)?.id ?? "", choice);
      return receipt();
    },
  };
}

/** An answer in a file stands in front of people as the file; marks that are escaped are shown as they are. */
function shown(fake: DiscordFake, channel: string): readonly string[] {
  return fake.seen(channel).map(({ content, attachments }) => {
    const [file] = attachments;
    return file === undefined ? content.replaceAll(/\\(?=[^\w\s])/g, "") : fake.contentOf(file);
  });
}
