// What a mail server may say instead of a mail, or before it: a mail is passed by only when it is really gone.

import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, type Socket, createServer } from "node:net";
import { tmpdir } from "node:os";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { openBlobs } from "../../stores/blobs/index.ts";
import { inletOf } from "../../testing/platform/steps.ts";
import { realWorld } from "../../world.ts";
import { email } from "./index.ts";

/** What is fetched: which mails there are, what one is, and whether it is there at all. */
type Asked = "list" | "heads" | "whole" | "is there";
/** How the server answers the nth time, with the lines it would usually say; the last one is without its tag. */
type Manner = (asked: Asked, uid: number, usual: readonly string[], nth: number) => readonly string[];

const uids = [12, 13];
const throttled = "NO Request is throttled. Suggested Backoff Time: 1 milliseconds";

test("the flags of mails are told before what was asked for", async (t) => {
  const rows: readonly (readonly [what: string, told: readonly string[]])[] = [
    ["another mail", ["* 1 FETCH (FLAGS (\\Seen))"]],
    ["another mail, by its number", ["* 1 FETCH (UID 7 FLAGS (\\Seen))"]],
    ["the later one", ["* 3 FETCH (UID 13 FLAGS (\\Seen))"]],
    ["the same mail", ["* 2 FETCH (UID 12 FLAGS (\\Seen))"]],
  ];
  for (const [what, told] of rows) {
    const box = await mailbox(t, (_, __, usual) => [...told, ...usual]);
    assert.deepEqual(await box.listen(), ["the words of 12", "the words of 13"], what);
  }
});

test("a server that wants to be left alone has lost no mail", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  for (const busy of ["list", "heads", "whole"] as const) {
    // So many times that the library gives up; somebody reads the later mail meanwhile.
    const box = await mailbox(t, (asked, _, usual, nth) =>
      asked === busy && nth <= 4 ? ["* 3 FETCH (UID 13 FLAGS (\\Seen))", throttled] : usual,
    );
    await assert.rejects(withoutWaiting(t, box), /the mail server does not answer/, busy);
    assert.deepEqual(await box.listen(), ["the words of 12", "the words of 13"], busy);
  }
});

test("only a mail that the server does not know any more is gone", async (t) => {
  const nothing = ["OK done"];
  const gone = await mailbox(t, (asked, uid, usual) => (uid === 12 && asked !== "list" ? nothing : usual));
  assert.deepEqual(await gone.listen(), ["left 12: it is gone", "the words of 13"]);
  const goneLater = await mailbox(t, (asked, uid, usual) =>
    uid === 12 && ["whole", "is there"].includes(asked) ? nothing : usual,
  );
  assert.deepEqual(await goneLater.listen(), ["left 12: it is gone", "the words of 13"]);
  for (const kept of ["heads", "whole"] as const) {
    const box = await mailbox(t, (asked, _, usual, nth) => (asked === kept && nth === 1 ? nothing : usual));
    await assert.rejects(box.listen(), /has the mail 12, and does not hand it over/, kept);
    assert.deepEqual(await box.listen(), ["the words of 12", "the words of 13"], kept);
  }
});

test("a mail of which the server has nothing to give does not hold up the others", async (t) => {
  for (const none of ['""', "NIL", "{0}\r\n"]) {
    const empty = [`* 2 FETCH (UID 12 RFC822.SIZE 0 BODY[HEADER] ${none})`, "OK done"];
    const box = await mailbox(t, (asked, uid, usual) => (uid === 12 && asked === "heads" ? empty : usual));
    assert.deepEqual(await box.listen(), ["left 12: it has no sender", "the words of 13"], none);
  }
});

type Box = {
  readonly listen: () => Promise<readonly string[]>;
  /** Whether whoever asked last was told to wait. */
  readonly isThrottled: () => boolean;
};

