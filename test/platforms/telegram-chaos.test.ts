// Telegram under kills: 100 messages while the gateway dies at random, connections break off and the server goes away. What
// was written is answered, in order. Answers that grow are finished by edits, so no kill doubles them; the others have no key,
// and at most one of them in each chat is doubled by each thing that broke.

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
  breaks = true,
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
      ...(breaks ? { drop: () => fake.cut(), restart: () => restart(fake) } : {}),
    },
    { chats: [...people.keys()], slowly },
  );
  assert.deepEqual({ lost: found.lost, reordered: found.reordered }, { lost: [], reordered: [] }, `seed ${found.seed}`);
  return found;
}

async function restart(fake: FakeTelegram): Promise<void> {
  await fake.down();
  await fake.up();
}

/** Each kill, stop or break may hit one send of each chat. */
function inDoubtMost({ kills, stops, drops }: Outcome, chats: number): number {
  return (kills + stops + drops) * chats;
}

// A break can keep the placeholder from being placed. Then the answer is sent whole, and a kill may double it.
test("answers that grow, killed and stopped: none is lost, none is doubled", { timeout: 900_000 }, async (t) => {
  const { doubled } = await underKills(t, 25, "always", "always", false);
  assert.deepEqual(doubled, []);
});

test("some answers grow, and connections break: none is lost", { timeout: 900_000 }, async (t) => {
  const found = await underKills(t, 5, "always", true);
  assert.ok(found.doubled.length <= inDoubtMost(found, 5));
});

test("no answer grows: none is lost", { timeout: 900_000 }, async (t) => {
  const found = await underKills(t, 5, false, true);
  assert.ok(found.doubled.length <= inDoubtMost(found, 5));
});
