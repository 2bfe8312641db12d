// A mail whose last answer of the server is lost: where the server keeps what it sent, it is found there and not sent again;
// elsewhere it goes out once more under the same id.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { type OutboxItem, advanceItem } from "../../src/core/outbox.ts";
import { email } from "../../src/platforms/email/index.ts";
import { openBlobs } from "../../src/stores/blobs/index.ts";
import { anItem, at, bootId } from "../../src/testing/samples.ts";
import { realWorld } from "../../src/world.ts";
import { openMail, settingsOf, whyNoMail } from "../fakes/mail.ts";
import { faultProxy } from "../kit/fault-proxy.ts";
import { atEnd, until } from "../process/stage.ts";

const skip = whyNoMail() ?? false;
const taken = { type: "taken", boot: bootId("b1") } as const;

describe("a mail that may have arrived", { skip, timeout: 300_000, concurrency: 2 }, () => {
  for (const keepsSent of [true, false])
    test(`with text and files, ${keepsSent ? "found among the sent mails" : "sent again under its id"}`, async (t) => {
      const mail = await openMail({ keepsSent });
      atEnd(t, () => mail.close());
      const proxy = await faultProxy({ port: mail.smtpPort });
      atEnd(t, () => proxy.close());
      const folder = mkdtempSync(join(tmpdir(), "everturn-email-"));
      atEnd(t, () => rmSync(folder, { recursive: true, force: true }));
      const settings = settingsOf(mail);
      const blobs = openBlobs(folder);
      const smtp = { ...settings.smtp, port: proxy.port };
      const platform = email({ ...settings, smtp }, { world: realWorld(() => undefined), blobs });
      const files = [
        await blobs.put(Buffer.from("one"), { name: "one.txt", mime: "text/plain" }),
        await blobs.put(Buffer.from("two"), { name: "two.txt", mime: "text/plain" }),
      ];
      const to = { platform: "email", account: "bot@fake.test", chat: "ann@fake.test" };
      const send = (item: OutboxItem) => platform.send(item, AbortSignal.timeout(60_000));
      const first = advanceItem(anItem("i1", { to, text: "the answer", files }), taken);
      proxy.begin({ type: "reset", when: "after", on: /\r\n\.\r\n$/ });
      const result = await send(first);
      assert.equal(result.type, "unknown");
      await until(
        () => mail.read("ann"),
        (all) => all.length === 1,
        "the mail has arrived all the same",
      );
      proxy.end();
      const doubted = advanceItem(first, { type: "answered", result, at: at(1), chance: 0 });
      const again = advanceItem(advanceItem(doubted, { type: "repeated", at: at(1) }), taken);
      assert.equal((await send(again)).type, "accepted");
      const seen = await until(
        () => mail.read("ann"),
        (all) => all.length >= (keepsSent ? 1 : 2),
        "the repeat, where there is one",
      );
      assert.equal(seen.length, keepsSent ? 1 : 2);
      assert.equal(new Set(seen.map(({ messageId }) => messageId)).size, 1, "all under one id");
      for (const one of seen) {
        assert.equal(one.text?.trim(), "the answer");
        assert.equal(one.attachments.length, 2, "text and files are one mail");
      }
      // Who asks for a held mail gets it, wherever it may be.
      const held = advanceItem(doubted, { type: "resent", at: at(2) });
      assert.equal((await send(advanceItem(held, taken))).type, "accepted");
      await until(
        () => mail.read("ann"),
        (all) => all.length === seen.length + 1,
        "what was asked for again",
      );
    });
});
