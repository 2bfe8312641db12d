// Bad luck with models and tools: each ends in a sentence that says what to do, or is got over without a word, and no
// finished tool runs again for it.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { type Script, follow as obey, openaiError, scenarios } from "../fakes/models/index.ts";
import { newHome, refusedStart } from "../process/stage.ts";
import { linesIn } from "../lines.ts";
import { doing, openStage, plantedKey, terminal } from "./stage.ts";

const follow = scenarios["follow"] as Script;

test("without a key the gateway does not start, and says which one and where", async (t) => {
  const { code, err } = await refusedStart(t, newHome(t), {
    env: { EVERTURN_AGENT__MODEL: "anthropic/claude-x", ANTHROPIC_API_KEY: "" },
  });
  assert.equal(code, 78);
  assert.match(err, /agent\.model is a model of anthropic, which needs a key.*ANTHROPIC_API_KEY/);
});

type Case = {
  readonly name: string;
  readonly script: Script;
  readonly text?: string;
  readonly says: RegExp;
  /** The most model calls it may take. */
  readonly asked: number;
  readonly keys?: readonly string[];
  readonly models?: readonly string[];
};

/** The same refusal for every request of a kind, or for the first only. */
const first = (script: Script, rest: Script): Script => {
  return (asked) => (asked.nth === 1 ? script(asked) : rest(asked));
};

const cases: readonly Case[] = [
  { name: "a wrong key", script: follow, says: /key/i, asked: 0, keys: ["another"] },
  {
    name: "an unknown model, with near ones",
    script: () => ({
      status: 404,
      body: openaiError("The model `fake-model` does not exist", "invalid_request_error", "model_not_found"),
    }),
    says: /fake-model[\s\S]*fake-model-2/,
    asked: 1,
    models: ["fake-model-2", "other"],
  },
  {
    name: "too many requests, then not",
    script: first(
      () => ({ status: 429, body: openaiError("Rate limit reached", "rate_limit"), headers: { "retry-after": "1" } }),
      follow,
    ),
    text: "hello",
    says: /^You said: [\s\S]*hello/,
    asked: 2,
  },
  {
    name: "a server error, then none",
    script: first(() => ({ status: 503, body: openaiError("overloaded", "server_error") }), follow),
    text: "hello",
    says: /^You said: [\s\S]*hello/,
    asked: 2,
  },
  {
    name: "a line that is cut in the middle of an answer",
    script: first(() => ({ text: "half of an answer", break: { at: 2, how: "disconnect" } }), follow),
    text: "hello",
    says: /^You said: [\s\S]*hello/,
    asked: 2,
  },
  {
    name: "a frame that nobody can read",
    script: first(() => ({ text: "half of an answer", break: { at: 2, how: "malformed" } }), follow),
    text: "hello",
    says: /^You said: [\s\S]*hello/,
    asked: 2,
  },
  {
    name: "no credit",
    script: () => ({
      status: 429,
      body: openaiError("You exceeded your quota", "insufficient_quota", "insufficient_quota"),
    }),
    says: /credit|quota/i,
    asked: 1,
  },
  {
    name: "a model that makes the same call for ever",
    script: () => ({ calls: [{ name: "read_file", input: { path: "nothing-there" } }] }),
    says: /same call/,
    asked: 20,
  },
  {
    name: "a model that makes calls nobody can read",
    script: () => ({ calls: [{ name: "terminal", input: '{"command": "echo' }] }),
    says: /call|argument|read/i,
    asked: 20,
  },
];

for (const { name, script, text = "hello", says, asked, keys, models } of cases) {
  test(`${name}: it ends, with a sentence or in peace`, async (t) => {
    const fake = { ...(keys === undefined ? {} : { keys }), ...(models === undefined ? {} : { models }) };
    const stage = await openStage(t, script, { fake });
    const life = await stage.start();
    const answer = await life.ask("c", "m1", text);
    assert.match(answer, says);
    assert.ok(stage.fake.requests.length <= asked, `${stage.fake.requests.length} model calls`);
    assert.ok(!answer.includes(plantedKey));
  });
}

test("a failure between two tools does not run the first one again", async (t) => {
  const script: Script = ({ nth, seen }) =>
    nth === 2 || nth === 4 ? { status: 500, body: openaiError("boom", "server_error") } : obey(seen);
  const stage = await openStage(t, script);
  const life = await stage.start();
  assert.match(await life.ask("c", "m1", doing(terminal("echo 1 >> ledger"), terminal("echo 2 >> ledger"))), /^done 2/);
  assert.deepEqual(linesIn(join(stage.workspace, "ledger")), ["1", "2"]);
});

test("a fallback takes over where the model is down, and no tool runs again for it", async (t) => {
  const script: Script = ({ seen }) =>
    seen.model === "fake-model" && seen.messages.some(({ results }) => results.length > 0)
      ? { status: 401, body: openaiError("Incorrect API key provided", "invalid_request_error", "invalid_api_key") }
      : obey(seen);
  const stage = await openStage(t, script, { agent: "  fallback: [openai/other-model]" });
  const life = await stage.start();
  assert.match(await life.ask("c", "m1", doing(terminal("echo 1 >> ledger"))), /^done 1/);
  assert.deepEqual(linesIn(join(stage.workspace, "ledger")), ["1"]);
  assert.equal(stage.fake.requests.at(-1)?.seen.model, "other-model");
});

test("results of any size and kind: 50 MB, binary, a flood that is ended", { timeout: 300_000 }, async (t) => {
  const stage = await openStage(t, follow);
  const life = await stage.start();
  const huge = await life.ask(
    "c",
    "m1",
    doing(terminal("head -c 50000000 /dev/zero | tr '\\0' x; echo; echo the end")),
  );
  assert.match(huge, /^done 1: [\s\S]*the end/);
  const binary = await life.ask("c", "m2", doing(terminal("head -c 100000 /dev/urandom; echo; echo and text")));
  assert.match(binary, /^done 1: /);
  const flood = await life.ask("c", "m3", doing(terminal("yes flood", { timeoutSeconds: 2 })));
  assert.match(flood, /^done 1: [\s\S]*(limit|time|2 s)/i);
  for (const { body } of stage.fake.requests) {
    const bytes = Buffer.byteLength(JSON.stringify(body));
    assert.ok(bytes < 400_000, `a request of ${bytes} bytes`);
  }
  assert.match(await life.ask("c", "m4", "still there"), /still there/);
});
