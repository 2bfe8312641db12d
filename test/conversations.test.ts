// Long conversations with a model: what each request holds, that it never outgrows the window, what is summarised and what
// stays, and that nothing secret is ever in one.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, describe, test } from "node:test";
import { model } from "../src/agents/model/index.ts";
import type { ModelOptions } from "../src/agents/model/options.ts";
import type { Entry } from "../src/core/journal.ts";
import type { Tool } from "../src/ports/tool.ts";
import { dice } from "../src/testing/dice.ts";
import { anInbound, at, sessionId, turnId } from "../src/testing/samples.ts";
import { openBlobs } from "../src/stores/blobs/index.ts";
import { type Script, fakeModels, follow, openaiError } from "./fakes/models/index.ts";
import { look, stage } from "./fakes/models/stage.ts";
import { talk } from "./fakes/models/talk.ts";

async function conversation(
  t: TestContext,
  script: Script,
  more: Partial<ModelOptions> = {},
  provider: "openai" | "anthropic" | "google" | "openrouter" = "openai",
) {
  const fake = await fakeModels(script);
  t.after(() => fake.close());
  const make = () =>
    model({
      model: `${provider}/fake-model`,
      fallback: [],
      providers: {
        [provider]: { keys: ["planted-key-1"], baseUrl: fake.baseUrl(provider === "openrouter" ? "openai" : provider) },
      },
      instructions: "",
      maxSteps: 100,
      prices: {},
      tools: () => [look],
      blobs: null,
      hide: (text) => text,
      facts: { workspace: null, system: "a test" },
      ...more,
    });
  // A new one for each step: nothing that matters is kept in between.
  return { fake, ...talk(make) };
}

const isSummary = (system: string): boolean => system.startsWith("You write the memory");
const size = (body: unknown): number => JSON.stringify(body).length / 4;

