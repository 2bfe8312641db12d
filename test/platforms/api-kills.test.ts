// The API while the gateway dies under its callers: whoever repeats a request under its key gets its one answer, and a
// stream goes on where it broke.

import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { describe, test } from "node:test";
import OpenAI from "openai";
import { sorryWords } from "../process/oracle.ts";
import { type Gateway, newHome, patienceMs, runGateway } from "../process/stage.ts";
import { ask, contentOf, frames, key, sdk, user, withKeys } from "./api-stage.ts";
import { chaos } from "./chaos.ts";

const model = "everturn";

type Lines = {
  readonly data: readonly { readonly role: string; readonly content: string }[];
  readonly has_more: boolean;
};

/** A caller that gives up on nothing: it repeats under the same key, from where it was. Counts how often it had to. */
async function stubborn(
  urlOf: () => string,
  idempotencyKey: string,
  body: { readonly messages: readonly unknown[] },
  headers: Record<string, string> = {},
  stored: () => void = () => undefined,
): Promise<{ readonly text: string; readonly tries: number }> {
  let text = "";
  let mark = "0";
  for (const deadline = Date.now() + 2 * patienceMs, tries = { n: 1 }; Date.now() < deadline; tries.n++) {
    try {
      const more = { "idempotency-key": idempotencyKey, "last-event-id": mark, ...headers };
      const response = await ask(urlOf(), { ...body, stream: true }, more);
      if (response.status === 200) {
        stored();
        for await (const frame of frames(response)) {
          if (frame.data === "[DONE]") return { text, tries: tries.n };
          text += contentOf(frame);
          mark = frame.id ?? mark;
        }
      } else {
        const { error } = (await response.json()) as { error: { code: string } };
        if (isGivenUp(response.status, error.code)) return { text: sorryWords, tries: tries.n };
        assert.ok([429, 503].includes(response.status), `answered with ${response.status}`);
        assert.ok(Number(response.headers.get("retry-after")) > 0);
      }
    } catch (error) {
      // Whatever breaks on the way of a request is a reason to repeat it; what we found wrong is not.
      if (error instanceof assert.AssertionError) throw error;
    }
    await pause(20);
  }
  return assert.fail(`no answer to ${idempotencyKey}; so far ${text}`);
}

/** The turn died three times without progress; its caller gets an error, and the conversation a line. */
function isGivenUp(status: number | undefined, code: unknown): boolean {
  return status === 500 && code === "turn_failed";
}

describe("a gateway that is killed", { timeout: 4 * patienceMs }, () => {
  test("in the middle of a stream of the SDK: the repeat under its key is one answer", async (t) => {
    const home = withKeys(newHome(t));
    const first = await runGateway(t, home);
    const create = (url: string) =>
      sdk(url).chat.completions.create(
        { model, stream: true, messages: [user("count to 12 slowly")] },
        { headers: { "Idempotency-Key": "once", "X-Everturn-Session": "kills" } },
      );
    let had = "";
    await assert.rejects(async () => {
      for await (const chunk of await create(first.url)) {
        had += chunk.choices[0]?.delta.content ?? "";
        if (had.includes("4")) first.child.kill("SIGKILL");
      }
    });
    await first.exit;
    const second = await runGateway(t, home);
    let text = "";
    for await (const chunk of await create(second.url)) text += chunk.choices[0]?.delta.content ?? "";
    const numbers = "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12";
    assert.equal(text, `${numbers}\n\nCounted to 12. I was interrupted once and went on where I was.`);
    assert.ok(text.startsWith(had), "what was streamed before belongs to the answer");
    const whole = await sdk(second.url).chat.completions.create(
      { model, messages: [user("count to 12 slowly")] },
      { headers: { "Idempotency-Key": "once", "X-Everturn-Session": "kills" } },
    );
    assert.equal(whole.choices[0]?.message.content, text);
    const lines = await fetch(`${second.url}/v1/sessions/kills/messages`, {
      headers: { authorization: `Bearer ${key}` },
    });
    assert.equal(((await lines.json()) as { data: readonly unknown[] }).data.length, 2, "one message, one answer");
  });

  test("a stop tells whoever waits to come back, and a stream goes on with the next gateway", async (t) => {
    const home = withKeys(newHome(t));
    let gateway = await runGateway(t, home);
    const body = { messages: [user("count to 15 slowly")] };
    const waiting = ask(gateway.url, body, { "idempotency-key": "whole" });
    const stream = stubborn(() => gateway.url, "stream", body);
    await pause(1_500);
    await gateway.end("SIGTERM");
    const told = await waiting;
    const { error } = (await told.json()) as { error: { code: string; type: string } };
    assert.deepEqual([told.status, error.code, error.type], [503, "stopping", "server_error"]);
    assert.equal(told.headers.get("retry-after"), "1");
    gateway = await runGateway(t, home);
    const { text, tries } = await stream;
    assert.match(text, /^1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n\nCounted to 15\. I was interrupted once/);
    assert.ok(tries > 1);
  });
});

