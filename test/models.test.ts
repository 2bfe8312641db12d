// The model backend against everything that goes wrong between it and a provider: the packages are the real ones, the
// services are fakes that speak and break as the services do.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type TestContext, describe, test } from "node:test";
import type { Step } from "../src/ports/agent.ts";
import { anInbound, at } from "../src/testing/samples.ts";
import { type Plan, anthropicError, fakeModels, openaiError } from "./fakes/models/index.ts";
import { stage } from "./fakes/models/stage.ts";

const protocols = ["openai", "anthropic", "google"] as const;
const long = "A rather long answer that takes quite a few frames before it comes to its end.";

function failed(step: Step): Extract<Step, { type: "failed" }> {
  assert.equal(step.type, "failed", JSON.stringify(step));
  return step as Extract<Step, { type: "failed" }>;
}
function said(step: Step): Extract<Step, { type: "said" }> {
  assert.equal(step.type, "said", JSON.stringify(step));
  return step as Extract<Step, { type: "said" }>;
}

for (const protocol of protocols) {
  describe(`over ${protocol}`, () => {
    test("text grows as a draft and is the answer", async (t) => {
      const { step, drafts } = await stage(t, () => ({ text: long }), {}, protocol);
      const { text, calls, final } = said(await step());
      assert.deepEqual({ text, calls, final }, { text: long, calls: [], final: true });
      assert.ok(drafts.length > 3 && drafts.every((draft) => long.startsWith(draft)));
      assert.equal(drafts.at(-1), long);
    });

    test("several calls at once, with arguments in pieces", async (t) => {
      const calls = ["a", "b", "c"].map((at) => ({ name: "look", input: { at, deep: { list: [1, 2, "äöü 👋"] } } }));
      const { step } = await stage(t, () => ({ text: "Looking.", calls, grain: 3 }), {}, protocol);
      const given = said(await step());
      assert.equal(given.final, false);
      assert.equal(given.text, "Looking.");
      assert.deepEqual(
        given.calls.map(({ tool, input }) => ({ name: tool, input })),
        calls,
      );
    });

    for (const how of ["disconnect", "end", "malformed", "error"] as const) {
      test(`half an answer is none: ${how}`, async (t) => {
        // Before the frame that says why it ended; what OpenAI sends behind that adds nothing to the answer.
        const at = protocol === "openai" ? -3 : -1;
        const { step, fake } = await stage(t, () => ({ text: long, break: { at, how } }), {}, protocol);
        const { retry, why } = failed(await step());
        assert.equal(retry, "later");
        assert.match(why, new RegExp(`${protocol}/fake-model`));
        assert.equal(fake.requests.length, 1, "nobody repeats it behind our back");
      });

      test(`half a call is none: ${how}`, async (t) => {
        const calls = [{ name: "look", input: { at: "somewhere far away" } }];
        const at = protocol === "google" ? 0 : 4;
        const { step } = await stage(t, () => ({ calls, break: { at, how } }), {}, protocol);
        assert.equal(failed(await step()).retry, "later");
      });
    }

    test("a service that is silent is left after a while", async (t) => {
      const plan: Plan = { text: long, break: { at: 1, how: "hang" } };
      const { step, fake } = await stage(t, () => plan, { silenceMs: 200 }, protocol);
      assert.match(failed(await step()).why, /sent nothing/);
      assert.equal(fake.requests.length, 1);
    });

    test("slow tokens are no silence", async (t) => {
      const { step } = await stage(
        t,
        () => ({ text: "so slow", grain: 1, everyMs: 60 }),
        { silenceMs: 2_000 },
        protocol,
      );
      assert.equal(said(await step()).text, "so slow");
    });

    for (const [name, plan] of [
      ["before the answer", { dead: "hang" }],
      ["in the middle of it", { text: long, break: { at: 3, how: "hang" } }],
    ] as const satisfies readonly (readonly [string, Plan])[]) {
      test(`an abort ends it at once, ${name}, and the service sees it`, async (t) => {
        const { step, fake } = await stage(t, () => plan, {}, protocol);
        const stop = new AbortController();
        const reason = new Error("the gateway stops");
        const running = step([], {}, stop.signal);
        await fake.asked(1);
        stop.abort(reason);
        await assert.rejects(running, (error) => error === reason);
        while (fake.left() === 0) await new Promise((go) => setTimeout(go, 5));
      });
    }

    for (const [name, plan, retry, words] of [
      ["a dead line", { dead: "reset" }, "later", /cannot be reached|broke/],
      ["a page of a proxy", { status: 502, body: "<html><title>502 Bad Gateway</title></html>" }, "later", /502/],
      ["a page with success", { status: 200, body: "<html><title>Welcome</title></html>" }, "later", /fake-model/],
      [
        "busy",
        { status: 503, body: { error: { code: 503, message: "overloaded", status: "UNAVAILABLE" } } },
        "later",
        /overloaded/,
      ],
      [
        "a wrong key",
        { status: 401, body: { error: { code: 401, message: "bad key", status: "UNAUTHENTICATED" } } },
        "never",
        /apiKey/,
      ],
    ] as const satisfies readonly (readonly [string, Plan, string, RegExp])[]) {
      test(name, async (t) => {
        const { step, fake } = await stage(t, () => plan, {}, protocol);
        const given = failed(await step());
        assert.equal(given.retry, retry, given.why);
        assert.match(given.why, words);
        assert.equal(fake.requests.length, 1);
      });
    }
  });
}

