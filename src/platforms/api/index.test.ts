// The routes with a store in memory and no gateway: what happens when an answer takes long, when it comes in pieces, when
// callers leave and when there are too many of them.

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Instant, SessionId, TurnId } from "../../core/ids.ts";
import type { Address, Inbound } from "../../core/message.ts";
import { newSession } from "../../core/session.ts";
import { type Turn, advanceTurn, asNew, newTurn } from "../../core/turn.ts";
import { blobsLater } from "../../stores/blobs/later.ts";
import { personBlobs } from "../../stores/blobs/person.ts";
import { memory, openSqliteStore } from "../../stores/sqlite/index.ts";
import { inletOf } from "../../testing/platform/steps.ts";
import { aBoot, anItem, bootId } from "../../testing/samples.ts";
import { realWorld } from "../../world.ts";
import { apiLimits } from "./api.ts";
import { idOf, inboundKey } from "./inbound.ts";
import { api } from "./index.ts";

const boot = bootId("b1");
const at = (n: number) => n as Instant;
const key = "a-key-of-some-length";
const otherKey = "another-key-of-some-length";

async function opened(t: TestContext, pingMs: number) {
  const store = await openSqliteStore({ file: memory, writer: "inline" });
  await store.openBoot(aBoot("b1"));
  const folder = await mkdtemp(join(tmpdir(), "everturn-api-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const world = realWorld(() => undefined);
  const blobs = blobsLater(folder);
  const filesOf = (caller: string) => personBlobs(blobs, join(folder, caller));
  const keys = [
    { name: "app", key },
    { name: "other", key: otherKey },
  ];
  const { platform, routes } = api(
    { keys, filesOf, pingMs, holdMs: 1 },
    { world, blobs, archive: store, store, troubleOf: () => null },
  );
  const stop = new AbortController();
  const taken: Turn[] = [];
  const waiting = Promise.withResolvers<void>();

  /** As the engine does: the message, its turn and its key in one commit, and the turn runs. */
  async function accept(inbound: Inbound): Promise<"accepted"> {
    const session = newSession(`s${taken.length}` as SessionId, inbound.from, boot, at(1));
    const turn = newTurn(`t${taken.length}` as TurnId, session.id, inbound, at(1));
    const running = asNew(advanceTurn(turn, { type: "claimed", boot, at: at(1) }));
    const text = inbound.body.kind === "text" ? inbound.body.text : "";
    const { platform: name, account } = inbound.from;
    await store.commit(
      [
        { put: "session", session },
        { put: "inbox", platform: name, account, key: inbound.key, turn: turn.id, at: at(1) },
        {
          put: "message",
          message: { key: inbound.key, session: session.id, turn: turn.id, role: "user", text, at: at(1) },
        },
        { put: "turn", turn: running },
      ],
      boot,
    );
    taken.push(running);
    waiting.resolve();
    return "accepted";
  }

  /** As the engine stores what answers a question of a turn. */
  async function answered(turn: Turn, name: string, text: string): Promise<void> {
    const { platform: of, account } = turn.input.from;
    const message = { key: name, session: turn.session, turn: turn.id, role: "user", text, at: at(2) } as const;
    await store.commit(
      [
        { put: "inbox", platform: of, account, key: name, turn: turn.id, at: at(2) },
        { put: "message", message },
      ],
      boot,
    );
  }

  async function say(turn: Turn, text: string): Promise<void> {
    const ended = advanceTurn(turn, { type: "ended", outcome: "replied", at: at(2) });
    const line = {
      key: `${turn.id}.0`,
      session: turn.session,
      turn: turn.id,
      role: "assistant",
      text,
      at: at(2),
    } as const;
    await store.commit(
      [
        { put: "turn", turn: ended },
        { put: "message", message: line },
      ],
      boot,
    );
    wake(turn.input.from);
  }

  const wake = (to: Address) => {
    platform.draft(to, null);
  };
  const ended = platform.listen(inletOf(accept), null, stop.signal);
  t.after(async () => {
    stop.abort();
    await ended;
    await store.close();
  });
  const post = (body: object, headers: Record<string, string> = {}, signal?: AbortSignal) =>
    routes.handle(
      new Request("http://127.0.0.1/v1/chat/completions", {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, ...headers },
        body: JSON.stringify(body),
        ...(signal === undefined ? {} : { signal }),
      }),
    );
  const get = (path: string, as: string) =>
    routes.handle(new Request(`http://127.0.0.1/v1/${path}`, { headers: { authorization: `Bearer ${as}` } }));
  return { post, get, say, answered, taken, platform, blobs, stop, ended, first: waiting.promise };
}

const hi = { messages: [{ role: "user", content: "hi" }] };

test("a file opens for the key that it was sent to, and for no other", async (t) => {
  const { get, platform, blobs, stop } = await opened(t, 1_000);
  const file = await blobs.put(Buffer.from("report"), { name: "a.txt", mime: "text/plain" });
  const unsent = await blobs.put(Buffer.from("private"), { name: "b.txt", mime: "text/plain" });
  const to = { platform: "api", account: "api", chat: "app", thread: "t" };
  const sent = await platform.send(anItem("i1", { to, files: [file] }), stop.signal);
  assert.equal(sent.type, "accepted");
  const status = async (blob: string, as: string) => (await get(`files/${blob}/content?name=a`, as)).status;
  assert.equal(await (await get(`files/${file.blob}/content?name=a`, key)).text(), "report");
  assert.equal(await status(file.blob, otherKey), 404);
  assert.equal(await status(unsent.blob, key), 404);
  assert.equal(await status("..%2f..%2fx", key), 404);
});

test("a whole answer that takes long is kept alive with blanks, and is JSON all the same", async (t) => {
  const { post, say, taken, first } = await opened(t, 5);
  const asked = post(hi);
  await first;
  const response = await asked;
  const reader = (response.body ?? assert.fail("no body")).getReader();
  const decoder = new TextDecoder();
  let text = "";
  while (text.length < 3) text += decoder.decode((await reader.read()).value);
  assert.match(text, /^ +$/);
  await say(taken[0] ?? assert.fail("nothing was taken"), "At last.");
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) text += decoder.decode(chunk.value);
  const { choices } = JSON.parse(text) as { choices: readonly { message: { content: string } }[] };
  assert.equal(choices[0]?.message.content, "At last.");
});

