// The HTTP API with the clients that people use: answers, streams, errors, repeats, callers who leave, and a gateway that is
// killed in the middle of a stream. Clients that are not installed are skipped; `scripts/peers.ts` installs them.

import assert from "node:assert/strict";
import { createServer } from "node:net";
import { type TestContext, describe, test } from "node:test";
import { openStage } from "../agent/stage.ts";
import type { Asked, Plan } from "../fakes/models/index.ts";
import { newHome, patienceMs, runGateway } from "../process/stage.ts";
import { type ApiClient, type Order, clientNames, openClient } from "./api-clients.ts";
import { key, withKeys } from "./api-stage.ts";

const keys = `platforms:\n  api:\n    keys:\n      app: ${key}`;
const long = Array.from({ length: 40 }, (_, n) => `word${n}`).join(" ");

function script({ seen }: Asked): Plan {
  // A turn that goes on has a note behind its words.
  const has = (word: string) => seen.messages.some(({ role, text }) => role === "user" && text.includes(word));
  if (has("slowly")) return { text: long, grain: 20, everyMs: 100 };
  if (!has("fail")) return { text: "A whole answer." };
  const error = { message: "Incorrect API key provided.", type: "invalid_request_error", param: null };
  return { status: 401, body: { error: { ...error, code: "invalid_api_key" } } };
}

async function textOf(client: ApiClient, order: Order): Promise<string> {
  let text = "";
  for await (const piece of client.stream(order)) text += piece;
  return text;
}

/** Reads until something has come, does it, and returns what came until the stream broke. */
async function brokenBy(client: ApiClient, order: Order, work: () => void): Promise<string> {
  let text = "";
  await assert.rejects(async () => {
    for await (const piece of client.stream(order)) {
      text += piece;
      if (text !== "") work();
    }
  });
  assert.ok(text.length < long.length, "it broke in the middle");
  return text;
}

async function failureOf(client: ApiClient, work: () => Promise<unknown>) {
  try {
    await work();
  } catch (error) {
    return client.read(error);
  }
  return assert.fail("it did not fail");
}

async function freePort(t: TestContext): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as { port: number };
  // Taken, so that nobody else listens there, and every connection is refused by its end.
  server.on("connection", (socket) => socket.destroy());
  t.after(() => server.close());
  return port;
}

for (const name of clientNames) {
  const client = await openClient(name);
  const skip = client === null ? `${name} is not installed` : false;
  describe(`the client ${name}`, { skip, timeout: 4 * patienceMs }, () => {
    if (client === null) return;

    test("gets answers, streams and errors; a repeat under its key is the same turn", async (t) => {
      const stage = await openStage(t, script, { more: keys });
      const { url } = await stage.start();
      assert.equal(await client.ask({ url, text: "hello" }), "A whole answer.");
      assert.equal(await textOf(client, { url, text: "hello" }), "A whole answer.");

      const asked = stage.fake.requests.length;
      const twice = { url, text: "once only", once: `${name}-1` };
      assert.equal(await client.ask(twice), "A whole answer.");
      assert.equal(await client.ask(twice), "A whole answer.");
      assert.equal(await textOf(client, twice), "A whole answer.");
      assert.equal(stage.fake.requests.length, asked + 1, "the model was asked once");

      const wrong = { url, text: "hello", apiKey: "wrong-key" };
      assert.equal((await failureOf(client, () => client.ask(wrong))).status, 401);
      assert.equal((await failureOf(client, () => textOf(client, wrong))).status, 401);
      const failing = { url, text: "fail", once: `${name}-2` };
      assert.deepEqual(await failureOf(client, () => client.ask(failing)), {
        status: 502,
        code: "provider_auth_failed",
      });
      await failureOf(client, () => textOf(client, { url, text: "another fail" }));
    });

    test("leaves in the middle of a stream, and fetches the answer later", async (t) => {
      const stage = await openStage(t, script, { more: keys });
      const { url } = await stage.start();
      const order = { url, text: "count slowly", once: `${name}-3` };
      const leaving = new AbortController();
      const part = await brokenBy(client, { ...order, signal: leaving.signal }, () => leaving.abort());
      assert.ok(long.startsWith(part), part);
      assert.equal(await textOf(client, order), long);
      assert.equal(await client.ask(order), long);
      assert.equal(stage.fake.requests.length, 1, "the turn went on without its caller");
    });

    test("loses the gateway in the middle of a stream, and has its one answer from the next", async (t) => {
      const stage = await openStage(t, script, { more: keys });
      const first = await stage.start();
      const order = { text: "count slowly", once: `${name}-4` };
      const part = await brokenBy(client, { ...order, url: first.url }, () => void first.child.kill("SIGKILL"));
      assert.ok(long.startsWith(part), part);
      await first.exit;
      const { url } = await stage.start();
      assert.equal(await textOf(client, { ...order, url }), long);
      assert.equal(await client.ask({ ...order, url }), long);
    });

    test("is told in time that the model cannot be reached", async (t) => {
      const agent = `agent:\n  model: openai-compatible/fake-model\n  baseUrl: http://127.0.0.1:${await freePort(t)}/v1\n`;
      const { url } = await runGateway(t, withKeys(newHome(t), agent));
      const order = { url, text: "hello", once: `${name}-5` };
      const [whole] = await Promise.all([
        failureOf(client, () => client.ask(order)),
        failureOf(client, () => textOf(client, order)),
      ]);
      assert.deepEqual(whole, { status: 503, code: "provider_unreachable" });
    });
  });
}
