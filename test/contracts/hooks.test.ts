// The contract of platforms, kept by webhooks: signed calls in, signed posts out, to a receiver that keeps keys.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Platform } from "../../src/ports/platform.ts";
import { hooks } from "../../src/platforms/hooks/index.ts";
import { sign } from "../../src/platforms/hooks/signature.ts";
import { blobsLater } from "../../src/stores/blobs/later.ts";
import { type OpenedPlatform, type Receipt, platformSuite } from "../../src/testing/index.ts";
import { realWorld } from "../../src/world.ts";
import { receiver } from "../fakes/receiver.ts";

const secret = "a secret of some length";

async function openHooks(): Promise<Required<Pick<OpenedPlatform, "reopen">> & OpenedPlatform> {
  const folder = mkdtempSync(join(tmpdir(), "everturn-contract-"));
  const far = await receiver(secret);
  const hook = { name: "ci", secret, style: "everturn", reply: { url: far.url, secret } } as const;
  const world = realWorld(() => undefined);
  const around = {
    world,
    blobs: blobsLater(folder),
    gateway: (): never => {
      throw new Error("answers of this hook go to the web");
    },
  };
  let opened = hooks([hook], around);
  let last = "";
  let count = 0;

  async function post(): Promise<Receipt> {
    const request = new Request("http://127.0.0.1/hooks/ci", {
      method: "POST",
      headers: { "x-everturn-signature": sign(secret, last, world.now()) },
      body: last,
    });
    const { status } = await opened.routes.handle(request);
    return status === 200 || status === 202 ? "acknowledged" : "refused";
  }

  const say = (chat: string, text: string) => {
    last = JSON.stringify({ id: `m${count++}`, chat, sender: "ada", text });
    return post();
  };
  const seenIn = async (chat: string) => far.taken.filter((one) => one.chat === chat).map((one) => one.text);
  return {
    platform: opened.platform,
    home: { platform: "hooks", account: "hooks", chat: "ci", thread: "home" },
    say: (text) => say("home", text),
    sayIn: say,
    seenIn,
    redeliver: post,
    stored: async () => undefined,
    seen: () => seenIn("home"),
    breakOff: () => far.goDown(),
    async reopen(): Promise<Platform> {
      opened = hooks([hook], around);
      return opened.platform;
    },
    failNext: (kind) => far.failNext(kind),
    goDown: () => far.goDown(),
    comeBack: () => far.comeBack(),
    async close() {
      await far.goDown();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

platformSuite("hooks whose receiver fails", async () => {
  const { reopen: _, ...opened } = await openHooks();
  return opened;
});

// A receiver that refuses us does not end the way in, so nothing here is ever denied as a whole.
platformSuite("hooks that start again", async () => {
  const { failNext: _, ...opened } = await openHooks();
  return opened;
});