test("an answer of Anthropic that never said why it ended is none", async (t) => {
  const { step } = await stage(t, () => ({ text: long, break: { at: -2, how: "end" } }), {}, "anthropic");
  assert.equal(failed(await step()).retry, "later");
});

for (const [protocol, configured, requested, sent] of [
  ["openai", undefined, undefined, undefined],
  ["openai", 100, undefined, 100],
  ["openai", 100, 5_000, 100],
  ["openai", 100, 20, 20],
  ["openai", undefined, 20, 20],
  ["anthropic", 100, 5_000, 100],
  ["anthropic", undefined, 20, 20],
] as const) {
  test(`${protocol}: ${configured ?? "no"} output tokens configured, ${requested ?? "none"} requested: sends ${sent ?? "none"}`, async (t) => {
    const more = configured === undefined ? {} : { maxOutputTokens: configured };
    const { step, fake } = await stage(t, () => ({ text: "hi" }), more, protocol);
    const options = requested === undefined ? {} : { options: { maxOutputTokens: requested } };
    said(await step([], { input: { ...anInbound("hello"), ...options } }));
    assert.equal(fake.requests[0]?.body["max_tokens"], sent);
  });
}

test("servers of tools are awaited before the first request, and no longer than the step lives", async (t) => {
  const ready = Promise.withResolvers<void>();
  const { step, fake } = await stage(t, () => ({ text: "hi" }), { ready: () => ready.promise });
  const stop = new AbortController();
  const aborted = step([], {}, stop.signal);
  const waiting = step();
  stop.abort(new Error("enough"));
  await assert.rejects(aborted, /enough/);
  // Another one goes all the way meanwhile.
  const other = await stage(t, () => ({ text: "hi" }));
  await other.step();
  assert.equal(fake.requests.length, 0);
  ready.resolve();
  assert.equal(said(await waiting).text, "hi");
});