describe("a conversation that outgrows the window", () => {
  test("is summarised again and again, and what matters stays known", async (t) => {
    const window = 4_000;
    const { fake, say, summaries } = await conversation(
      t,
      ({ seen }) => {
        const text = seen.messages.map((message) => message.text).join("\n");
        const facts = [...new Set(text.match(/FACT \d+/g) ?? [])];
        return { text: isSummary(seen.system) ? `Known: ${facts.join(", ")}` : "I see. ".repeat(40) };
      },
      { contextTokens: window },
    );
    for (let n = 1; n <= 60; n++) await say(`FACT ${n}. ${"And some more words about it. ".repeat(12)}`);
    assert.ok(summaries.length >= 3, `${summaries.length} summaries`);
    assert.ok(
      fake.requests.every(({ body }) => size(body) < window),
      "no request is larger than the window",
    );
    const last = fake.requests.at(-1)?.seen;
    const all = [last?.system, ...(last?.messages ?? []).map(({ text }) => text)].join("\n");
    for (let n = 1; n <= 60; n++) assert.match(all, new RegExp(`FACT ${n}\\b`));
    assert.deepEqual(
      summaries.map(({ upTo }) => upTo),
      summaries.map(({ upTo }) => upTo).toSorted((a, b) => a - b),
    );
  });

  test("in the middle of a turn: no finished call is made again, and the user's words stay as they were", async (t) => {
    const made: unknown[] = [];
    const tool: Tool = {
      ...look,
      run: async (input) => {
        made.push(input);
        return { type: "ok", output: `${JSON.stringify(input)} ${"word ".repeat(500)}` };
      },
    };
    const steps = Array.from({ length: 30 }, (_, n) => ({ tool: "look", input: { n } }));
    const { fake, say, summaries } = await conversation(t, ({ seen }) => follow(seen), {
      contextTokens: 6_000,
      tools: () => [tool],
    });
    const order = `do: ${JSON.stringify(steps)}`;
    assert.match(await say(order), /^done 30: \{"n":29\}/);
    assert.deepEqual(
      made,
      steps.map(({ input }) => input),
    );
    assert.ok(summaries.length >= 2, `${summaries.length} summaries`);
    for (const { seen } of fake.requests) {
      if (!isSummary(seen.system)) assert.ok(seen.messages.some(({ text }) => text.includes(order)));
    }
    // The next turn goes on from the summary of the one before.
    await say("and now?");
    const last = fake.requests.at(-1)?.seen.messages ?? [];
    assert.match(last[0]?.text ?? "", /A summary of everything before/);
    assert.match(last.at(-1)?.text ?? "", /and now\?/);
  });

  test("a provider whose window is smaller than we think", async (t) => {
    const { say, summaries } = await conversation(t, ({ seen, body }) => {
      if (isSummary(seen.system)) return { text: "Short." };
      if (size(body) < 3_000) return { text: "fine ".repeat(100) };
      const words = "This model's maximum context length is 3000 tokens. Please reduce the length of the messages.";
      return { status: 400, body: openaiError(words, "invalid_request_error", "context_length_exceeded") };
    });
    for (let n = 1; n <= 20; n++) assert.match(await say(`${n} ${"words ".repeat(60)}`), /^fine/);
    assert.ok(summaries.length >= 1);
  });

  test("and to whom even the part to be summarised is too long", async (t) => {
    const words = "This model's maximum context length is 1200 tokens.";
    const { fake, say, summaries } = await conversation(t, ({ seen, body }) => {
      if (size(body) > (isSummary(seen.system) ? 700 : 1_200)) {
        return { status: 400, body: openaiError(words, "invalid_request_error", "context_length_exceeded") };
      }
      return { text: isSummary(seen.system) ? "Short." : "fine ".repeat(60) };
    });
    for (let n = 1; n <= 12; n++) assert.match(await say(`${n} ${"words ".repeat(60)}`), /^fine/);
    assert.ok(summaries.length > 0);
    assert.ok(fake.requests.some(({ seen, body }) => isSummary(seen.system) && size(body) > 700));
  });

  test("a provider that finds everything too long", async (t) => {
    const words = "prompt is too long: 9 tokens > 8 maximum";
    const { fake, say } = await conversation(t, ({ seen }) =>
      isSummary(seen.system)
        ? { text: "Short." }
        : { status: 400, body: openaiError(words, "invalid_request_error", "context_length_exceeded") },
    );
    assert.match(await say("hello"), /^failed: .*too long for openai\/fake-model.*\/new/);
    assert.ok(fake.requests.length < 8);
  });

  test("one message that is larger than the window", async (t) => {
    const { fake, say } = await conversation(t, () => ({ text: "hi" }), { contextTokens: 8_000 });
    assert.match(await say("x".repeat(1_000_000)), /^failed: .*too long.*Nothing more of it can be summarised.*\/new/);
    assert.equal(fake.requests.length, 0);
  });

  test("one message that fills nearly all of it is sent as it is", async (t) => {
    const { fake, say } = await conversation(t, () => ({ text: "hi" }), { contextTokens: 8_000 });
    assert.equal(await say("x".repeat(22_500)), "hi");
    assert.equal(fake.requests.length, 1);
  });

  test("a summary that fails is tried again later, and nothing is lost", async (t) => {
    let broken = true;
    const { say, summaries, lines } = await conversation(
      t,
      ({ seen }) => {
        if (isSummary(seen.system)) return broken ? { status: 500, body: "" } : { text: "Short." };
        return { text: "fine ".repeat(300) };
      },
      { contextTokens: 4_000 },
    );
    let answer = "";
    for (let n = 0; n < 20 && !answer.startsWith("failed"); n++) answer = await say(`${n}`);
    assert.match(answer, /^failed: /);
    assert.equal(summaries.length, 0);
    const before = lines.length;
    broken = false;
    assert.match(await say("again"), /^fine/);
    assert.equal(summaries.length, 1);
    assert.equal(lines.length, before + 2);
  });
});

