// The contract of a platform, kept by Slack: the real client libraries against the fake.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Address } from "../../src/core/message.ts";
import { slack } from "../../src/platforms/slack/index.ts";
import { textMax, toMrkdwn } from "../../src/platforms/slack/markup.ts";
import { openBlobs } from "../../src/stores/blobs/index.ts";
import { platformSuite } from "../../src/testing/platform/index.ts";
import type { Failure, OpenedPlatform, Receipt } from "../../src/testing/platform/driver.ts";
import { realWorld } from "../../src/world.ts";
import { type Failure as SlackFailure, type SlackFake, appToken, bot, botToken, openSlack } from "../fakes/slack.ts";

platformSuite("slack", openOne);

const chat = "DU1";
const home: Address = { platform: "slack", account: bot.app, chat };
const failures: Readonly<Record<Exclude<Failure, "denied">, SlackFailure>> = {
  rate: { retryAfter: 2 },
  server: { status: 503 },
  html: "html",
  "dropped-before": "drop",
  "dropped-after": "drop after",
};

async function openOne(): Promise<OpenedPlatform> {
  const fake = await openSlack();
  fake.workspace.direct("U1");
  fake.workspace.open("C1", "public_channel", "general");
  const folder = mkdtempSync(join(tmpdir(), "everturn-slack-"));
  const around = { world: realWorld(() => undefined), blobs: openBlobs(folder) };
  const open = () => slack({ botToken, appToken, apiRoot: fake.apiRoot, streaming: true }, around);
  return {
    platform: open(),
    home,
    ...people(fake),
    stored: async () => undefined,
    limit: { max: textMax, measure: (part) => toMrkdwn(part).length },
    reopen: async () => open(),
    hasBacklog: true,
    failNext(kind) {
      if (kind === "denied") return fake.fail("*", { code: "invalid_auth" }, Number.POSITIVE_INFINITY);
      fake.fail(["chat.postMessage", "chat.update"], failures[kind]);
    },
    breakOff: () => fake.down(),
    goDown: () => fake.down(),
    comeBack: () => fake.up(),
    async close() {
      await fake.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** What people do and see. */
function people(fake: SlackFake): Omit<OpenedPlatform, "platform" | "home" | "stored" | "close"> {
  const threads = new Map<string, string>();
  let last = { channel: chat, ts: "" };
  let again: () => Promise<readonly Receipt[]> = async () => [];
  const said = async (channel: string, text: string, more: Parameters<SlackFake["say"]>[2] = {}): Promise<Receipt> => {
    const { ts, receipts } = fake.say(channel, text, more);
    last = { channel, ts };
    again = () => fake.repeat(channel, ts);
    return all(await receipts);
  };
  return {
    say: (text) => said(chat, text),
    redeliver: async () => all(await again()),
    seen: async () => shown(fake, fake.written(chat)),
    async sayIn(thread, text) {
      const root = threads.get(thread);
      const receipt = await said("C1", text, root === undefined ? {} : { thread: root });
      if (root === undefined) threads.set(thread, last.ts);
      return receipt;
    },
    seenIn: async (thread) =>
      shown(
        fake,
        fake.written("C1").filter((one) => one.thread_ts === threads.get(thread)),
      ),
    sayInGroup: (text, called) => said("C1", called ? `<@${bot.user}> ${text}` : text, { raw: true }),
    sayAsSelf: (text) => said(chat, text, { user: bot.user }),
    edit: (text) => fake.edit(last.channel, last.ts, text),
    async press(choice) {
      const asked = fake.written(chat).at(-1);
      const row = asked?.blocks?.find(({ type }) => type === "actions") as { elements: readonly Button[] } | undefined;
      const index = row?.elements.findIndex((one) => one.text.text === choice) ?? -1;
      const pressed = fake.press(chat, asked?.ts ?? "", index);
      again = () => fake.repeatLast();
      return pressed;
    },
  };
}

type Button = { readonly text: { readonly text: string } };

/** An answer in a file stands in front of people as the file. */
function shown(fake: SlackFake, messages: ReturnType<SlackFake["written"]>): readonly string[] {
  const plain = (text: string): string => text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
  return messages.flatMap(({ text, files }) => [
    ...(text === "" ? [] : [plain(text)]),
    ...(files ?? []).map(fake.contentOf),
  ]);
}

function all(receipts: readonly Receipt[]): Receipt {
  return receipts.every((one) => one === "acknowledged") ? "acknowledged" : "refused";
}