test("the fake as a process: scenario by name, and what was asked of it", async (t) => {
  const path = join(import.meta.dirname, "fakes/models/serve.ts");
  const child = spawn(process.execPath, [path, "echo"], { stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => child.kill());
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  const { url } = JSON.parse(line) as { url: string };
  const { step } = await stage(t, () => ({ text: "" }), {
    providers: { openai: { keys: ["k"], baseUrl: `${url}/v1` } },
  });
  assert.equal(said(await step()).text, "You said: hello");
  const told = (await (await fetch(`${url}/__requests`)).json()) as {
    count: number;
    requests: { seen: { model: string } }[];
  };
  assert.deepEqual([told.count, told.requests[0]?.seen.model], [1, "fake-model"]);
});

describe("a server at home", () => {
  const home = async (t: TestContext, plan: Plan) => {
    const fake = await fakeModels(() => plan);
    t.after(() => fake.close());
    const providers = { ollama: { keys: [], baseUrl: fake.baseUrl("openai") } };
    const { step } = await stage(t, () => ({ text: "" }), { model: "ollama/llama", providers });
    return { fake, step };
  };

  test("is not asked through what gives up after five minutes", async (t) => {
    const { step } = await home(t, { text: "äöü 👋 ".repeat(2_000), grain: 7 });
    t.mock.method(globalThis, "fetch", () => assert.fail("the runtime's own was used"));
    assert.equal(said(await step()).text, "äöü 👋 ".repeat(2_000));
  });

  for (const [name, plan, words] of [
    ["a dead line", { dead: "reset" }, /cannot be reached|broke/],
    ["a page of a proxy", { status: 502, body: "<html><title>502 Bad Gateway</title></html>" }, /502/],
    ["a stream that breaks", { text: long, break: { at: -3, how: "disconnect" } }, /llama/],
    ["a stream that ends early", { text: long, break: { at: -3, how: "end" } }, /llama/],
  ] as const satisfies readonly (readonly [string, Plan, RegExp])[]) {
    test(name, async (t) => {
      const given = failed(await (await home(t, plan)).step());
      assert.equal(given.retry, "later");
      assert.match(given.why, words);
    });
  }

  for (const plan of [{ dead: "hang" }, { text: long, break: { at: 3, how: "hang" } }] as const) {
    test(`an abort ends it at once: ${JSON.stringify(plan)}`, async (t) => {
      const { step, fake } = await home(t, plan);
      const stop = new AbortController();
      const reason = new Error("the gateway stops");
      const running = step([], {}, stop.signal);
      await fake.asked(1);
      stop.abort(reason);
      await assert.rejects(running, (error) => error === reason);
      while (fake.left() === 0) await new Promise((go) => setTimeout(go, 5));
    });
  }
});

describe("what a provider says about time", () => {
  for (const [name, headers, afterMs] of [
    ["in seconds", { "retry-after": "3" }, 3_000],
    ["in milliseconds", { "retry-after-ms": "250" }, 250],
  ] as const) {
    test(name, async (t) => {
      const body = openaiError("Rate limit reached", "requests", "rate_limit_exceeded");
      const { step, fake } = await stage(t, () => ({ status: 429, body, headers }));
      const given = failed(await step());
      assert.deepEqual([given.retry, given.afterMs], ["later", afterMs]);
      // The key rests: nobody asks before its time.
      assert.equal(failed(await step()).retry, "later");
      assert.equal(fake.requests.length, 1);
    });
  }
});

describe("several keys", () => {
  test("a key that is refused rests, and the next one answers in the same step", async (t) => {
    const { step, fake } = await stage(t, ({ key }) => {
      if (key === "good") return { text: "hello" };
      return { status: 401, body: openaiError("Incorrect API key", "invalid_request_error", "invalid_api_key") };
    });
    const two = await stage(t, () => ({ text: "" }), {
      providers: { openai: { keys: ["bad", "good"], baseUrl: fake.baseUrl("openai") } },
    });
    assert.equal(said(await two.step()).text, "hello");
    assert.equal(said(await two.step()).text, "hello");
    assert.deepEqual(
      fake.requests.map(({ key }) => key),
      ["bad", "good", "good"],
    );
    assert.equal(failed(await step()).retry, "never");
  });

  test("where every key is refused, one is tried each time: it may have been put right", async (t) => {
    let fixed = false;
    const refusal: Plan = { status: 402, body: openaiError("no credit", "insufficient_quota", "insufficient_quota") };
    const { step, fake } = await stage(t, () => (fixed ? { text: "paid" } : refusal));
    assert.match(failed(await step()).why, /credit/);
    assert.match(failed(await step()).why, /credit/);
    fixed = true;
    assert.equal(said(await step()).text, "paid");
    assert.equal(fake.requests.length, 3);
  });
});

test("a key that only rests counts more than one that is wrong: it will answer", async (t) => {
  const slow: Plan = { status: 429, body: openaiError("slow down", "requests"), headers: { "retry-after": "9" } };
  const wrong: Plan = { status: 401, body: openaiError("bad key", "invalid_request_error", "invalid_api_key") };
  const fake = await fakeModels(({ key }) => (key === "slow" ? slow : wrong));
  t.after(() => fake.close());
  const { step } = await stage(t, () => ({ text: "" }), {
    providers: { openai: { keys: ["slow", "bad"], baseUrl: fake.baseUrl("openai") } },
  });
  const given = failed(await step());
  assert.deepEqual([given.retry, given.afterMs], ["later", 9_000]);
});

describe("fallbacks", () => {
  test("the next model answers in the same step, of another provider and with its own words", async (t) => {
    const busy = await stage(
      t,
      () => ({ status: 529, body: anthropicError("overloaded_error", "Overloaded") }),
      {},
      "anthropic",
    );
    const { step, fake } = await stage(t, () => ({ text: "from the other" }));
    const both = await stage(t, () => ({ text: "" }), {
      model: "anthropic/claude-x",
      fallback: ["openai/gpt-x"],
      providers: {
        anthropic: { keys: ["a"], baseUrl: busy.fake.baseUrl("anthropic") },
        openai: { keys: ["b"], baseUrl: fake.baseUrl("openai") },
      },
    });
    const given = said(await both.step());
    assert.equal(given.text, "from the other");
    assert.equal(given.usage?.model, "openai/gpt-x");
    assert.equal(said(await step()).text, "from the other");
  });

  test("too many requests to a model do not keep another of its provider from answering", async (t) => {
    const body = openaiError("Rate limit reached for fake-model", "requests", "rate_limit_exceeded");
    const { step, fake } = await stage(
      t,
      ({ seen }) =>
        seen.model === "fake-model"
          ? { status: 429, body, headers: { "retry-after": "9" } }
          : { text: "from the small" },
      { fallback: ["openai/small"] },
    );
    assert.equal(said(await step()).text, "from the small");
    assert.equal(said(await step()).text, "from the small");
    assert.deepEqual(
      fake.requests.map(({ seen }) => seen.model),
      ["fake-model", "small", "small"],
    );
  });

  test("when all fail, it is told of each, and asked of each once", async (t) => {
    const { step, fake } = await stage(t, () => ({ status: 500, body: "" }), { fallback: ["openai/b", "openai/c"] });
    const given = failed(await step());
    assert.equal(given.retry, "later");
    for (const name of ["openai/fake-model", "openai/b", "openai/c"]) assert.ok(given.why.includes(name), given.why);
    assert.deepEqual(
      fake.requests.map(({ seen }) => seen.model),
      ["fake-model", "b", "c"],
    );
  });

  test("the model that the user chose comes first", async (t) => {
    const { step, fake } = await stage(t, () => ({ text: "hi" }), { fallback: ["openai/b"] });
    await step([], { model: "openai/chosen" });
    assert.deepEqual(
      fake.requests.map(({ seen }) => seen.model),
      ["chosen"],
    );
  });
});

describe("bad settings", () => {
  test("an unknown model: near ones are suggested", async (t) => {
    const body = openaiError("The model `gpt-5-mimi` does not exist", "invalid_request_error", "model_not_found");
    const models = ["gpt-5-mini", "gpt-5", "whisper-1"];
    const { step } = await stage(t, () => ({ status: 404, body }), { model: "openai/gpt-5-mimi" }, "openai", {
      models,
    });
    const { retry, why } = failed(await step());
    assert.equal(retry, "never");
    assert.match(why, /openai\/gpt-5-mini/);
    assert.doesNotMatch(why, /whisper/);
  });

  test("no key: nothing is asked", async (t) => {
    const { step, fake } = await stage(t, () => ({ text: "" }), { providers: {} });
    const { retry, why } = failed(await step());
    assert.equal(retry, "never");
    assert.match(why, /no key for openai.*agent\.providers\.openai\.apiKey/);
    assert.equal(fake.requests.length, 0);
  });

  test("nobody there", async (t) => {
    const { step } = await stage(t, () => ({ text: "" }), {
      model: "ollama/llama",
      providers: { ollama: { keys: [], baseUrl: "http://127.0.0.1:1/v1" } },
    });
    const { retry, why } = failed(await step());
    assert.equal(retry, "later");
    assert.match(why, /ollama cannot be reached at http:\/\/127\.0\.0\.1:1\/v1.*running there/);
  });

  test("a server that needs no key gets none", async (t) => {
    const { fake, step } = await stage(t, () => ({ text: "hi" }));
    const local = await stage(t, () => ({ text: "" }), {
      model: "ollama/llama",
      providers: { ollama: { keys: [], baseUrl: fake.baseUrl("openai"), headers: { "x-own": "yes" } } },
    });
    assert.equal(said(await local.step()).text, "hi");
    assert.equal(fake.requests[0]?.key, null);
    assert.equal(fake.requests[0]?.headers["x-own"], "yes");
    await step();
  });
});

describe("what a model cannot do", () => {
  test("one that takes no tools is asked without for an hour, and the user is told", async (t) => {
    const body = { error: { message: "tiny does not support tools", type: "api_error" } };
    const { step, fake } = await stage(t, ({ seen }) =>
      seen.tools.length > 0 ? { status: 400, body } : { text: "hi" },
    );
    const answerAt = async (ms: number): Promise<string> => said(await step([], { now: () => at(ms) })).text;
    const told = /^hi\n\n\[openai\/fake-model cannot use tools.*\/model/;
    assert.match(await answerAt(0), told);
    assert.equal(await answerAt(1_000), "hi", "once");
    assert.match(await answerAt(3_600_001), told, "it may have learned it");
    assert.deepEqual(
      fake.requests.map(({ seen }) => seen.tools.length),
      [1, 0, 0, 1, 0],
    );
  });
});

describe("answers that are none", () => {
  for (const [name, plan, retry, words] of [
    ["empty", { text: "" }, "later", /empty/],
    ["refused", { text: "", finish: "content_filter" }, "never", /refused/],
    ["thought too long", { text: "", finish: "length" }, "never", /used up.*agent\.maxOutputTokens/],
  ] as const satisfies readonly (readonly [string, Plan, string, RegExp])[]) {
    test(name, async (t) => {
      const { step } = await stage(t, () => plan);
      const given = failed(await step());
      assert.equal(given.retry, retry);
      assert.match(given.why, words);
    });
  }

  test("an answer that was cut says so", async (t) => {
    const { step } = await stage(t, () => ({ text: "half of", finish: "length" }));
    assert.match(said(await step()).text, /^half of\n\n\[The answer was cut off/);
  });

  for (const [protocol, finish] of [
    ["openai", "content_filter"],
    ["anthropic", "refusal"],
    ["google", "SAFETY"],
    ["google", "RECITATION"],
  ] as const) {
    const calls = [{ name: "look", input: { at: "a" } }];

    test(`${protocol}, ${finish}: an answer that a filter cut says so, and none of its calls is made`, async (t) => {
      const { step } = await stage(t, () => ({ text: "Switch it off, then", calls, finish }), {}, protocol);
      const given = said(await step());
      assert.equal(given.text, "Switch it off, then\n\n[The answer was cut off here by the provider's filter.]");
      assert.deepEqual([given.calls, given.final], [[], true]);
    });

    test(`${protocol}, ${finish}: calls without a word are no answer`, async (t) => {
      const { step } = await stage(t, () => ({ calls, finish }), {}, protocol);
      const given = failed(await step());
      assert.equal(given.retry, "never");
      assert.match(given.why, /refused this request/);
    });
  }

  test("arguments that are no JSON stay, and the tool is not run with them", async (t) => {
    const calls = [{ name: "look", input: '{"at": "a", oops' }];
    const { step, agent } = await stage(t, ({ nth }) => (nth === 1 ? { calls } : { text: "sorry" }));
    const given = said(await step());
    const [call] = given.calls;
    const context = {
      session: "s" as never,
      address: { platform: "web", account: "a", chat: "c" },
      requester: { party: "owner", person: "owner" } as const,
      outside: false,
      now: () => 0 as never,
    };
    const verdict = await agent.tools[0]?.vet?.(call?.input, context);
    assert.equal(verdict?.type, "refuse");
    assert.match(verdict?.type === "refuse" ? verdict.why : "", /not valid.*JSON object/);
    const result = { type: "failed", why: verdict?.type === "refuse" ? verdict.why : "" } as const;
    assert.equal(said(await step([given, { type: "tool-ended", call: call?.call ?? "", result }])).text, "sorry");
  });

  test("calls of one step with one id get ids of their own", async (t) => {
    const calls = [1, 2, 3].map((n) => ({ name: "look", input: { n }, id: "same" }));
    const { step } = await stage(t, () => ({ calls }));
    const ids = said(await step()).calls.map(({ call }) => call);
    assert.equal(new Set(ids).size, ids.length);
  });
});
