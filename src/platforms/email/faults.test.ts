// What becomes of a send, by what the server said and whether the mail had left: with a server of our own that breaks at
// every point, and with what the library told there as a table.

import assert from "node:assert/strict";
import { type AddressInfo, type Socket, createServer } from "node:net";
import { type TestContext, test } from "node:test";
import { type Post, openPost } from "./api.ts";
import { sendResultOf } from "./faults.ts";

type Point = "greeting" | "EHLO" | "MAIL" | "RCPT" | "DATA" | "words" | "end";
type Break = "reset" | "close" | "silence" | `${number} ${string}`;

const points: readonly Point[] = ["greeting", "EHLO", "MAIL", "RCPT", "DATA", "words", "end"];
const mail = { from: "a@x.org", to: "b@x.org", subject: "s", text: "hello ".repeat(50_000) };

/** Takes mails until it breaks in a certain way at a certain point; counts those it has whole. */
async function serverThat(t: TestContext, how: Break, at: Point, extensions: readonly string[] = []) {
  let taken = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    const act = (point: Point, reply: string): void => {
      if (point !== at) socket.write(`${reply}\r\n`);
      else if (how === "reset") socket.resetAndDestroy();
      else if (how === "close") socket.destroy();
      else if (how !== "silence") socket.write(`${how}\r\n`, () => how.startsWith("421") && socket.end());
    };
    let isMail = false;
    let heard = "";
    act("greeting", "220 hi ESMTP");
    socket.on("data", (bytes) => {
      heard += bytes.toString("latin1");
      if (isMail && at === "words" && heard.length > 1_000) act("words", "");
      for (;;) {
        const end = isMail ? heard.indexOf("\r\n.\r\n") : heard.indexOf("\r\n");
        if (end < 0 || (isMail && at === "words")) return;
        const line = heard.slice(0, end);
        heard = heard.slice(end + (isMail ? 5 : 2));
        if (isMail) {
          taken++;
          isMail = false;
          act("end", "250 taken");
        } else if (line === "DATA") {
          // Nobody takes a mail without a reader.
          const isFor = at !== "MAIL" && at !== "RCPT";
          isMail = isFor && at !== "DATA";
          act("DATA", isFor ? "354 go on" : "554 for nobody");
        } else if (line.startsWith("EHLO"))
          act("EHLO", ["250-me", ...extensions.map((x) => `250-${x}`), "250 HELP"].join("\r\n"));
        else if (line.startsWith("MAIL")) act("MAIL", "250 ok");
        else if (line.startsWith("RCPT")) act("RCPT", "250 ok");
        else socket.write("502 what?\r\n");
      }
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const where = { host: "127.0.0.1", port, tls: false, user: null, password: null, anyCertificate: true };
  return { post: openPost(where, how === "silence" ? 5_000 : 30_000), taken: () => taken };
}

async function resultOf(post: Post, more: object = {}): Promise<string> {
  const posted = await post.send({ ...mail, ...more });
  return posted.type === "taken" ? "accepted" : sendResultOf(posted.error, posted.wordsLeft).type;
}

test("a server that breaks off: retried only while it cannot have the mail", { timeout: 300_000 }, async (t) => {
  const ways = ["reset", "close", "silence", "421 shutting down"] as const;
  const rows = [[], ["PIPELINING"]].flatMap((extensions) =>
    ways.flatMap((how) => points.map((at) => ({ extensions, how, at }))),
  );
  const found = rows.map(async ({ extensions, how, at }) => {
    const { post, taken } = await serverThat(t, how, at, extensions);
    const isLate = at === "words" || at === "end";
    const what = `${how} at ${at} ${extensions.join()}`;
    assert.equal(await resultOf(post), isLate ? "unknown" : "retry", what);
    assert.equal(taken(), at === "end" ? 1 : 0, what);
  });
  await Promise.all(found);
});

test("a server that answers: only what it says about the mail and its reader is the end of it", async (t) => {
  const rows: readonly (readonly [Break, Point, string])[] = [
    ["554 not you", "greeting", "retry"],
    ["554 not you", "EHLO", "retry"],
    ["550 no such sender", "MAIL", "refused"],
    ["530 log in first", "MAIL", "retry"],
    ["451 later", "MAIL", "retry"],
    ["550 no such user", "RCPT", "refused"],
    ["451 greylisted", "RCPT", "retry"],
    ["554 nothing for you", "DATA", "refused"],
    ["452 full", "DATA", "retry"],
    ["554 spam", "end", "refused"],
    ["452 full", "end", "retry"],
    ["250 taken", "end", "accepted"],
  ];
  for (const [how, at, type] of rows)
    for (const extensions of [[], ["PIPELINING"]]) {
      const { post } = await serverThat(t, how, at, extensions);
      assert.equal(await resultOf(post), type, `${how} at ${at} ${extensions.join()}`);
    }
});

test("a file that cannot be read is no mail", async (t) => {
  const { post, taken } = await serverThat(t, "reset", "end");
  assert.equal(await resultOf(post, { attachments: [{ filename: "a", path: "/nowhere/at/all" }] }), "retry");
  assert.equal(taken(), 0);
});

test("nobody there, and what the library tells in words of its own", async (t) => {
  const { post } = await serverThat(t, "reset", "greeting");
  assert.equal(await resultOf(post, { to: "nobody" }), "retry");
  const error = (more: object) => Object.assign(new Error("words"), more);
  const rows: readonly (readonly [string, unknown, before: string, after: string])[] = [
    ["nobody there", error({ code: "ESOCKET", command: "CONN" }), "retry", "unknown"],
    ["unknown host", error({ code: "EDNS", command: "CONN" }), "retry", "unknown"],
    ["silence", error({ code: "ETIMEDOUT", command: "CONN" }), "retry", "unknown"],
    ["wrong password", error({ code: "EAUTH", responseCode: 535, command: "AUTH PLAIN" }), "retry", "unknown"],
    ["no encryption", error({ code: "ETLS", responseCode: 554, command: "STARTTLS" }), "retry", "unknown"],
    ["a reply nobody asked for", error({ code: "EPROTOCOL", responseCode: 554, command: "CONN" }), "retry", "unknown"],
    ["no address", error({ code: "EENVELOPE", command: "API" }), "refused", "unknown"],
    ["too large", error({ code: "EMESSAGE", command: "MAIL FROM" }), "refused", "unknown"],
    ["something else", new Error("x"), "retry", "unknown"],
    ["no error at all", null, "retry", "unknown"],
  ];
  for (const [what, given, before, after] of rows) {
    assert.equal(sendResultOf(given, false).type, before, what);
    assert.equal(sendResultOf(given, true).type, after, `${what}, afterwards`);
  }
});