test("a transcript that is longer than what is read is summarised, however small it is", async (t) => {
  const { fake, say, lines, summaries } = await conversation(t, () => ({ text: "Short." }));
  for (let n = 1; n <= 300; n++) {
    const turn = turnId(`old ${n}`);
    lines.push({ key: `old ${n}`, session: sessionId("s1"), turn, role: "user", text: `word ${n}`, at: at(n), n });
  }
  await say("hello");
  assert.equal(summaries.length, 1);
  assert.match(fake.requests[0]?.seen.messages[0]?.text ?? "", /word 2\b/);
  assert.doesNotMatch(fake.requests[1]?.seen.messages.map(({ text }) => text).join("\n") ?? "", /word 2\b/);
});

describe("a conversation that another backend has had", () => {
  const isTold = (texts: readonly string[]): boolean => texts.some((text) => /before these are not shown/.test(text));

  for (const [count, told] of [
    [1_000, false],
    [2_500, true],
  ] as const) {
    test(`${count} messages without a summary`, { timeout: 120_000 }, async (t) => {
      const { fake, say, lines, summaries } = await conversation(t, () => ({ text: "Short." }));
      for (let n = 1; n <= count; n++) {
        const turn = turnId(`old ${n}`);
        lines.push({ key: `old ${n}`, session: sessionId("s1"), turn, role: "user", text: `word ${n}`, at: at(n), n });
      }
      await say("hello");
      assert.equal(summaries.length, 1, "one is enough");
      const first = fake.requests[0]?.seen.messages.map(({ text }) => text) ?? [];
      assert.equal(/word 2\b/.test(first.join("\n")), !told);
      assert.match(first.join("\n"), new RegExp(`word ${count - 500}\\b`));
      assert.equal(isTold(first), told);
      await say("and");
      assert.equal(summaries.length, 1, "and it is made once");
      const last = fake.requests.at(-1)?.seen.messages.map(({ text }) => text) ?? [];
      assert.match(last.join("\n"), new RegExp(`word ${count}\\b`));
    });
  }
});

