// Matrix with the real gateway: stories a user would notice, then chaos. The homeserver is played by the test.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type FakeMatrix, fakeMatrix } from "../fakes/matrix.ts";
import { atEnd, newHome, runGateway, until } from "../process/stage.ts";
import { chaos } from "./chaos.ts";

const ann = "@ann:fake.test";
const room = "!r0:fake.test";

function configOf(fake: FakeMatrix, more = ""): string {
  return `control: { port: 0 }
platforms:
  matrix:
    homeserver: ${fake.url}
    user: "${fake.user}"
    token: ${fake.token}
    allow: ["${ann}"]
${more}`;
}

async function opened(t: TestContext, more?: string) {
  const fake = await fakeMatrix();
  atEnd(t, () => fake.close());
  fake.makeRoom(room, [ann]);
  const home = newHome(t);
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "config.yaml"), configOf(fake, more));
  const shows = (what: string, holds: (texts: readonly string[]) => boolean) =>
    until(() => fake.shown(room).map(({ text }) => text), holds, what);
  return { fake, home, shows };
}

test("a first answer; one that grows is finished in its place; what came while it was down is answered in order", async (t) => {
  const { fake, home, shows } = await opened(t);
  const first = await runGateway(t, home);
  await fake.followed;
  fake.write(room, ann, "ping");
  await shows("the first answer", (texts) => texts.some((one) => one.includes("You said: ping")));
  fake.write(room, ann, "count to 4 slowly");
  await shows("an answer that grew", (texts) => texts.some((one) => one.includes("Counted to 4")));
  assert.equal(fake.shown(room).length, 2, "the growing answer is one message");
  await first.end("SIGKILL");
  for (const text of ["one", "two", "three"]) fake.write(room, ann, text);
  fake.timelineMax = 1;
  await runGateway(t, home);
  const texts = await shows("all answers", (all) => all.length >= 5);
  assert.deepEqual(
    texts.slice(2).map((one) => /You said: (\w+)/.exec(one)?.[1]),
    ["one", "two", "three"],
  );
});

test("strangers get no answer in a group, invitations are taken, and a room that is encrypted is told so once", async (t) => {
  const { fake, home } = await opened(t);
  fake.makeRoom("!g:fake.test", [ann, "@eve:fake.test"]);
  const gateway = await runGateway(t, home);
  await fake.followed;
  fake.write("!g:fake.test", "@eve:fake.test", `${fake.user}: let me in`);
  fake.write("!g:fake.test", ann, "not for you");
  fake.write("!g:fake.test", ann, `${fake.user}: for you`);
  const shown = (place: string) => fake.shown(place).map(({ text }) => text);
  await until(
    () => shown("!g:fake.test"),
    (all) => all.length > 0,
    "the one who may speak is answered",
  );
  fake.makeRoom("!new:fake.test", [ann], true);
  fake.write("!new:fake.test", ann, "before it came");
  const joined = () => fake.write("!new:fake.test", ann, "here");
  await until(
    () => {
      joined();
      return shown("!new:fake.test");
    },
    (all) => all.some((one) => one.includes("You said: here")),
    "an invitation is taken",
    200,
  );
  fake.makeRoom("!secret:fake.test", [ann]);
  for (let n = 0; n < 3; n++) fake.event("!secret:fake.test", ann, "m.room.encrypted", { ciphertext: "x" });
  await until(
    () => shown("!secret:fake.test"),
    (all) => all.some((one) => one.includes("encrypted")),
    "it says that it cannot read",
  );
  await gateway.end("SIGKILL");
  await runGateway(t, home);
  fake.event("!secret:fake.test", ann, "m.room.encrypted", { ciphertext: "y" });
  fake.write(room, ann, "still there?");
  await until(
    () => shown(room),
    (all) => all.some((one) => one.includes("still there?")),
    "it lives",
  );
  assert.equal(shown("!secret:fake.test").length, 1);
  assert.deepEqual(
    shown("!g:fake.test").map((one) => one.includes("You said: for you")),
    [true],
  );
});

test("chaos: kills, stops and a server that goes away lose nothing and double nothing", {
  timeout: 600_000,
}, async (t) => {
  const fake = await fakeMatrix();
  atEnd(t, () => fake.close());
  const chats = ["!a:fake.test", "!b:fake.test", "!c:fake.test", "!d:fake.test"];
  for (const chat of chats) fake.makeRoom(chat, [ann]);
  const found = await chaos(
    t,
    {
      config: configOf(fake),
      async say(chat, text) {
        await fake.followed;
        fake.write(chat, ann, text);
      },
      seen: (chat) => fake.shown(chat).map(({ text }) => text),
      async restart() {
        await fake.goDown();
        await fake.comeBack();
      },
    },
    { chats, messages: 100, kills: 8, slowly: true },
  );
  assert.deepEqual([found.lost, found.doubled, found.reordered], [[], [], []], `seed ${found.seed}`);
});