test("a whole answer that cannot be waited for is cut, never half an answer", async (t) => {
  const { post, first, stop } = await opened(t, 5);
  const asked = post(hi);
  await first;
  const response = await asked;
  stop.abort();
  await assert.rejects(response.text());
});

test("a stop is told to whoever has nothing yet", async (t) => {
  const { post, first, stop } = await opened(t, 60_000);
  const whole = post(hi);
  await first;
  const stream = await post({ ...hi, stream: true });
  stop.abort();
  const told = await whole;
  assert.deepEqual([told.status, told.headers.get("retry-after")], [503, "1"]);
  // What it is to be repeated with, although the caller gave no key.
  assert.match(told.headers.get("idempotency-key") ?? "", /^auto-/);
  assert.match(await stream.text(), /data: \{"error":\{"message":"The gateway is stopping.*"code":"stopping"\}\}\n\n$/);
  const late = await post(hi);
  assert.equal(late.status, 503);
});

test("a stream says that it lives, shows what grows, and ends with the whole answer", async (t) => {
  const { post, say, taken, platform } = await opened(t, 5);
  const response = await post({ ...hi, stream: true, stream_options: { include_usage: true } });
  const turn = taken[0] ?? assert.fail("nothing was taken");
  const events = (response.body ?? assert.fail("no body")).pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const until = async (words: string) => {
    while (!text.includes(words))
      text += (await events.read()).value ?? assert.fail(`it ended before ${words}: ${text}`);
  };
  await until(": still at work");
  platform.draft(turn.input.from, "Let me look.\n\n… ls");
  await until('"content":"Let me look."');
  platform.draft(turn.input.from, "It");
  await until('"content":"\\n\\nIt"');
  await say(turn, "It is 5.");
  await until("data: [DONE]\n\n");
  assert.match(
    text,
    /"content":" is 5\."[^]*"finish_reason":"stop"[^]*"choices":\[\],"usage":null\}\n\ndata: \[DONE\]\n\n$/,
  );
  assert.ok(!text.includes("… ls"), "lines about calls are no answer");
});

test("a key names one request: under it another one is refused, and a repeat is not", async (t) => {
  const { post, say, taken, first } = await opened(t, 60_000);
  const headers = { "idempotency-key": "same", "x-everturn-session": "one" };
  const file = (data: string) => ({ type: "file", file: { filename: "a.txt", file_data: data } });
  const asked = { messages: [{ role: "user", content: [{ type: "text", text: "hi" }, file("aGk=")] }] };
  const answer = post(asked, headers);
  await first;
  await say(taken[0] ?? assert.fail("nothing was taken"), "Hello.");
  assert.equal((await answer).status, 200);
  const cases: readonly (readonly [what: string, status: number, body: object, headers: Record<string, string>])[] = [
    ["the same", 200, asked, headers],
    ["the same, given in another way", 200, { ...asked, stream: true }, headers],
    ["another model", 422, { ...asked, model: "x" }, headers],
    ["another temperature", 422, { ...asked, temperature: 0.5 }, headers],
    ["other words", 422, hi, headers],
    [
      "another file",
      422,
      { messages: [{ role: "user", content: [{ type: "text", text: "hi" }, file("aGg=")] }] },
      headers,
    ],
    ["more before it", 422, { messages: [{ role: "system", content: "briefly" }, ...asked.messages] }, headers],
    ["another conversation", 422, asked, { ...headers, "x-everturn-session": "two" }],
  ];
  for (const [what, status, body, more] of cases) {
    const response = await post(body, more);
    assert.equal(response.status, status, what);
    if (status === 200) await response.body?.cancel();
    else {
      const { error } = (await response.json()) as { error: Record<string, unknown> };
      assert.deepEqual(
        [error["type"], error["code"], error["param"]],
        ["invalid_request_error", "idempotency_key_reused", "Idempotency-Key"],
      );
    }
  }
  assert.equal(taken.length, 1);
});

test("the key of an answer to a question names that answer", async (t) => {
  const { post, answered, say, taken, first } = await opened(t, 60_000);
  const session = { "x-everturn-session": "one" };
  const open = await post({ ...hi, stream: true }, session);
  await first;
  const turn = taken[0] ?? assert.fail("nothing was taken");
  await answered(turn, inboundKey("app", idOf("app", "k2")), "blue");
  await say(turn, "Blue it is.");
  await open.body?.cancel();
  const words = (content: string) => ({ stream: true, messages: [{ role: "user", content }] });
  for (const [content, status] of [
    ["blue", 200],
    ["red", 422],
  ] as const) {
    const response = await post(words(content), { ...session, "idempotency-key": "k2" });
    assert.equal(response.status, status, content);
    await response.body?.cancel();
  }
});

test("callers who leave give their places back; too many are told to come back", async (t) => {
  const { post } = await opened(t, 60_000);
  const open: Response[] = [];
  for (let n = 0; n < apiLimits.openMax; n++)
    open.push(await post({ ...hi, stream: true }, { "idempotency-key": "same" }));
  const refused = await post(hi);
  assert.deepEqual([refused.status, refused.headers.get("retry-after")], [429, "1"]);
  await open[0]?.body?.cancel();
  const gone = new AbortController();
  const left = post(hi, { "idempotency-key": "same" }, gone.signal);
  setImmediate(() => gone.abort());
  assert.equal((await left).status, 499);
  const next = await post({ ...hi, stream: true }, { "idempotency-key": "same" });
  assert.equal(next.status, 200);
});