for (const [finish, note] of [
  ["content_filter", " by the provider's filter."],
  ["length", ": it reached the most the model may write at once."],
] as const) {
  test(`half a summary says so: ${finish}`, async (t) => {
    const { step } = await stage(t, () => ({ text: "They spoke of", finish }), { contextTokens: 8_000 });
    const history = Array.from({ length: 40 }, (_, n) => {
      const turn = turnId(`old ${n}`);
      const text = "words ".repeat(350);
      return { key: `old ${n}`, session: sessionId("s1"), turn, role: "user", text, at: at(n), n: n + 1 } as const;
    });
    const given = await step([], { history: async () => history });
    assert.ok(given.type === "compacted", JSON.stringify(given));
    assert.match(given.summary, /^They spoke of\n\n\[The summary was cut off here/);
    assert.ok(given.summary.endsWith(`here${note}]`), given.summary);
  });
}

test("a fallback with a smaller window is not sent what it cannot read", async (t) => {
  const { fake, step } = await stage(t, ({ seen }) =>
    seen.model === "tiny" ? { text: "Short." } : { status: 503, body: openaiError("busy", "server_error") },
  );
  const { step: both } = await stage(t, () => ({ text: "" }), {
    model: "openai/gpt-5",
    fallback: ["ollama/tiny"],
    providers: {
      openai: { keys: ["k"], baseUrl: fake.baseUrl("openai") },
      ollama: { keys: [], baseUrl: fake.baseUrl("openai") },
    },
  });
  const history = Array.from({ length: 40 }, (_, n) => {
    const turn = turnId(`old ${n}`);
    const text = "words ".repeat(350);
    return { key: `old ${n}`, session: sessionId("s1"), turn, role: "user", text, at: at(n), n: n + 1 } as const;
  });
  const given = await both([], { history: async () => history });
  assert.equal(given.type, "compacted", JSON.stringify(given));
  assert.deepEqual(
    fake.requests.map(({ seen }) => [seen.model, isSummary(seen.system)]),
    [
      ["gpt-5", false],
      ["tiny", true],
    ],
  );
  assert.equal((await step()).type, "failed");
});

describe("the steps a turn may have", () => {
  test("the last one is an answer without tools", async (t) => {
    let n = 0;
    const { fake, say } = await conversation(
      t,
      ({ body }) =>
        body["tool_choice"] === "none"
          ? { text: "That is all I have." }
          : { calls: [{ name: "look", input: { n: n++ } }] },
      { maxSteps: 5 },
    );
    assert.equal(await say("go on for ever"), "That is all I have.");
    assert.equal(fake.requests.length, 5);
    assert.match(fake.requests[4]?.seen.messages.at(-1)?.text ?? "", /last step/);
  });

  test("a model that insists on tools is not obeyed", async (t) => {
    let n = 0;
    const { say } = await conversation(t, () => ({ calls: [{ name: "look", input: { n: n++ } }] }), { maxSteps: 3 });
    assert.match(await say("go on"), /limit of steps/);
  });

  test("a circle is told to the model after three rounds and ends after five", async (t) => {
    const { fake, say } = await conversation(t, () => ({ calls: [{ name: "look", input: { at: "here" } }] }));
    assert.match(await say("look"), /^failed: The model made the same call 5 times with the same result.*look/);
    assert.equal(fake.requests.length, 5);
    const told = fake.requests.map(({ seen }) => /made the same call/.test(seen.messages.at(-1)?.text ?? ""));
    assert.deepEqual(told, [false, false, false, true, true]);
  });

  test("a circle that the model leaves is none", async (t) => {
    const { say } = await conversation(t, ({ seen }) =>
      /made the same call/.test(seen.messages.at(-1)?.text ?? "")
        ? { text: "I give up." }
        : { calls: [{ name: "look", input: {} }] },
    );
    assert.equal(await say("look"), "I give up.");
  });

  test("a tool that does not exist", async (t) => {
    const { say } = await conversation(t, ({ seen, nth }) =>
      nth === 1 ? { calls: [{ name: "nothing", input: {} }] } : { text: seen.messages.at(-1)?.results[0]?.text ?? "" },
    );
    assert.match(await say("use it"), /no such tool/);
  });
});

describe("what a request holds", () => {
  const plan = JSON.stringify([{ tool: "look", input: { at: "x" } }]);

  test("it begins as the one before it did, from step to step and from turn to turn", async (t) => {
    const { fake, say } = await conversation(t, ({ seen }) => follow(seen));
    for (const text of [`do: ${plan}`, "hello", `do: ${plan}`, "and"]) await say(text);
    const all = fake.requests.map(({ body }) => (body["messages"] as unknown[]).map((one) => JSON.stringify(one)));
    for (const [n, messages] of all.entries()) {
      const before = all[n - 1] ?? [];
      assert.deepEqual(messages.slice(0, before.length), before, `request ${n + 1}`);
    }
  });

  test("what was done in the turns before, and their words for good", async (t) => {
    const { fake, say } = await conversation(t, ({ seen }) => follow(seen));
    await say(`do: ${plan}`);
    for (let n = 0; n < 12; n++) await say(`word ${n}`);
    const { messages } = fake.requests[3]?.seen ?? { messages: [] };
    assert.ok(
      messages.some(({ results }) => results.length > 0),
      "the call and its result are still there",
    );
    const last = fake.requests.at(-1)?.seen.messages ?? [];
    assert.ok(
      last.every(({ results }) => results.length === 0),
      "later only its words are",
    );
    const words = last.map(({ text }) => text).join("\n");
    for (const said of ["do: [", "done 1: seen", "word 0", "word 11"]) assert.ok(words.includes(said), said);
  });

  test("keys are nowhere in it, whoever wrote them", async (t) => {
    const secret = "planted-key-1";
    const tool: Tool = {
      ...look,
      description: `Looks. ${secret}`,
      run: async () => ({ type: "ok", output: { deep: [secret] } }),
    };
    const { fake, say } = await conversation(t, ({ seen }) => follow(seen), {
      instructions: `My key is ${secret}.`,
      tools: () => [tool],
      hide: (text) => text.replaceAll(secret, "[hidden]"),
    });
    await say(`do: ${JSON.stringify([{ tool: "look", input: { at: secret } }])}`, {
      memories: async () => [{ id: "m1", scope: "owner", text: `the key is ${secret}`, at: 0 as never }],
    });
    await say(`why is ${secret} wrong?`);
    for (const { body, key } of fake.requests) {
      assert.ok(!JSON.stringify(body).includes(secret), JSON.stringify(body));
      assert.equal(key, secret, "but it is the key that was used");
    }
    assert.match(fake.requests[0]?.seen.system ?? "", /m1: the key is \[hidden\]/);
  });

  test("nor in what is summarised", async (t) => {
    const secret = "planted-key-1";
    const { fake, say, summaries } = await conversation(
      t,
      ({ seen }) => ({ text: isSummary(seen.system) ? "Short." : `${secret} ${"fine ".repeat(200)}` }),
      { contextTokens: 4_000, hide: (text) => text.replaceAll(secret, "[hidden]") },
    );
    for (let n = 0; n < 12; n++) await say(`why is ${secret} wrong?`);
    assert.ok(summaries.length > 0);
    for (const { body } of fake.requests) assert.ok(!JSON.stringify(body).includes(secret));
  });

  test("the fixed words are short", async (t) => {
    const { fake, say } = await conversation(t, () => ({ text: "hi" }), { tools: () => [] });
    await say("hello");
    const { system } = fake.requests[0]?.seen ?? { system: "" };
    assert.ok(system.length > 500 && system.length < 2_000, String(system.length));
  });
});

function newBlobs(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "everturn-conversation-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return openBlobs(folder);
}

describe("files", () => {
  const png = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  );

  for (const provider of ["openai", "anthropic", "google"] as const) {
    test(`a picture and a document reach a model of ${provider} that takes them, and a text any model`, async (t) => {
      const blobs = newBlobs(t);
      const files = [
        await blobs.put(png, { name: "dot.png", mime: "image/png" }),
        await blobs.put(Buffer.from("%PDF-1.4 tiny"), { name: "a.pdf", mime: "application/pdf" }),
        await blobs.put(Buffer.from("written words"), { name: "a.txt", mime: "text/plain" }),
      ];
      const script: Script = () => ({ text: "I see" });
      const able = await conversation(t, script, { blobs, vision: true }, provider);
      await able.say("what is this?", { files });
      await able.say("and?");
      for (const { seen } of able.fake.requests) {
        const [message] = seen.messages;
        assert.equal(message?.files.length, 2, JSON.stringify(message));
        assert.match(message?.text ?? "", /written words/);
        assert.match(message?.text ?? "", /dot\.png, image\/png, 70 bytes, saved as/);
      }
      const blind = await conversation(t, script, { blobs, vision: false }, provider);
      await blind.say("what is this?", { files });
      const [message] = blind.fake.requests[0]?.seen.messages ?? [];
      assert.deepEqual(message?.files, []);
      assert.match(message?.text ?? "", /dot\.png.*Its content is not shown here/);
      assert.match(message?.text ?? "", /a\.pdf.*Its content is not shown here/);
      assert.match(message?.text ?? "", /written words/);
    });
  }

  for (const provider of ["openai", "anthropic", "google"] as const) {
    test(`a picture that a tool brings is seen by a model of ${provider} that takes them`, async (t) => {
      const blobs = newBlobs(t);
      const file = await blobs.put(png, { name: "shot", mime: "image/png" });
      const other = await blobs.put(Buffer.from("x"), { name: "sound", mime: "audio/wav" });
      const output = { text: "[image image/png, kept as file shot]", files: [file, other] };
      const tool: Tool = { ...look, run: async () => ({ type: "ok", output, outside: true }) };
      for (const vision of [true, false]) {
        const more = { blobs, vision, tools: () => [tool] };
        const { fake, say } = await conversation(t, ({ seen }) => follow(seen), more, provider);
        await say(`do: ${JSON.stringify([[{ tool: "look", input: {} }]])}`);
        await say("and?");
        const [first, ...later] = fake.requests.map(({ seen }) => seen.messages.flatMap(({ files }) => files));
        assert.deepEqual(first, []);
        assert.deepEqual(
          later,
          later.map(() => (vision ? ["image/png"] : [])),
        );
        const words = fake.requests[1]?.seen.messages.map(({ text }) => text).join("\n") ?? "";
        assert.match(words, /brought by look, not by the user; .*\n?.*shot, image\/png, 70 bytes, saved as/);
      }
    });
  }

  test("what came with the answer to a question is seen behind that answer", async (t) => {
    const blobs = newBlobs(t);
    const file = await blobs.put(png, { name: "dot.png", mime: "image/png" });
    const asked = { call: "a", kind: "question", text: "Which one?", choices: [], bound: "", subject: null } as const;
    const body = { kind: "text", text: "this one", files: [file] } as const;
    const journal: readonly Entry[] = [
      { type: "said", text: "", calls: [{ call: "a", tool: "ask", input: {} }], final: false },
      { type: "call-asked", question: "q", ...asked },
      { type: "answered", question: "q", choice: "this one" },
      { type: "joined", message: anInbound("this one", { body }) },
      { type: "tool-ended", call: "a", result: { type: "ok", output: "this one" } },
    ];
    const { fake, say } = await conversation(t, () => ({ text: "I see" }), { blobs, vision: true });
    await say("hello", { journal });
    const told = fake.requests[0]?.seen.messages.slice(-2);
    assert.deepEqual(
      told?.map(({ results, files }) => [results.length, files.length]),
      [
        [1, 0],
        [0, 1],
      ],
    );
  });

  test("a result of megabytes: the request holds its ends, and a file the whole", async (t) => {
    const blobs = newBlobs(t);
    const whole = `begin ${"line of output\n".repeat(200_000)} end`;
    const tool: Tool = { ...look, run: async () => ({ type: "ok", output: whole }) };
    const { fake, say } = await conversation(t, ({ seen }) => follow(seen), { blobs, tools: () => [tool] });
    await say(
      `do: ${JSON.stringify([
        { tool: "look", input: { n: 1 } },
        { tool: "look", input: { n: 2 } },
      ])}`,
    );
    const last = fake.requests.at(-1);
    assert.ok(JSON.stringify(last?.body).length < 60_000);
    const text = last?.seen.messages.flatMap(({ results }) => results)[0]?.text ?? "";
    assert.match(text, /^begin line of output/);
    assert.match(text, /line of output\n end$/);
    const path = /the whole text is in the file (\S+),/.exec(text)?.[1] ?? "";
    assert.equal(readFileSync(path, "utf8"), whole);
  });
});

