// Turns that fail, as a program meets them: an error with a status in OpenAI's shape, the same one for a repeat, while the
// turn keeps its own rules. And what a program asks of the model: passed on, kept over a kill, or refused.

import assert from "node:assert/strict";
import { createServer } from "node:net";
import { type TestContext, describe, test } from "node:test";
import OpenAI from "openai";
import { openStage } from "../agent/stage.ts";
import { type Asked, type Plan, fakeModels } from "../fakes/models/index.ts";
import { atEnd, newHome, patienceMs, runGateway } from "../process/stage.ts";
import { answerOf, ask, assistant, contentOf, frames, key, sdk, user, withKeys } from "./api-stage.ts";

const keys = `platforms:\n  api:\n    keys:\n      app: ${key}`;
const refusal = (status: number, message: string, code: string | null = null): Plan => ({
  status,
  body: { error: { message, type: "invalid_request_error", param: null, code } },
});

const plans: Readonly<Record<string, Plan>> = {
  key: refusal(401, "Incorrect API key provided.", "invalid_api_key"),
  credit: refusal(429, "You exceeded your current quota.", "insufficient_quota"),
  model: refusal(404, "The model does not exist.", "model_not_found"),
  schema: refusal(400, "Invalid schema for response_format.", "invalid_json_schema"),
  filter: refusal(400, "The response was filtered by the content policy.", "content_filter"),
};

const wordsOf = ({ seen }: Asked): string => (seen.messages.findLast(({ role }) => role === "user")?.text ?? "").trim();

function script(asked: Asked): Plan {
  const words = wordsOf(asked);
  const plan = Object.entries(plans).find(([name]) => words.endsWith(`fail: ${name}`))?.[1];
  if (plan !== undefined) return plan;
  if (!words.endsWith("work, then fail")) return { text: "A whole answer." };
  const isAfterCall = asked.seen.messages.some(({ results }) => results.length > 0);
  if (isAfterCall) return refusal(401, "Incorrect API key provided.", "invalid_api_key");
  return { text: "Let me look.", calls: [{ name: "list_files", input: { path: "." } }] };
}

async function started(t: TestContext, agent = "  fallback: []") {
  const stage = await openStage(t, script, { agent, more: keys });
  return { ...stage, ...(await stage.start()) };
}

type ErrorBody = {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string;
  };
};

async function errorOf(response: Response) {
  const { error } = (await response.json()) as ErrorBody;
  assert.deepEqual(Object.keys(error).toSorted(), ["code", "message", "param", "type"]);
  return { status: response.status, retry: response.headers.get("x-should-retry"), ...error };
}

