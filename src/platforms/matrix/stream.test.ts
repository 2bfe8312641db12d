// What one bad room, picture or gap may cost the others: nothing.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type FakeMatrix, fakeMatrix } from "../../../test/fakes/matrix.ts";
import { type Inbound, textOf } from "../../core/message.ts";
import { openBlobs } from "../../stores/blobs/index.ts";
import { inletOf } from "../../testing/platform/steps.ts";
import { realWorld } from "../../world.ts";
import { matrix } from "./index.ts";

const ann = "@ann:fake.test";
const room = "!home:fake.test";

async function opened(t: TestContext, hears = true) {
  const folder = mkdtempSync(join(tmpdir(), "everturn-matrix-"));
  const fake = await fakeMatrix();
  fake.makeRoom(room, [ann]);
  // Pauses take no time here.
  const world = { ...realWorld(() => undefined), sleep: () => new Promise<void>((done) => setImmediate(done)) };
  const settings = { homeserver: fake.url, user: fake.user, token: fake.token, streaming: false };
  const platform = matrix(settings, { world, blobs: openBlobs(folder) });
  const stop = new AbortController();
  const taken: Inbound[] = [];
  const cursors: string[] = [];
  const waiting = new Set<() => void>();
  const inlet = inletOf(
    async (message) => {
      taken.push(message);
      for (const look of waiting) look();
      return "accepted";
    },
    { hears: async () => hears, moved: async (cursor) => void cursors.push(cursor) },
  );
  const ended = platform.listen(inlet, null, stop.signal);
  t.after(async () => {
    stop.abort();
    await ended;
    await fake.close();
    rmSync(folder, { recursive: true, force: true });
  });
  await fake.followed;
  const count = (messages: number) =>
    new Promise<readonly string[]>((resolve) => {
      const look = () => taken.length >= messages && resolve(taken.map(({ body }) => textOf(body)));
      waiting.add(look);
      look();
    });
  return { fake, taken, cursors, count };
}

const picture = (fake: FakeMatrix) => ({ msgtype: "m.image", url: fake.addMedia(new Uint8Array([1, 2, 3])) });

test("an invitation that cannot be taken holds nobody up, and is taken when it can be", async (t) => {
  const { fake, count, cursors } = await opened(t);
  for (let n = 0; n < 3; n++) fake.failNext("server", /\/join\//);
  fake.makeRoom("!far:fake.test", [ann], true);
  fake.write(room, ann, "are you there?");
  assert.deepEqual(await count(1), ["are you there?"]);
  // Until it is taken it is kept with the place in the stream.
  while (!fake.isIn("!far:fake.test")) await new Promise((done) => setTimeout(done, 5));
  fake.write("!far:fake.test", ann, "welcome");
  assert.deepEqual(await count(2), ["are you there?", "welcome"]);
  assert.ok(cursors.every((cursor) => (JSON.parse(cursor) as { invited: string[] }).invited.length <= 1));
});

test("a picture that nobody can give us becomes a line, and what stands behind it is read", async (t) => {
  const { fake, count } = await opened(t);
  for (let n = 0; n < 3; n++) fake.failNext("server", /media\/download/);
  fake.write(room, ann, "cat.png", picture(fake));
  fake.write(room, ann, "and this?");
  const [first = "", second] = await count(2);
  assert.match(first, /The file cat\.png could not be fetched/);
  assert.equal(second, "and this?");
});

test("a failure that passes costs nothing, and what strangers send along is not fetched", async (t) => {
  const friend = await opened(t);
  friend.fake.failNext("server", /media\/download/);
  friend.fake.write(room, ann, "cat.png", picture(friend.fake));
  await friend.count(1);
  const [kept] = friend.taken;
  assert.equal(kept?.body.kind === "text" && kept.body.files.length, 1);
  const stranger = await opened(t, false);
  stranger.fake.write(room, ann, "cat.png", picture(stranger.fake));
  await stranger.count(1);
  const [left] = stranger.taken;
  assert.equal(left?.body.kind === "text" && left.body.files.length, 0);
});