describe("what providers want back", () => {
  test("marks for the cache of Anthropic: what is fixed, what stays for the turn, the end", async (t) => {
    const { fake, say } = await conversation(t, ({ seen }) => follow(seen), {}, "anthropic");
    await say("hello");
    await say(`do: ${JSON.stringify([{ tool: "look", input: {} }])}`);
    type Block = { cache_control?: unknown };
    const body = fake.requests.at(-1)?.body as { system: Block[]; tools: Block[]; messages: { content: Block[] }[] };
    const marked = (blocks: Block[]) => blocks.map((block) => block.cache_control !== undefined);
    assert.deepEqual(marked(body.system), [true]);
    assert.deepEqual(marked(body.tools), [true]);
    assert.deepEqual(
      body.messages.map(({ content }) => marked(content)),
      [[false], [true], [false], [false], [true]],
    );
  });

  test("thoughts go back to Anthropic with their signature, and the signature of Google with its call", async (t) => {
    for (const provider of ["anthropic", "google"] as const) {
      const thinking = { text: "let me think about it", signature: "signed-by-the-provider" };
      const { fake, say } = await conversation(t, ({ seen }) => ({ ...follow(seen), thinking }), {}, provider);
      await say(`do: ${JSON.stringify([{ tool: "look", input: {} }])}`);
      const sent = JSON.stringify(fake.requests[1]?.body);
      assert.ok(sent.includes("let me think about it") && sent.includes("signed-by-the-provider"), sent);
    }
  });

  test("and through OpenRouter to Anthropic", async (t) => {
    const model = "openrouter/anthropic/claude-x";
    const { fake, say } = await conversation(t, () => ({ text: "hi" }), { model }, "openrouter");
    await say("hello");
    assert.deepEqual(fake.requests[0]?.body["cache_control"], { type: "ephemeral" });
    assert.equal(fake.requests[0]?.seen.model, "anthropic/claude-x");
  });

  test("OpenRouter tells what it cost", async (t) => {
    const usage = { input: 50, output: 5, cached: 20, cost: 0.00123 };
    const { fake, say, journals } = await conversation(t, () => ({ text: "hi", usage }), {}, "openrouter");
    await say("hello");
    assert.deepEqual(fake.requests[0]?.body["usage"], { include: true });
    assert.equal(fake.requests[0]?.body["cache_control"], undefined);
    const entry = journals.get("t1")?.[0];
    assert.deepEqual(entry?.type === "said" ? entry.usage : null, {
      model: "openrouter/fake-model",
      input: 50,
      cached: 20,
      output: 5,
      cost: 1_230,
    });
  });
});

