// E-mail with real servers of other people, postfix and dovecot: the contract of platforms, stories with the real gateway,
// and chaos. Where they are not installed nothing here runs, and that is said.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import type { Email } from "postal-mime";
import { Fault } from "../../src/core/fault.ts";
import { email } from "../../src/platforms/email/index.ts";
import type { Platform } from "../../src/ports/platform.ts";
import { openBlobs } from "../../src/stores/blobs/index.ts";
import { type OpenedPlatform, type Receipt, platformSuite } from "../../src/testing/index.ts";
import { inletOf } from "../../src/testing/platform/steps.ts";
import { realWorld } from "../../src/world.ts";
import { type MailServer, openMail, settingsOf, whyNoMail } from "../fakes/mail.ts";
import { newHome, runGateway, until } from "../process/stage.ts";
import { chaos } from "./chaos.ts";
import { bot, configOf, connected } from "./email-stage.ts";

const skip = whyNoMail() ?? false;

/** What was written in an answer, without what is quoted. */
const wordsOf = (mail: Email): string => (mail.text ?? "").trim();

describe("e-mail", { skip, timeout: 900_000 }, () => {
  let opening: Promise<MailServer> | null = null;
  const servers = (): Promise<MailServer> => (opening ??= openMail());
  after(async () => (await opening)?.close());

  test("a mail is answered in its thread, in two forms; an answer to it goes on; machines are left alone", async (t) => {
    const mail = await servers();
    const home = newHome(t);
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, "config.yaml"), configOf(mail, ["ann@fake.test"]));
    const gateway = await runGateway(t, home);
    await connected(gateway);
    const read = (count: number) =>
      until(
        () => mail.read("ann"),
        (all) => all.length >= count,
        `${count} answers`,
      );
    const before = (await mail.read("ann")).length;
    const id = await mail.write("ann@fake.test", bot, "is anybody there?", { subject: "A question" });
    await mail.write("ann@fake.test", bot, "I am away", { headers: { "Auto-Submitted": "auto-replied" } });
    await mail.write("bob@fake.test", bot, "let me in");
    const [first] = (await read(before + 1)).slice(before);
    assert.equal(first?.subject, "Re: A question");
    assert.equal(first?.inReplyTo, id);
    assert.match(wordsOf(first as Email), /^You said: A question\s+is anybody there\?/);
    assert.ok(first?.html?.includes("is anybody there?"));
    const references = `${id} ${first?.messageId}`;
    await gateway.end("SIGKILL");
    const quoted = `and now?\n\nOn Monday, Everturn <${bot}> wrote:\n> You said: is anybody there?`;
    await mail.write("ann@fake.test", bot, quoted, {
      subject: "Re: A question",
      inReplyTo: first?.messageId,
      references,
    });
    await runGateway(t, home);
    const [, second] = (await read(before + 2)).slice(before);
    assert.equal(wordsOf(second as Email), "You said: and now?");
    assert.ok(second?.references?.startsWith(id));
    assert.equal((await mail.read("ann")).length, before + 2);
  });

  test("only a verified sender is answered by default; others are counted in status", async (t) => {
    const mail = await servers();
    const home = newHome(t);
    mkdirSync(home, { recursive: true });
    const config = configOf(mail, ["u8@fake.test", "u9@fake.test"]).replace("verify: auto", "authServer: mx.fake.test");
    writeFileSync(join(home, "config.yaml"), config);
    const gateway = await runGateway(t, home);
    await connected(gateway);
    const results = (text: string) => ({ headers: { "Authentication-Results": text } });
    await mail.write("u9@fake.test", bot, "nothing vouches for me");
    await mail.write(
      "u9@fake.test",
      bot,
      "another server does",
      results("elsewhere; dmarc=pass header.from=fake.test"),
    );
    await mail.write("u9@fake.test", bot, "I failed", results("mx.fake.test; dmarc=fail header.from=fake.test"));
    await mail.write("u8@fake.test", bot, "hello", results("mx.fake.test; dmarc=pass header.from=fake.test"));
    await until(
      () => mail.read("u8"),
      (all) => all.length === 1,
      "the verified mail is answered",
    );
    // Mails are taken in order, so the others have been decided about.
    assert.equal((await mail.read("u9")).length, 0);
    const answer = await fetch(`${gateway.url}/api/status`, { headers: { authorization: `Bearer ${gateway.token}` } });
    type Status = { readonly platforms: readonly { readonly platform: string; readonly notice?: string }[] };
    const found = ((await answer.json()) as Status).platforms.find(({ platform }) => platform === "email");
    assert.equal(found?.notice, "3 unverified mails not answered since the start");
  });

  test("chaos: kills, stops and servers that go away lose nothing", async (t) => {
    const mail = await servers();
    const chats = ["u0", "u1", "u2", "u3"];
    const isUp = Promise.withResolvers<void>();
    const found = await chaos(
      t,
      {
        config: configOf(
          mail,
          chats.map((name) => `${name}@fake.test`),
        ),
        // One that is killed before tells nothing; the next one will.
        up: (gateway) => void connected(gateway).then(isUp.resolve, (error: unknown) => t.diagnostic(String(error))),
        async say(chat, text) {
          await isUp.promise;
          await mail.write(`${chat}@fake.test`, bot, text, { subject: "", references: `<${chat}@fake.test>` });
        },
        // The same mail twice is shown once by mailboxes that look at ids; here both count.
        seen: async (chat) => (await mail.read(chat)).map(wordsOf),
        async restart() {
          await mail.stop("imap");
          await mail.start("imap");
        },
      },
      { chats, messages: 100, kills: 6 },
    );
    assert.deepEqual([found.lost, found.reordered], [[], []], `seed ${found.seed}`);
    t.diagnostic(`${found.doubled.length} doubled in ${found.kills} kills`);
    // Each conversation has one mail under way at most, and a kill makes all of them uncertain.
    assert.ok(found.doubled.length <= found.kills * chats.length, "at most one for each kill and conversation");
  });

  test("a wrong password is told as such, with what to do", async () => {
    const { platform } = await openPlatform(servers(), "wrong");
    await assert.rejects(
      platform.listen(
        inletOf(async () => "accepted"),
        null,
        AbortSignal.timeout(30_000),
      ),
      (error) => error instanceof Fault && error.code === "denied" && error.message.includes("platforms.email.imap"),
    );
  });

  platformSuite("email", () => openPlatform(servers()));
});

