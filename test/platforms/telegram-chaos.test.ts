// Telegram under kills: 100 messages while the gateway dies at random, connections break off and the server goes away. What
// was written is answered; answers that grow are finished by edits, so none of them is doubled.

import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeTelegram } from "../fakes/telegram.ts";
import { atEnd } from "../process/stage.ts";
import { chaos } from "./chaos.ts";
import { configOf } from "./telegram-stage.ts";

for (const isStreaming of [true, false]) {
  const name = isStreaming ? "with streaming: none lost, none doubled" : "without streaming: none lost";
  test(`kills at random, ${name}`, { timeout: 900_000 }, async (t) => {
    const fake = await FakeTelegram.start();
    atEnd(t, () => fake.close());
    const people = new Map(["ada", "bob", "eve", "joe", "kim"].map((one) => [one, fake.person(one)]));
    const personOf = (chat: string) => people.get(chat) ?? assert.fail(chat);
    const found = await chaos(
      t,
      {
        config: configOf(fake, `    streaming: ${isStreaming}\n`),
        say: (chat, text) => void personOf(chat).write(text),
        seen: (chat) => fake.said(personOf(chat).chat),
        drop: () => fake.cut(),
        async restart() {
          await fake.down();
          await fake.up();
        },
      },
      { chats: [...people.keys()], slowly: true },
    );
    assert.deepEqual(found.lost, []);
    if (isStreaming) assert.deepEqual([found.doubled, found.reordered], [[], []]);
    t.diagnostic(`doubled: ${JSON.stringify(found.doubled)}`);
  });
}
