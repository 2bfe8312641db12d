// What is read of a mailbox, with real servers of other people and without the rest of the gateway.

import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, after, describe, test } from "node:test";
import type { Inbound } from "../../src/core/message.ts";
import { email } from "../../src/platforms/email/index.ts";
import { openBlobs } from "../../src/stores/blobs/index.ts";
import { inletOf } from "../../src/testing/platform/steps.ts";
import { realWorld } from "../../src/world.ts";
import { type MailServer, openMail, settingsOf, whyNoMail } from "../fakes/mail.ts";
import { until } from "../process/stage.ts";

const skip = whyNoMail() ?? false;
const bot = "bot@fake.test";

describe("a mailbox", { skip, timeout: 300_000 }, () => {
  let opening: Promise<MailServer> | null = null;
  const servers = (): Promise<MailServer> => (opening ??= openMail());
  after(async () => (await opening)?.close());

  test("a file that is too large is told in the text; of strangers nothing but the headers is read", async (t) => {
    const mail = await servers();
    const folder = newFolder(t);
    const blobs = openBlobs(folder, { bytesMax: 1_000, turnBytesMax: 1_000 });
    const platform = email(settingsOf(mail), { world: realWorld(() => undefined), blobs });
    const heard: Inbound[] = [];
    const inlet = inletOf(
      async (message) => {
        heard.push(message);
        return "accepted";
      },
      { hears: async ({ sender }) => sender === "u8@fake.test" },
    );
    const stop = new AbortController();
    const isUp = Promise.withResolvers<void>();
    const listening = platform.listen({ ...inlet, up: isUp.resolve }, null, stop.signal);
    await isUp.promise;
    const attachments = [
      { filename: "small.txt", content: "small" },
      { filename: "large.bin", content: Buffer.alloc(1_001) },
    ];
    await mail.write("u9@fake.test", bot, "let me in", { attachments });
    await mail.read("bot");
    await mail.write("u8@fake.test", bot, "two files", { subject: "", attachments });
    const [stranger, friend] = await until(
      async () => heard,
      (all) => all.length >= 2,
      "two mails are read",
    );
    stop.abort();
    await listening;
    assert.deepEqual([stranger?.sender, stranger?.body], ["u9@fake.test", { kind: "text", text: "", files: [] }]);
    assert.ok(friend?.body.kind === "text");
    assert.deepEqual(friend?.body.kind === "text" && friend.body.files.map(({ name }) => name), ["small.txt"]);
    assert.match(
      friend?.body.kind === "text" ? friend.body.text : "",
      /^two files\n\n\[The file large\.bin could not be had: /,
    );
  });

  test("a mailbox that was numbered anew is looked at once for each piece of news", async () => {
    const mail = await servers();
    const platform = email(settingsOf(mail), { world: realWorld(() => undefined), blobs: openBlobs(tmpdir()) });
    // Of another numbering, and so late that no mail is young enough.
    const from = JSON.stringify({ validity: "1", uid: 5, day: Date.now() + 10 * 86_400_000 });
    const stop = new AbortController();
    let looks = 0;
    const inlet = inletOf(async () => "accepted");
    const listening = platform.listen({ ...inlet, up: () => looks++ }, from, stop.signal);
    const looked = (count: number) =>
      until(
        async () => looks,
        (now) => now >= count,
        `it looked ${count} times`,
      );
    await looked(1);
    for (let n = 1; n <= 3; n++) {
      const before = looks;
      await mail.write("u9@fake.test", bot, "news");
      await looked(before + 1);
    }
    // As many looks as there can be news of three mails, told twice each; without a pause there would be thousands.
    await mail.write("u9@fake.test", "u9@fake.test", "some time goes by");
    await mail.read("u9");
    assert.ok(looks <= 10, `${looks} looks`);
    assert.ok(getEventListeners(stop.signal, "abort").length <= 2, "each wait takes its listener away");
    stop.abort();
    await listening;
    assert.deepEqual(getEventListeners(stop.signal, "abort"), []);
  });
});

function newFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "everturn-email-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
