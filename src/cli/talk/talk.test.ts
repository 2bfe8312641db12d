// The terminal's side of a conversation against a scripted gateway over real HTTP: losses, repeats, restarts.

import assert from "node:assert/strict";
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text as readAll } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { type Client, connectGateway } from "../../control/client.ts";
import type { Output } from "../print.ts";
import { type FeedEvent, follow } from "./feed.ts";
import { fileDesk } from "./files.ts";
import { piped } from "./piped.ts";
import { noPreview, previewAfter } from "./preview.ts";
import { cursorRow, lastRows, rowsOf, rowsTaken } from "./screen.ts";
import { sender } from "./sender.ts";

type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;

async function scripted(t: TestContext, answer: Answer): Promise<() => Client> {
  const server = createServer(
    (request, response) => void readAll(request).then((body) => answer(request, response, body)),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const home = mkdtempSync(join(tmpdir(), "everturn-talk-"));
  t.after(() => {
    server.close();
    server.closeAllConnections();
    rmSync(home, { recursive: true, force: true });
  });
  const place = { home, stateFile: join(home, "gateway_state.json"), tokenFile: join(home, "control.token") };
  writeFileSync(
    place.stateFile,
    JSON.stringify({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, pid: process.pid }),
  );
  writeFileSync(place.tokenFile, "t".repeat(43));
  return () => connectGateway(place);
}

function frame(type: string, data: unknown): string {
  return `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}

function message(n: number, role: string, text: string, key = `k${n}`, turn = "t1") {
  return { n, key, session: "s", turn, role, text, at: n };
}

function fail(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ error: { code, message: `because of ${code}` } }));
}

function memoryOutput(): Output & { readonly said: string[]; readonly remarks: string[] } {
  const said: string[] = [];
  const remarks: string[] = [];
  const out = (text: string) => void said.push(text);
  return { said, remarks, out, err: (text) => void remarks.push(text), columns: 80, tty: false, colour: false };
}

test("a feed comes back with its cursor, tells nothing twice, and says that it was away", async (t) => {
  const asked: string[] = [];
  const connect = await scripted(t, (request, response) => {
    asked.push(request.url ?? "");
    const n = asked.length;
    if (n === 2) return response.destroy();
    if (n === 3) return fail(response, 503, "starting");
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(frame("hello", { boot: n === 1 ? "b1" : "b2", version: "v" }));
    response.write(frame("message", message(1, "user", "a")));
    response.write(frame("message", message(n === 1 ? 2 : 3, "assistant", "ü".repeat(3))));
    response.write(frame("live", {}));
    if (n === 1) response.end();
  });
  const events: FeedEvent[] = [];
  const enough = new AbortController();
  await follow(
    connect,
    "/events",
    (event) => {
      events.push(event);
      if (event.type === "live" && events.filter((one) => one.type === "live").length === 2) enough.abort();
    },
    enough.signal,
  );
  assert.deepEqual(asked, ["/events", "/events?after=2", "/events?after=2", "/events?after=2"]);
  assert.deepEqual(
    events.map((one) => (one.type === "message" ? one.message.n : one.type === "back" ? one : one.type)),
    [1, 2, "live", "away", { type: "back", restarted: true }, 3, "live"],
  );
});

test("a line is sent until it is confirmed, under one id, and in order", async (t) => {
  const bodies: { id: string; text: string }[] = [];
  const connect = await scripted(t, (_, response, body) => {
    bodies.push(JSON.parse(body) as { id: string; text: string });
    const n = bodies.length;
    if (n === 1) return response.destroy();
    if (n === 2) return fail(response, 429, "busy");
    if (n === 5) return fail(response, 400, "bad-request");
    response.end(JSON.stringify({ status: "accepted" }));
  });
  const out = sender(connect, "/messages", new AbortController().signal);
  const sent = await Promise.all([out.send("one"), out.send("two"), out.send("three")]);
  assert.deepEqual(
    sent.map((one) => one.result),
    ["stored", "stored", "refused"],
  );
  assert.equal(sent[2]?.why, "because of bad-request");
  assert.deepEqual(
    bodies.map((one) => one.text),
    ["one", "one", "one", "two", "three"],
  );
  assert.equal(new Set(bodies.slice(0, 3).map((one) => one.id)).size, 1);
  assert.equal(new Set(bodies.map((one) => one.id)).size, 3);
  assert.equal(out.unconfirmed, 0);
  assert.ok(out.sent(bodies[0]?.id ?? ""));
});

test("a sender that is stopped says which lines were not confirmed", async (t) => {
  const over = new AbortController();
  const connect = await scripted(t, (_, response) => {
    fail(response, 503, "store-full");
    over.abort();
  });
  const out = sender(connect, "/messages", over.signal);
  assert.equal((await out.send("one")).result, "given-up");
  assert.equal(out.unconfirmed, 1);
});

test("piped lines are answered one by one; what came before is not repeated", async (t) => {
  const output = memoryOutput();
  const over = new AbortController();
  let tell: (event: FeedEvent) => void = () => {};
  let n = 10;
  const said = new Map<string, string[]>();
  const early = new Map<string, number>();
  const connect = await scripted(t, (request, response, body) => {
    if (request.method === "GET") {
      const turn = (request.url ?? "").split("/").at(-1);
      // One that is looked at for the first time is still at it, and goes on when it is looked at again.
      const looks = (early.get(turn ?? "") ?? 0) + 1;
      const isEarly = early.has(turn ?? "") && looks <= 2;
      if (early.has(turn ?? "")) early.set(turn ?? "", looks);
      const state = isEarly ? "running" : turn === "turn-ask" ? "waiting" : "done";
      const items = (said.get(turn ?? "") ?? []).flatMap((one) => [
        { id: one, part: 0 },
        { id: `${one}+`, part: 1 },
      ]);
      if (turn === "turn-command") return fail(response, 404, "not-found");
      if (isEarly && looks === 2) setImmediate(() => speak(turn ?? "", "the rest"));
      return response.end(JSON.stringify({ turn: { id: turn, state }, items }));
    }
    const { id, text } = JSON.parse(body) as { id: string; text: string };
    response.end(JSON.stringify({ status: "accepted" }));
    const turn = `turn-${text}`;
    tell({ type: "message", message: message(++n, "user", text, id, turn) as never });
    // A turn that was cancelled gets no answer; the next line must still go out.
    if (text === "silent") return;
    if (text === "long") early.set(turn, 0);
    const question = text === "ask" ? { question: { id: "q", choices: ["red", "blue"] } } : {};
    speak(turn, `re: ${text}`, question);
  });
  function speak(turn: string, text: string, more: object = {}): void {
    const key = `i${++n}`;
    said.set(turn, [...(said.get(turn) ?? []), key]);
    tell({ type: "message", message: { ...message(n, "assistant", text, key, turn), ...more } as never });
  }
  const talk = piped(
    connect,
    sender(connect, "/messages", over.signal),
    output,
    over.signal,
    fileDesk(connect, "", ""),
    1,
  );
  tell = (event) => talk.told(event);
  tell({ type: "message", message: message(1, "assistant", "old") as never });
  tell({ type: "live" });
  assert.equal(await talk.run(Readable.from(["one\n\nask\nsilent\nlong\ncommand\n", "last"])), 0);
  assert.deepEqual(output.said, [
    "re: one",
    "re: ask\n  1) red\n  2) blue",
    "re: long",
    "the rest",
    "re: command",
    "re: last",
  ]);
});

test("an answer to what was asked in an earlier chat ends when its turn has ended or asks again", async (t) => {
  for (const state of ["done", "waiting"]) {
    const output = memoryOutput();
    const over = new AbortController();
    let tell: (event: FeedEvent) => void = () => {};
    const connect = await scripted(t, (request, response, body) => {
      if (request.method === "GET") {
        // One that nobody shows any more, the question of the earlier chat, and what the turn says now.
        const items = [
          { id: "ancient", part: 0, createdAt: 1 },
          { id: "t1.q1.0", part: 0, createdAt: 2 },
          { id: "t1.0", part: 0, createdAt: 4 },
        ];
        return response.end(JSON.stringify({ turn: { id: "t1", state }, items }));
      }
      const { id, text } = JSON.parse(body) as { id: string; text: string };
      response.end(JSON.stringify({ status: "accepted" }));
      tell({ type: "message", message: message(3, "user", text, id) as never });
      setTimeout(() => tell({ type: "message", message: message(4, "assistant", "Done.", "t1.0") as never }), 20);
    });
    const messages = sender(connect, "/messages", over.signal);
    const talk = piped(connect, messages, output, over.signal, fileDesk(connect, "", ""), 1);
    tell = (event) => talk.told(event);
    tell({ type: "message", message: message(2, "assistant", "May I?", "t1.q1.0") as never });
    tell({ type: "live" });
    const limit = setTimeout(() => over.abort(), 20_000);
    assert.equal(await talk.run(Readable.from(["/approve\n"])), 0);
    clearTimeout(limit);
    assert.ok(!over.signal.aborted, `it ends by itself when its turn is ${state}`);
    assert.deepEqual(output.said, ["Done."]);
  }
});

test("the words so far stay over a loss until new ones or the answer come", () => {
  const draft = (text: string | null): FeedEvent => ({ type: "draft", text });
  const said = (role: string): FeedEvent => ({ type: "message", message: message(1, role, "hi") as never });
  const [away, back, live]: readonly FeedEvent[] = [
    { type: "away", why: "it stopped" },
    { type: "back", restarted: true },
    { type: "live" },
  ];
  assert.ok(away && back && live);
  for (const [events, text] of [
    [[draft("1"), draft("1, 2")], "1, 2"],
    [[draft("1"), draft(null)], null],
    [[draft("1"), draft("")], ""],
    [[draft("1"), away], "1"],
    [[draft("1"), away, back, said("user"), live, draft("")], "1"],
    [[draft("1"), away, back, live, draft(""), draft("1, 2"), draft("")], ""],
    [[draft("1"), away, back, said("assistant")], null],
    [[draft("1"), away, back, live, draft(""), draft(null)], null],
    [[away, back, draft("")], ""],
  ] satisfies readonly (readonly [readonly FeedEvent[], string | null])[])
    assert.equal(events.reduce(previewAfter, noPreview).text, text, JSON.stringify(events));
});

test("the end of a growing answer is cut into rows of the terminal", () => {
  assert.deepEqual(lastRows("abcdefgh\nxy", 5, 10), ["abcd", "efgh", "xy"]);
  assert.deepEqual(lastRows("1\n2\n3\n4", 80, 2), ["3", "4"]);
  assert.deepEqual(lastRows("日本語", 5, 10), ["日本", "語"]);
  assert.deepEqual(lastRows("", 5, 10), [""]);
});

test("text is broken between words, and inside them only where a word is longer than a row", () => {
  for (const [text, columns, rows] of [
    ["the gateway is back", 9, ["the", "gateway", "is back"]],
    ["the gateway is back", 12, ["the gateway", "is back"]],
    ["one two  three", 8, ["one two", "three"]],
    ["a gatewaygateway b", 8, ["a", "gateway", "gateway", "b"]],
    ["  1) tea\n  2) coffee", 9, ["  1) tea", "  2)", "coffee"]],
    ["    gateway", 8, ["    gat", "eway"]],
    ["\tab", 80, ["  ab"]],
    ["done\n", 80, ["done", ""]],
    ["日本 語", 6, ["日本", "語"]],
  ] as const)
    assert.deepEqual(rowsOf(text, columns), rows, text);
  const long = "word ".repeat(40_000);
  assert.equal(rowsOf(long, 60).join(" ").trimEnd(), long.trimEnd());
});

test("rows above the cursor are counted at the width of the moment, and pasted text by where it really ends", () => {
  assert.equal(rowsTaken(["x".repeat(59), "", "x"], 60), 3);
  assert.equal(rowsTaken(["x".repeat(59), "", "x"], 40), 4);
  assert.equal(rowsTaken([], 40), 0);
  assert.equal(cursorRow({ rows: 0, cols: 5 }, 0), 0);
  assert.equal(cursorRow({ rows: 1, cols: 5 }, 0), 1, "pasted over the end of a row");
  assert.equal(cursorRow({ rows: 1, cols: 0 }, 0), 0, "pasted up to the end of a row");
  assert.equal(cursorRow({ rows: 1, cols: 0 }, 1), 1, "drawn up to the end of a row");
});