const root = "<home@fake.test>";

/** The far side of the contract: people write by SMTP, and see that a mail was taken by its mark in the mailbox. */
async function openPlatform(opening: Promise<MailServer>, password?: string): Promise<OpenedPlatform> {
  const mail = await opening;
  const folder = mkdtempSync(join(tmpdir(), "everturn-email-"));
  const settings = settingsOf(mail, password);
  const around = { world: realWorld(() => undefined), blobs: openBlobs(folder) };
  const before = (await mail.read("ann")).length;
  const refused = new Set<string>();
  let listeners = 0;
  let last = { id: "", text: "", thread: root };
  let isDown = false;
  const watched = (platform: Platform): Platform => ({
    ...platform,
    async listen(inlet, ...given) {
      listeners++;
      const accept: typeof inlet.accept = (message, cursor) =>
        inlet.accept(message, cursor).catch((error: unknown) => {
          refused.add(message.key);
          throw error;
        });
      try {
        await platform.listen({ ...inlet, accept }, ...given);
      } finally {
        listeners--;
      }
    },
  });
  const kept: (typeof last)[] = [];
  // One after another, as one person writes; two at once may overtake each other on the way.
  let writing: Promise<unknown> = Promise.resolve();
  const write = ({ id, text, thread } = last) =>
    (writing = writing.then(async () => {
      await mail.write("ann@fake.test", bot, text, { messageId: id, references: thread });
      await mail.read("bot");
    }));
  const receipt = async ({ id }: { readonly id: string }, marks: number): Promise<Receipt> => {
    for (let away = 0; away < 40; away = listeners > 0 && !isDown ? 0 : away + 1) {
      if (refused.delete(id)) return "refused";
      if ((await mail.marked("bot", id)) >= marks) return "acknowledged";
      await pause(25);
    }
    return "refused";
  };
  const say = async (text: string, thread = root): Promise<Receipt> => {
    const said = (last = { id: `<${around.world.id()}@fake.test>`, text, thread });
    // To a server that is down nobody can write: it is the sender's own server that keeps the mail meanwhile.
    if (isDown) kept.push(said);
    else await write(said);
    return receipt(said, 1);
  };
  const textsIn = async (thread: string) =>
    (await mail.read("ann"))
      .slice(before)
      .filter((one) => one.references?.startsWith(thread) === true)
      .map(wordsOf);
  const goDown = async () => {
    isDown = true;
    await mail.stop("smtp");
    await mail.stop("imap");
  };
  const comeBack = async () => {
    if (!isDown) return;
    await mail.start("imap");
    await mail.start("smtp");
    isDown = false;
    for (const one of kept.splice(0)) await write(one);
  };
  return {
    platform: watched(email(settings, around)),
    home: { platform: "email", account: bot, chat: "ann@fake.test", thread: root },
    hints: { subject: "hello", references: root },
    say,
    async redeliver() {
      const marks = await mail.marked("bot", last.id);
      if (marks > 0) await write();
      return receipt(last, marks + 1);
    },
    stored: async () => undefined,
    seen: () => textsIn(root),
    breakOff: goDown,
    async close() {
      await comeBack();
      rmSync(folder, { recursive: true, force: true });
    },
    reopen: async () => watched(email(settings, around)),
    hasBacklog: true,
    sayIn: (thread, text) => say(text, `<${thread}@fake.test>`),
    seenIn: (thread) => textsIn(`<${thread}@fake.test>`),
    goDown,
    comeBack,
  };
}
