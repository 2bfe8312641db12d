// The API as programs use it: the SDK of OpenAI, plain requests, files, conversations by name and by repetition, questions.

import assert from "node:assert/strict";
import { type TestContext, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import OpenAI from "openai";
import { newHome, patienceMs, runGateway } from "../process/stage.ts";
import { answerOf, ask, assistant, contentOf, frames, key, sdk, user, withKeys } from "./api-stage.ts";

const started = async (t: TestContext) => runGateway(t, withKeys(newHome(t)));
const model = "everturn";

type Line = { readonly role: string; readonly content: string };

async function linesOf(url: string, session: string, bearer = key): Promise<readonly Line[]> {
  const headers = { authorization: `Bearer ${bearer}` };
  const response = await fetch(`${url}/v1/sessions/${encodeURIComponent(session)}/messages`, { headers });
  return ((await response.json()) as { data: readonly Line[] }).data;
}

async function sessionsOf(url: string, token: string): Promise<readonly { readonly address: string }[]> {
  const response = await fetch(`${url}/api/sessions?platform=api`, { headers: { authorization: `Bearer ${token}` } });
  return ((await response.json()) as { sessions: readonly { address: string }[] }).sessions;
}

describe("the SDK of OpenAI", { timeout: 3 * patienceMs }, () => {
  test("asks, streams, and is told what it did wrong", async (t) => {
    const { url, token } = await started(t);
    const client = sdk(url);
    assert.deepEqual(
      (await client.models.list()).data.map(({ id }) => id),
      ["everturn"],
    );
    assert.equal((await client.models.retrieve("everturn")).object, "model");

    const { data, response } = await client.chat.completions
      .create({ model, messages: [user("what is up")] })
      .withResponse();
    assert.equal(data.choices[0]?.message.content, "You said: what is up");
    assert.deepEqual([data.object, data.model, data.choices[0]?.finish_reason], ["chat.completion", model, "stop"]);
    assert.match(data.id, /^chatcmpl-/);
    assert.match(response.headers.get("idempotency-key") ?? "", /^auto-/);

    const stream = await client.chat.completions.create({
      model,
      stream: true,
      stream_options: { include_usage: true },
      messages: [user("count to 5 slowly")],
    });
    const pieces: string[] = [];
    let finish: string | null | undefined = null;
    for await (const chunk of stream) {
      pieces.push(chunk.choices[0]?.delta.content ?? "");
      finish = chunk.choices[0]?.finish_reason ?? finish;
    }
    assert.equal(pieces.join(""), "1, 2, 3, 4, 5\n\nCounted to 5 without interruption.");
    assert.ok(pieces.filter((piece) => piece !== "").length > 2, `it came in pieces: ${JSON.stringify(pieces)}`);
    assert.equal(finish, "stop");

    const asked = { model, messages: [user("hi")] };
    await assert.rejects(sdk(url, { apiKey: "wrong" }).chat.completions.create(asked), OpenAI.AuthenticationError);
    await assert.rejects(sdk(url).models.retrieve("gpt-5"), OpenAI.NotFoundError);
    await assert.rejects(client.chat.completions.create({ ...asked, model: "gpt-5" }), OpenAI.NotFoundError);
    await assert.rejects(client.chat.completions.create({ ...asked, messages: [] }), OpenAI.BadRequestError);
    const tools = [{ type: "function", function: { name: "f" } }] as const;
    await assert.rejects(
      client.chat.completions.create({ ...asked, tools: [...tools] }),
      (error) => error instanceof OpenAI.BadRequestError && error.param === "tools" && /own tools/.test(error.message),
    );
    assert.equal((await sdk(url, { apiKey: token }).chat.completions.create(asked)).object, "chat.completion");
  });
});

describe("conversations", { timeout: 3 * patienceMs }, () => {
  test("a named one takes only the newest words, of its own caller; the app's wishes come once", async (t) => {
    const { url } = await started(t);
    const session = { "x-everturn-session": "a chat/1" };
    const system = { role: "system", content: "Be brief." };
    assert.match(await answerOf(await ask(url, { messages: [system, user("one")] }, session)), /^You said: one\n/);
    const told = [system, user("one"), assistant("whatever"), user("two")];
    assert.equal(await answerOf(await ask(url, { messages: told }, session)), "You said: two");
    assert.equal(await answerOf(await ask(url, { messages: [user("three")], user: "a chat/1" })), "You said: three");
    const lines = await linesOf(url, "a chat/1");
    assert.deepEqual(
      lines.map(({ role }) => role),
      ["user", "assistant", "user", "assistant", "user", "assistant"],
    );
    assert.equal(lines.filter(({ content }) => content.includes("Be brief.")).length, 2);
    assert.deepEqual(await linesOf(url, "a chat/1", "another-key-of-some-length"), []);
  });

  test("many who ask at once in one each get their own answer, however they want it", async (t) => {
    const { url } = await started(t);
    const session = { "x-everturn-session": "crowd" };
    // While it counts the others queue up, so that all their messages stand before the first of their answers.
    const slow = frames(await ask(url, { messages: [user("count to 12 slowly")], stream: true }, session));
    await slow.next();
    const words = Array.from({ length: 120 }, (_, n) => `word ${n}`);
    const answers = await Promise.all(
      words.map(async (word, n) => {
        const stream = n % 2 === 0;
        const response = await ask(url, { messages: [user(word)], stream }, session);
        if (!stream) return answerOf(response);
        let text = "";
        for await (const frame of frames(response)) text += contentOf(frame);
        return text;
      }),
    );
    assert.deepEqual(
      answers,
      words.map((word) => `You said: ${word}`),
    );
    let counted = "";
    for await (const frame of slow) counted += contentOf(frame);
    assert.match(counted, /12\n\nCounted to 12/);
  });

  test("one that its app repeats is known again; one that was changed goes on as another", async (t) => {
    const { url, token } = await started(t);
    const told: { role: string; content: unknown }[] = [{ role: "system", content: "It is Monday." }];
    for (const [n, words] of ["one", "two", "three"].entries()) {
      told[0] = { role: "system", content: `It is ${n} o'clock.` };
      told.push(user(words));
      const answer = await answerOf(await ask(url, { messages: told }));
      assert.ok(answer.startsWith(`You said: ${words}`), answer);
      told.push(assistant(answer));
      assert.equal((await sessionsOf(url, token)).length, 1, "it is one conversation");
    }
    // The last answer is wanted anew: what was said after the branch is no part of it.
    const again = await answerOf(await ask(url, { messages: told.slice(0, -1) }));
    assert.match(again, /^You said: three\n\n\[What was said before.*user: one.*user: two/s);
    assert.equal((await sessionsOf(url, token)).length, 2);
  });

  test("a question is answered by the next message, also where the app only repeats what was said", async (t) => {
    const { url } = await started(t);
    const asked = await answerOf(await ask(url, { messages: [user("ask me")] }));
    assert.match(asked, /\n1\. .+\n2\. .+\n3\. .+\n\nAnswer with a number/);
    const first = /\n1\. (.+)\n/.exec(asked)?.[1] ?? "";
    const told = [user("ask me"), assistant(asked), user("1")];
    const answered = await answerOf(await ask(url, { messages: told }));
    assert.ok(answered.includes(first), answered);

    const session = { "x-everturn-session": "letters" };
    const leave = await answerOf(await ask(url, { messages: [user("ask before you act")] }, session));
    assert.match(leave, /Answer with one of these words: .*approve/);
    assert.match(await answerOf(await ask(url, { messages: [user("approve")] }, session)), /^Done/);

    // A key without the role only withdraws what it asked for.
    const other = { ...session, authorization: "Bearer another-key-of-some-length" };
    const asks = await answerOf(await ask(url, { messages: [user("ask before you act")] }, other));
    assert.match(asks, /Only approvers may allow this\. .*\n\nAnswer with one of these words: deny\.$/s);
    for (const words of ["approve", "yes", "/approve", "/approve always"]) {
      const refused = await answerOf(await ask(url, { messages: [user(words)] }, other));
      assert.match(refused, /^Only approvers may allow this\./, words);
    }
    assert.match(
      await answerOf(await ask(url, { messages: [user("/restart")] }, other)),
      /^Only admins of api may use/,
    );
    assert.match(await answerOf(await ask(url, { messages: [user("deny")] }, other)), /not done/);
    const help = await answerOf(await ask(url, { messages: [{ role: "system", content: "x" }, user("/help")] }));
    assert.match(help, /\/status/);
  });

  test("files go in with the words, and come back as links", async (t) => {
    const { url } = await started(t);
    const picture = {
      type: "image_url",
      image_url: { url: `data:image/png;base64,${Buffer.from("PNG!").toString("base64")}` },
    };
    const said = await answerOf(await ask(url, { messages: [user([{ type: "text", text: "look" }, picture])] }));
    assert.equal(said, "You said: look\n\nYou sent me:\n- picture-1.png, 4 bytes");
    const back = await answerOf(
      await ask(url, { messages: [user([{ type: "text", text: "send it back" }, picture])] }),
    );
    const link = /\((\/v1\/files\/[^)]+)\)/.exec(back)?.[1] ?? assert.fail(back);
    const file = await fetch(`${url}${link}`, { headers: { authorization: `Bearer ${key}` } });
    assert.deepEqual([file.status, await file.text()], [200, "PNG!"]);
    assert.equal((await fetch(`${url}${link}`)).status, 401);
  });
});

describe("what is wrong or hostile", { timeout: 3 * patienceMs }, () => {
  test("is refused in the shape that clients know, and the gateway goes on", async (t) => {
    const { url, token } = await started(t);
    const good = { messages: [user("hi")] };
    const cases: readonly (readonly [what: string, status: number, body: unknown, headers?: Record<string, string>])[] =
      [
        ["no JSON", 400, "{"],
        ["no object", 400, "[]"],
        ["nothing", 400, ""],
        ["Latin-1", 400, new Blob([Buffer.from(JSON.stringify({ messages: [user("Grüße")] }), "latin1")])],
        ["deep", 400, "[".repeat(100_000)],
        ["no key", 401, good, { authorization: "" }],
        ["a wrong key", 401, good, { authorization: "Bearer nope" }],
        ["the cookie of a page", 401, good, { authorization: "", cookie: `everturn=${token}` }],
        ["another site's page", 403, good, { origin: "https://evil.example" }],
        ["a key that cannot be one", 400, good, { "idempotency-key": "a b" }],
        ["an id that is none", 400, good, { "last-event-id": "seven" }],
        ["too large", 413, JSON.stringify({ messages: [user("x".repeat(33 * 1024 * 1024))] })],
        ["a text that is too long", 413, { messages: [user("x".repeat(2_000_001))] }],
      ];
    for (const [what, status, body, headers] of cases) {
      const response = await ask(url, body, headers);
      const { error } = (await response.json()) as { error: { message: string; type?: string } };
      assert.deepEqual([response.status, typeof error.message], [status, "string"], what);
    }
    for (const [method, path, status] of [
      ["GET", "/v1/chat/completions", 405],
      ["DELETE", "/v1/models", 405],
      ["GET", "/v1/nothing", 404],
      ["GET", "/v1/chat/completions/chatcmpl-unknown", 404],
      ["GET", "/v1/files/..%2f..%2fcontrol.token/content", 404],
      ["GET", "/v1/sessions/%ff/messages", 400],
      ["POST", "/v1/responses", 404],
      ["POST", "/v1/models", 405],
      ["POST", "/v1/chat/completions/x", 405],
    ] as const) {
      const body = method === "POST" ? JSON.stringify({ input: "hi" }) : null;
      const response = await fetch(`${url}${path}`, { method, body, headers: { authorization: `Bearer ${key}` } });
      assert.equal(response.status, status, `${method} ${path}`);
    }
    const gone = new AbortController();
    const leaving = fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ messages: [user("count to 3 slowly")], stream: true }),
      signal: gone.signal,
    });
    const stream = frames(await leaving);
    await stream.next();
    gone.abort();
    await assert.rejects(async () => {
      // What had come by then is still read.
      for await (const frame of stream) contentOf(frame);
    });
    assert.equal(await answerOf(await ask(url, { messages: [user("still there?")] })), "You said: still there?");
  });

  test("switched off there is nothing", async (t) => {
    const home = withKeys(newHome(t));
    const { url, token } = await runGateway(t, home, { env: { EVERTURN_PLATFORMS__API: "false" } });
    const response = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${token}` } });
    assert.equal(response.status, 404);
  });
});

describe("an answer that is asked for again", { timeout: 3 * patienceMs }, () => {
  test("under the same key it is the same, also while it is being made, and streams go on where they were", async (t) => {
    const { url } = await started(t);
    const headers = { "idempotency-key": "k-1" };
    const body = { messages: [user("count to 8 slowly")] };
    const streamed = await ask(url, { ...body, stream: true }, headers);
    const id = streamed.headers.get("x-everturn-completion") ?? "";
    const reading = frames(streamed);
    let had = "";
    let mark = "";
    for await (const frame of reading) {
      had += contentOf(frame);
      mark = frame.id ?? mark;
      if (had.includes("3")) break;
    }
    const [whole, twin] = await Promise.all([ask(url, body, headers), ask(url, body, headers)]);
    const { created } = (await whole.clone().json()) as { readonly created: number };
    const answer = await answerOf(whole);
    assert.equal(answer, "1, 2, 3, 4, 5, 6, 7, 8\n\nCounted to 8 without interruption.");
    assert.equal(await answerOf(twin), answer);
    while (Math.floor(Date.now() / 1_000) <= created) await sleep(50);
    const later = (await (await ask(url, body, headers)).json()) as { readonly created: number };
    assert.equal(later.created, created, "the time of the first request");
    for (const rest of [
      ask(url, { ...body, stream: true }, { ...headers, "last-event-id": mark }),
      fetch(`${url}/v1/chat/completions/${id}?after=${mark}`, { headers: { authorization: `Bearer ${key}` } }),
    ]) {
      let text = had;
      for await (const frame of frames(await rest)) text += contentOf(frame);
      assert.equal(text, answer);
    }
    const strangers = await fetch(`${url}/v1/chat/completions/${id}`, {
      headers: { authorization: "Bearer another-key-of-some-length" },
    });
    assert.equal(strangers.status, 404, "an answer belongs to its caller");
  });
});
