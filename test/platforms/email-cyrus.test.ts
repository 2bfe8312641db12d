// E-mail with Cyrus IMAP and Exim, and the real gateway: mails are answered in their threads, through a kill of the gateway
// and of each server.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, describe, test } from "node:test";
import type { Email } from "postal-mime";
import { openCyrus, whyNoCyrus } from "../fakes/cyrus.ts";
import type { MailServer } from "../fakes/mail.ts";
import { atEnd, newHome, runGateway, until } from "../process/stage.ts";
import { bot, configOf, connected } from "./email-stage.ts";

const ann = "ann@fake.test";

function homeFor(t: TestContext, mail: MailServer): string {
  const home = newHome(t);
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "config.yaml"), configOf(mail, [ann]));
  return home;
}

const answered = (mail: MailServer, count: number): Promise<readonly Email[]> =>
  until(
    () => mail.read("ann"),
    (all) => all.length >= count,
    `ann has ${count} answers`,
  );

const wordsOf = (mail: Email | undefined): string => (mail?.text ?? "").trim();

describe("e-mail with Cyrus and Exim", { skip: whyNoCyrus() ?? false, timeout: 600_000 }, () => {
  test("threads, hidden text and UTF-7; kills of the gateway and of both servers", async (t) => {
    const mail = await openCyrus();
    atEnd(t, () => mail.close());
    const home = homeFor(t, mail);
    const gateway = await runGateway(t, home);
    await connected(gateway);
    const id = await mail.write(ann, bot, "is anybody there?", { subject: "A question" });
    const [first] = await answered(mail, 1);
    assert.deepEqual([first?.subject, first?.inReplyTo], ["Re: A question", id]);
    assert.match(wordsOf(first), /^You said: A question\s+is anybody there\?/);
    await until(
      () => mail.marked("bot", id),
      (count) => count === 1,
      "the mail is marked as read",
    );

    await gateway.end("SIGKILL");
    const html = '<p>seen</p><div style="display:none">unseen</div>';
    const thread = { subject: "Re: A question", inReplyTo: first?.messageId, references: `${id} ${first?.messageId}` };
    await mail.write(ann, bot, "", { ...thread, text: undefined, html });
    await runGateway(t, home);
    const [, second] = await answered(mail, 2);
    assert.equal(wordsOf(second), "You said: seen");

    await mail.stop("imap");
    await mail.start("imap");
    const raw = `From: ${ann}\r\nTo: ${bot}\r\nMessage-ID: <utf7@${mail.domain}>\r\nIn-Reply-To: ${id}\r\nReferences: ${id}\r\nSubject: Re: A question\r\nContent-Type: text/plain; charset=utf-7\r\n\r\n+AOQ- after a kill\r\n`;
    await mail.write(ann, bot, "", { raw, envelope: { from: ann, to: bot } });
    assert.equal(wordsOf((await answered(mail, 3))[2]), "You said: ä after a kill");

    await mail.stop("smtp");
    await mail.start("smtp");
    await mail.write(ann, bot, "and now?", { ...thread });
    assert.equal(wordsOf((await answered(mail, 4))[3]), "You said: and now?");
    assert.equal((await mail.read("ann")).length, 4, "each mail is answered once");
  });
});
