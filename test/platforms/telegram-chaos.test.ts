// Telegram under kills: 100 messages while the gateway dies at random, connections break off and the server goes away. What
// was written is answered, in order. Answers that grow are finished by edits, so none of them is doubled; the others have no key, and at
// most one of them is doubled by each thing that broke.

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { FakeTelegram } from "../fakes/telegram.ts";
import { atEnd } from "../process/stage.ts";
import { type Outcome, type Plan, chaos } from "./chaos.ts";
import { configOf } from "./telegram-stage.ts";

async function underKills(
  t: TestContext,
  chats: number,
  streaming: boolean | "always",
  slowly: NonNullable<Plan["slowly"]>,
): Promise<Outcome> {
  const fake = await FakeTelegram.start();
  atEnd(t, () => fake.close());
  const people = new Map(Array.from({ length: chats }, (_, n) => [`p${n}`, fake.person(`P${n}`)]));
  const personOf = (chat: string) => people.get(chat) ?? assert.fail(chat);
  const found = await chaos(
    t,
    {
      config: configOf(fake, `    streaming: ${streaming}\n`),
      say: (chat, text) => void personOf(chat).write(text),
      seen: (chat) => fake.said(personOf(chat).chat),
      drop: () => fake.cut(),
      async restart() {
        await fake.down();
        await fake.up();
      },
    },
    { chats: [...people.keys()], slowly },
  );
  assert.deepEqual({ lost: found.lost, reordered: found.reordered }, { lost: [], reordered: [] }, `seed ${found.seed}`);
  return found;
}

/** Each kill, stop or break may hit one send of each chat. */
function inDoubtMost({ kills, stops, drops }: Outcome, chats: number): number {
  return (kills + stops + drops) * chats;
}

test("answers that grow: none is lost, none is doubled", { timeout: 900_000 }, async (t) => {
  const { doubled } = await underKills(t, 25, "always", "always");
  assert.deepEqual(doubled, []);
});

test("some answers grow: none is lost, and only others may be doubled", { timeout: 900_000 }, async (t) => {
  const found = await underKills(t, 5, "always", true);
  assert.deepEqual(
    found.doubled.filter((one) => one.includes("count to")),
    [],
  );
  assert.ok(found.doubled.length <= inDoubtMost(found, 5));
});

test("no answer grows: none is lost", { timeout: 900_000 }, async (t) => {
  const found = await underKills(t, 5, false, true);
  assert.ok(found.doubled.length <= inDoubtMost(found, 5));
});