test("100 messages while it is killed at random: none lost, none doubled", { timeout: 10 * patienceMs }, async (t) => {
  let gateway: Gateway | null = null;
  const urlOf = () => gateway?.url ?? "http://127.0.0.1:1";
  const answers = new Map<string, { text: string | null }[]>();
  let count = 0;

  /** By turns a stream that goes on, and the SDK with whole answers. */
  function say(chat: string, text: string): Promise<void> {
    const id = `c${count++}`;
    const stored = Promise.withResolvers<void>();
    const headers = { "x-everturn-session": chat };
    const body = { messages: [user(text)] };
    const answer = (
      count % 2 === 0
        ? patient(id, chat, text)
        : stubborn(urlOf, id, body, headers, stored.resolve).then((one) => one.text)
    ).finally(stored.resolve);
    const kept: { text: string | null } = { text: null };
    answers.set(chat, [...(answers.get(chat) ?? []), kept]);
    answer.then((given) => (kept.text = given)).catch(stored.reject);
    return stored.promise;
  }

  async function patient(id: string, session: string, text: string): Promise<string> {
    for (const deadline = Date.now() + 2 * patienceMs; Date.now() < deadline; await pause(20)) {
      const made = sdk(urlOf()).chat.completions.create(
        { model, messages: [user(text)], user: session },
        { headers: { "Idempotency-Key": id } },
      );
      const done = await made.catch((error: unknown) => {
        const isOver = error instanceof OpenAI.APIError && isGivenUp(error.status, error.code);
        return isOver ? sorryWords : null;
      });
      if (done !== null) return typeof done === "string" ? done : (done.choices[0]?.message.content ?? "");
    }
    return assert.fail(`no answer to ${id}`);
  }

  /** What stands in the conversation, as often as it stands there, once its caller has it. */
  async function seen(chat: string): Promise<readonly string[]> {
    const headers = { authorization: `Bearer ${key}` };
    const response = await fetch(`${urlOf()}/v1/sessions/${chat}/messages`, { headers });
    const { data, has_more: more } = (await response.json()) as Lines;
    assert.equal(more, false);
    const given = (answers.get(chat) ?? []).flatMap((one) => one.text ?? []);
    let givenUp = given.filter((one) => one === sorryWords).length;
    return data.flatMap(({ role, content }) => {
      if (role === "assistant" && content.startsWith(sorryWords) && givenUp-- > 0) return [content];
      return role === "assistant" && given.some((one) => one.endsWith(content)) ? [content] : [];
    });
  }

  const chats = ["a", "b", "c", "d", "e"];
  const outcome = await chaos(
    t,
    {
      config: "platforms:\n  api:\n    keys:\n      app: ${APP_KEY}\n",
      env: { APP_KEY: key },
      say,
      seen,
      up: (one) => (gateway = one),
    },
    { chats, messages: 100, kills: 10, slowly: true },
  );
  assert.deepEqual([outcome.lost, outcome.doubled, outcome.reordered], [[], [], []]);
});