/** A mailbox of two mails, of which none was read; `listen` tells what became of them, and goes on where it ended. */
async function mailbox(t: TestContext, manner: Manner): Promise<Box> {
  const times = new Map<Asked, number>();
  let isThrottled = false;
  const server = createServer((socket) =>
    speak(socket, (asked, uid) => {
      const nth = (times.get(asked) ?? 0) + 1;
      times.set(asked, nth);
      const lines = manner(asked, uid, usually(asked, uid), nth);
      isThrottled = lines.at(-1) === throttled;
      return lines;
    }),
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const at = { host: "127.0.0.1", port, tls: false, user: "bot", password: "x", anyCertificate: true };
  const said: string[] = [];
  let cursor = JSON.stringify({ validity: "7", uid: 11, day: 0 });
  const world = realWorld((_, what, facts) => {
    if (what === "a mail was left unanswered") said.push(`left ${String(facts?.["uid"])}: ${String(facts?.["why"])}`);
  });
  const settings = { address: "bot@x.org", name: "x", imap: at, smtp: at, mailbox: "INBOX" };
  const platform = email({ ...settings, verify: "auto", authServer: null }, { world, blobs: openBlobs(tmpdir()) });
  const listen = async (): Promise<readonly string[]> => {
    const stop = new AbortController();
    const moved = async (to: string | null): Promise<void> => {
      cursor = to ?? cursor;
      if (said.length === uids.length) stop.abort(new Error("all were read"));
    };
    const inlet = inletOf(
      async ({ body }, to) => {
        said.push(body.kind === "text" ? body.text : body.kind);
        await moved(to);
        return "accepted";
      },
      { moved },
    );
    await platform.listen(inlet, cursor, stop.signal);
    return said;
  };
  return { listen, isThrottled: () => isThrottled };
}

/** The library waits for seconds where a server asks for it, longer each time; here they go by at once. */
async function withoutWaiting(t: TestContext, { listen, isThrottled }: Box): Promise<readonly string[]> {
  let isOver = false;
  const listening = listen().finally(() => {
    isOver = true;
  });
  listening.catch(() => undefined);
  while (!isOver) {
    await turn();
    if (isThrottled()) t.mock.timers.tick(1_000);
  }
  return listening;
}

function usually(asked: Asked, uid: number): readonly string[] {
  const heads = `From: ann@example.org\r\nMessage-ID: <${uid}@example.org>\r\n\r\n`;
  const literal = (words: string) => `{${words.length}}\r\n${words}`;
  const about: Readonly<Record<Asked, string>> = {
    list: "",
    "is there": "",
    heads: ` RFC822.SIZE 100 BODY[HEADER] ${literal(heads)}`,
    whole: ` BODY[] ${literal(`${heads}the words of ${uid}\r\n`)}`,
  };
  const those = asked === "list" ? uids.filter((one) => one >= uid) : [uid];
  return [...those.map((one) => `* ${one - 10} FETCH (UID ${one}${about[asked]})`), "OK done"];
}

/** As much of IMAP as a reader needs. */
function speak(socket: Socket, fetched: (asked: Asked, uid: number) => readonly string[]): void {
  const box = ["* 3 EXISTS", "* OK [UIDVALIDITY 7] x", "* OK [UIDNEXT 14] x", "OK [READ-WRITE] done"];
  const answers: readonly (readonly [command: RegExp, lines: readonly string[]])[] = [
    [/^CAPABILITY/, ["* CAPABILITY IMAP4rev1 IDLE", "OK done"]],
    [/^LIST/, ['* LIST () "/" INBOX', "OK done"]],
    [/^SELECT/, box],
    [/^/, ["OK done"]],
  ];
  socket.on("error", () => undefined);
  socket.write("* OK [CAPABILITY IMAP4rev1 IDLE] ready\r\n");
  createInterface(socket).on("line", (line) => {
    const [tag = "", ...words] = line.split(" ");
    const command = words.join(" ");
    const [, uid, isList, what = ""] = /^UID FETCH (\d+)(:\*)? (.*)/.exec(command) ?? [];
    const asked = what.includes("HEADER") ? "heads" : what.includes("BODY") ? "whole" : isList ? "list" : "is there";
    const usual = answers.find(([pattern]) => pattern.test(command))?.[1] ?? [];
    const lines = uid === undefined ? usual : fetched(asked, Number(uid));
    socket.write(lines.map((one, n) => `${n === lines.length - 1 ? `${tag} ${one}` : one}\r\n`).join(""));
  });
}