describe("a failed turn", { timeout: 3 * patienceMs }, () => {
  test("is an error with a status, whole and as a stream, and the same for a repeat", async (t) => {
    const { url, fake } = await started(t);
    for (const [name, status, code] of [
      ["key", 502, "provider_auth_failed"],
      ["credit", 429, "insufficient_quota"],
      ["model", 404, "model_not_found"],
      ["schema", 400, "provider_bad_request"],
      ["filter", 400, "content_filter"],
    ] as const) {
      const body = { messages: [user(`fail: ${name}`)] };
      const headers = { "idempotency-key": name };
      const first = await errorOf(await ask(url, body, headers));
      assert.deepEqual([first.status, first.code, first.retry], [status, code, "false"], name);
      const asked = fake.requests.length;
      assert.deepEqual(await errorOf(await ask(url, body, headers)), first);
      assert.deepEqual(await errorOf(await ask(url, { ...body, stream: true }, headers)), first);
      assert.equal(fake.requests.length, asked, "a repeat asks the model nothing");
      const streamed = await ask(url, { messages: [user(`again, fail: ${name}`)], stream: true });
      // A machine that is very slow may have begun the stream before the model refused.
      if (streamed.status === 200) assert.match(await streamed.text(), new RegExp(`"code":"${code}"\\}\\}\n\n$`));
      else assert.deepEqual([streamed.status, (await errorOf(streamed)).code], [status, code], name);
    }
    // The transcript tells what happened, and the conversation goes on.
    assert.equal(await answerOf(await ask(url, { messages: [user("go on")] })), "A whole answer.");
  });

  test("is an event of a stream that has begun, as OpenAI's client knows it", async (t) => {
    const hasBegun = Promise.withResolvers<void>();
    const slow = async (asked: Asked): Promise<Plan> => {
      if (asked.nth > 1) await hasBegun.promise;
      return script(asked);
    };
    const stage = await openStage(t, slow, { more: keys });
    const { url } = await stage.start();
    const headers = { "Idempotency-Key": "begun" };
    const body = { model: "everturn", messages: [user("work, then fail")] };
    const create = () => sdk(url).chat.completions.create({ ...body, stream: true }, { headers });
    const stream = await create();
    let text = "";
    const read = async () => {
      for await (const chunk of stream) {
        text += chunk.choices[0]?.delta.content ?? "";
        if (text !== "") hasBegun.resolve();
      }
    };
    await assert.rejects(
      read(),
      (error) =>
        error instanceof OpenAI.APIError && error.code === "provider_auth_failed" && error.type === "server_error",
    );
    assert.equal(text, "Let me look.");
    // The repeat has nothing to stream, so it has a status.
    await assert.rejects(create(), (error) => error instanceof OpenAI.APIError && error.status === 502);
  });

  test("does not split the conversation of an app that only repeats what was said", async (t) => {
    const { url, token } = await started(t);
    const said: { role: string; content: string }[] = [user("hello")];
    said.push(assistant(await answerOf(await ask(url, { messages: said }))));
    assert.equal((await ask(url, { messages: [...said, user("fail: key")] })).status, 502);
    // One app drops the message that failed, another one keeps it.
    said.push(user("go on"));
    said.push(assistant(await answerOf(await ask(url, { messages: said }))));
    assert.equal((await ask(url, { messages: [...said, user("fail: credit")] })).status, 429);
    const kept = [...said, user("fail: credit"), user("and on")];
    assert.equal(await answerOf(await ask(url, { messages: kept })), "A whole answer.");
    const headers = { authorization: `Bearer ${token}` };
    const { sessions } = (await (await fetch(`${url}/api/sessions?platform=api`, { headers })).json()) as {
      sessions: readonly unknown[];
    };
    assert.equal(sessions.length, 1);
  });

  test("over the budget of a day", async (t) => {
    const { url } = await started(t, "  budget:\n    dayTokens: 1");
    assert.equal(await answerOf(await ask(url, { messages: [user("one")] })), "A whole answer.");
    const { status, ...error } = await errorOf(await ask(url, { messages: [user("two")] }));
    assert.deepEqual([status, error.code], [429, "insufficient_quota"]);
    assert.match(error.message, /agent\.budget\.dayTokens/);
  });

  test("that was stopped has no answer; one that is stopped later keeps its words", async (t) => {
    const { url } = await runGateway(t, withKeys(newHome(t)));
    const session = { "x-everturn-session": "s", "idempotency-key": "slow" };
    const slow = ask(url, { messages: [user("run a slow tool")] }, session);
    const lines = frames(await ask(url, { messages: [user("run a slow tool")], stream: true }, session));
    await lines.next();
    await ask(url, { messages: [user("/stop")] }, { "x-everturn-session": "s" });
    const response = await slow;
    if (response.status === 200) assert.match(await answerOf(response), /\(Stopped\.\)$/);
    else assert.deepEqual([response.status, (await errorOf(response)).code], [409, "turn_stopped"]);
  });
});

