// The contract of platforms, kept by Matrix against a homeserver of our own.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { matrix } from "../../src/platforms/matrix/index.ts";
import type { Platform } from "../../src/ports/platform.ts";
import { openBlobs } from "../../src/stores/blobs/index.ts";
import { type OpenedPlatform, type Receipt, platformSuite } from "../../src/testing/index.ts";
import { realWorld } from "../../src/world.ts";
import { fakeMatrix } from "../fakes/matrix.ts";

const ann = "@ann:fake.test";
const room = "!home:fake.test";
const group = "!group:fake.test";

async function open(): Promise<OpenedPlatform> {
  const folder = mkdtempSync(join(tmpdir(), "everturn-matrix-"));
  const fake = await fakeMatrix();
  fake.makeRoom(room, [ann]);
  fake.makeRoom(group, [ann, "@bob:fake.test"]);
  const around = { world: realWorld(() => undefined), blobs: openBlobs(folder) };
  const settings = { homeserver: fake.url, user: fake.user, token: fake.token, streaming: true };
  const threads = new Map<string, string>();
  let last = "";
  const { watched, isListening } = watching();
  let receipt: Receipt = "refused";
  const told = async (event: string): Promise<Receipt> => (receipt = await fake.receipt(event, isListening));
  const said = (event: string): Promise<Receipt> => {
    last = event;
    return told(event);
  };
  const textsIn = (thread: string | null) =>
    fake
      .shown(room)
      .filter(({ content }) => {
        const relates = (content["m.relates_to"] ?? {}) as { rel_type?: string; event_id?: string };
        return (relates.rel_type === "m.thread" ? relates.event_id : null) === thread;
      })
      .map(({ text }) => text);
  return {
    platform: watched(matrix(settings, around)),
    home: { platform: "matrix", account: fake.user, chat: room },
    say: (text) => said(fake.write(room, ann, text)),
    redeliver() {
      // What was refused is still in the stream, and is asked for again by itself.
      if (receipt === "acknowledged") fake.repeat(last);
      return told(last);
    },
    stored: async () => undefined,
    seen: async () => textsIn(null),
    breakOff: () => fake.goDown(),
    async close() {
      await fake.close();
      rmSync(folder, { recursive: true, force: true });
    },
    reopen: async () => watched(matrix(settings, around)),
    hasBacklog: true,
    async sayIn(thread, text) {
      const root = threads.get(thread) ?? fake.event(room, ann, "m.room.topic", {});
      threads.set(thread, root);
      return said(fake.write(room, ann, text, { "m.relates_to": { rel_type: "m.thread", event_id: root } }));
    },
    seenIn: async (thread) => textsIn(threads.get(thread) ?? ""),
    sayInGroup: (text, called) => said(fake.write(group, ann, called ? `${fake.user}: ${text}` : text)),
    sayAsSelf: (text) => said(fake.write(room, fake.user, text)),
    edit(text) {
      const words = { msgtype: "m.text", body: text };
      const relates = { rel_type: "m.replace", event_id: last };
      return told(fake.write(room, ann, `* ${text}`, { "m.new_content": words, "m.relates_to": relates }));
    },
    failNext: (kind) => fake.failNext(kind, kind === "denied" ? /./ : /PUT .*\/send\//),
    goDown: () => fake.goDown(),
    comeBack: () => fake.comeBack(),
  };
}

/** Whether anybody listens, which the far side of a poll cannot see. */
function watching() {
  let listeners = 0;
  const watched = (platform: Platform): Platform => ({
    ...platform,
    async listen(...given) {
      listeners++;
      try {
        await platform.listen(...given);
      } finally {
        listeners--;
      }
    },
  });
  return { watched, isListening: () => listeners > 0 };
}

platformSuite("matrix", open);