/** A journal as no engine would write it: calls without results, results without calls, words of anybody anywhere. */
function wildJournal(seed: number): readonly Entry[] {
  const { throw: roll, pick } = dice(seed);
  const ids = ["a", "b", "call_1", "functions.look:0", "ü?", "x".repeat(80)];
  return Array.from({ length: roll(20) }, (): Entry => {
    const calls = ids
      .filter(() => roll(3) === 0)
      .map((call) => ({ call, tool: "look", input: pick([{}, { at: 1 }, "text", null, [1]]) }));
    const reasoning = { type: "reasoning", text: "hm", meta: { anthropic: { signature: "s" } } };
    const data = pick([
      undefined,
      { model: "anthropic/fake-model", parts: [reasoning, { type: "text" }] },
      { model: 7 },
    ]);
    return pick<() => Entry>([
      () => ({ type: "said", text: pick(["", " ", "words"]), calls, final: roll(3) === 0, data }),
      () => ({
        type: "tool-ended",
        call: pick(ids),
        result: { type: "ok", output: pick(["", "fine", null, { a: 1 }]) },
      }),
      () => ({ type: "tool-ended", call: pick(ids), result: { type: "unknown", why: "cut short" } }),
      () => ({ type: "tool-begun", call: pick(ids), effect: "once" }),
      () => ({ type: "joined", message: anInbound(pick(["", "more"])) }),
      () => ({ type: "resumed", attempt: 2, reason: "crash" }),
      () => ({ type: "asked", question: "q", text: pick(["", "Tea?"]), choices: ["yes"] }),
      () => ({ type: "answered", question: "q", choice: pick([null, "yes"]) }),
      () => ({ type: "compacted", summary: "so far", entries: roll(8), upTo: 0 }),
    ])();
  });
}

for (const provider of ["openai", "anthropic", "google"] as const) {
  test(`whatever the journal looks like, ${provider} takes the request`, async (t) => {
    const { fake, step } = await stage(t, () => ({ text: "hi" }), {}, provider);
    for (let seed = 1; seed <= 80; seed++) {
      const journal = wildJournal(seed);
      const given = await step(journal, { note: seed % 2 === 0 ? "[note]" : null });
      const isCircle = given.type === "failed" && /times/.test(given.why);
      assert.ok(
        given.type === "said" || isCircle,
        `seed ${seed}: ${JSON.stringify([given, fake.requests.at(-1)?.body])}`,
      );
    }
  });
}