test("a model that cannot be reached: an error in time, and the answer when it is back", {
  timeout: 3 * patienceMs,
}, async (t) => {
  const port = await freePort();
  const agent = `agent:\n  model: openai-compatible/fake-model\n  baseUrl: http://127.0.0.1:${port}/v1\n`;
  const { url } = await runGateway(t, withKeys(newHome(t), agent));
  const body = { messages: [user("hi")] };
  const headers = { "idempotency-key": "away" };
  const [keyed, streamed, keyless] = await Promise.all([
    ask(url, body, headers),
    ask(url, { ...body, stream: true }, headers),
    ask(url, body),
  ]);
  const told = await errorOf(keyed);
  assert.deepEqual([told.status, told.code, told.retry], [503, "provider_unreachable", "true"]);
  assert.match(told.message, /It is still tried/);
  assert.match(keyed.headers.get("retry-after") ?? "", /^[1-9]\d*$/);
  // It had begun when its time was over.
  assert.equal(streamed.status, 200);
  assert.match(await streamed.text(), /data: \{"error":\{[^\n]*"code":"provider_unreachable"\}\}\n\n$/);
  const { status, retry } = await errorOf(keyless);
  assert.deepEqual([status, retry], [503, "false"], "a repeat without a key would be another message");
  const fake = await fakeModels(() => ({ text: "Back again." }), { port });
  atEnd(t, () => fake.close());
  const answer = await sdk(url, { maxRetries: 20 }).chat.completions.create(
    { model: "everturn", messages: [user("hi")] },
    { headers: { "Idempotency-Key": "away" } },
  );
  assert.equal(answer.choices[0]?.message.content, "Back again.");
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as { port: number };
  await new Promise((done) => server.close(done));
  return port;
}

describe("what a program asks of the model", { timeout: 3 * patienceMs }, () => {
  const schema = {
    type: "object",
    properties: { a: { type: "number" } },
    required: ["a"],
    additionalProperties: false,
  };
  const options = {
    temperature: 0.25,
    top_p: 0.5,
    max_tokens: 77,
    stop: ["END"],
    seed: 7,
    presence_penalty: 0.5,
    frequency_penalty: -0.5,
    response_format: { type: "json_schema", json_schema: { name: "thing", schema, strict: true } },
  } as const;

  function passedOn(body: Readonly<Record<string, unknown>>) {
    return Object.fromEntries(Object.keys(options).map((name) => [name, body[name]]));
  }

  test("reaches it", async (t) => {
    const { url, fake } = await started(t);
    assert.equal(await answerOf(await ask(url, { messages: [user("hi")], ...options })), "A whole answer.");
    assert.deepEqual(passedOn(fake.requests[0]?.body ?? {}), options);
  });

  test("survives a kill during the model call", async (t) => {
    let isHanging = true;
    const stage = await openStage(t, () => (isHanging ? { dead: "hang" } : { text: "{}" }), { more: keys });
    const life = await stage.start();
    const headers = { "idempotency-key": "k" };
    const body = { messages: [user("hi")], ...options };
    const cut = ask(life.url, body, headers).catch(() => null);
    await stage.fake.asked(1);
    await life.end("SIGKILL");
    await cut;
    isHanging = false;
    const { url } = await stage.start();
    assert.equal(await answerOf(await ask(url, body, headers)), "{}");
    for (const { body: sent } of stage.fake.requests) assert.deepEqual(passedOn(sent), options);
    const other = await ask(url, { ...body, temperature: 0.5 }, headers);
    assert.equal(other.status, 422, "another temperature is another request");
  });

  test("an answer that the limit of tokens cut off says so, and has no words of ours", async (t) => {
    const stage = await openStage(t, () => ({ text: "Half an", finish: "length" }), { more: keys });
    const { url } = await stage.start();
    const body = { model: "everturn", max_tokens: 3, messages: [user("hi")] };
    const { choices } = await sdk(url).chat.completions.create(body);
    assert.deepEqual([choices[0]?.message.content, choices[0]?.finish_reason], ["Half an", "length"]);
    let last: string | null = null;
    for await (const frame of frames(await ask(url, { ...body, stream: true }))) {
      contentOf(frame);
      last = frame.data.match(/"finish_reason":"(\w+)"/)?.[1] ?? last;
    }
    assert.equal(last, "length");
  });

  test("is refused by its name where the provider has no such option", async (t) => {
    const stage = await openStage(t, script, { model: "anthropic/fake-model", more: keys });
    const { url } = await stage.start();
    const refused = sdk(url).chat.completions.create({ model: "everturn", seed: 1, messages: [user("hi")] });
    await assert.rejects(
      refused,
      (error) =>
        error instanceof OpenAI.BadRequestError && error.param === "seed" && error.code === "unsupported_parameter",
    );
    const plain = await ask(url, { temperature: 1, presence_penalty: 0, messages: [user("hi")] });
    assert.equal(await answerOf(plain), "A whole answer.", "what changes nothing is fine");
  });

  test("a model is named by what is listed; another one is not found", async (t) => {
    const { url, fake } = await started(t, "  fallback: [openai/other-model]");
    const client = sdk(url);
    const listed = (await client.models.list()).data.map(({ id }) => id);
    assert.deepEqual(listed, ["everturn", "openai/fake-model", "openai/other-model"]);
    assert.equal((await client.models.retrieve("openai/other-model")).owned_by, "openai");
    const { id, model } = await client.chat.completions.create({ model: "openai/other-model", messages: [user("hi")] });
    assert.deepEqual([model, fake.requests[0]?.seen.model], ["openai/other-model", "other-model"]);
    const again = await fetch(`${url}/v1/chat/completions/${id}`, { headers: { authorization: `Bearer ${key}` } });
    assert.equal(((await again.json()) as { model: string }).model, "openai/other-model");
    for (const asked of ["gpt-4o", "fake-model", "openai/third"]) {
      const refused = client.chat.completions.create({ model: asked, messages: [user("hi")] });
      await assert.rejects(
        refused,
        (error) => error instanceof OpenAI.NotFoundError && error.code === "model_not_found",
      );
    }
    await assert.rejects(client.models.retrieve("gpt-4o"), OpenAI.NotFoundError);
  });
});

test("an answer is fetched as JSON unless a stream is asked for, and is the same each time", {
  timeout: patienceMs,
}, async (t) => {
  const { url } = await runGateway(t, withKeys(newHome(t)));
  const headers = { "idempotency-key": "k" };
  const body = { messages: [user("a word")] };
  const first = (await (await ask(url, body, headers)).json()) as { id: string; created: number };
  const get = (query: string, more: Record<string, string> = {}) =>
    fetch(`${url}/v1/chat/completions/${first.id}${query}`, { headers: { authorization: `Bearer ${key}`, ...more } });
  // Long enough for a clock that is read anew to tell another second.
  await new Promise((done) => setTimeout(done, 1_100));
  assert.deepEqual(await (await get("")).json(), first);
  assert.deepEqual(await (await ask(url, body, headers)).json(), first);
  for (const [query, more] of [
    ["?stream=true", {}],
    ["?after=0", {}],
    ["", { accept: "text/event-stream" }],
  ] as const) {
    const response = await get(query, more);
    assert.match(response.headers.get("content-type") ?? "", /^text\/event-stream/);
    assert.match(await response.text(), /You said: a word/);
  }
});
