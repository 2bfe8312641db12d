// What the stories of Telegram stand on: the fake of the Bot API, a home with its configuration, and how to wait for answers.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type Chat, FakeTelegram, type Options, type Shown } from "../fakes/telegram.ts";
import { atEnd, newHome, until } from "../process/stage.ts";

export function configOf(fake: FakeTelegram, more = ""): string {
  return `control: { port: 0 }
agent: { backend: echo }
platforms:
  telegram:
    token: "${fake.token}"
    apiRoot: ${fake.url}
    allow: ["*"]
    admins: ["*"]
${more}`;
}

export function homeFor(t: TestContext, config: string): string {
  const home = newHome(t);
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "config.yaml"), config);
  return home;
}

export async function opened(t: TestContext, options: Options = {}, more = "") {
  const fake = await FakeTelegram.start(options);
  atEnd(t, () => fake.close());
  return { fake, home: homeFor(t, configOf(fake, more)) };
}

/** Waits until the bot has said something like it there, and gives it. */
export async function answer(fake: FakeTelegram, chat: Chat, like: RegExp, thread?: number): Promise<Shown> {
  const look = (): Shown | undefined =>
    fake.shown(chat, thread).findLast((one) => one.from === null && like.test(one.text));
  const found = await until(
    look,
    (one) => one !== undefined,
    () => `${chat.id} has ${like}, but it has ${JSON.stringify(fake.said(chat))}`,
  );
  if (found === undefined) throw new Error("it was there");
  return found;
}

/** What was called, by how often. */
export function callsOf(fake: FakeTelegram, method: string): number {
  return fake.calls.filter((one) => one.method === method && one.code === 200).length;
}
