// Answers that grow inside a message of the platform: placed, noted, filled, finished by an edit, or taken away. Nothing is
// written into it before its id is stored, and nothing after its end was sent.

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { limits } from "../../src/core/limits.ts";
import type { OutboxItem, SendResult } from "../../src/core/outbox.ts";
import type { AgentJob, Step } from "../../src/ports/agent.ts";
import type { Platform } from "../../src/ports/platform.ts";
import { type Stage, type StageOptions, stage } from "../stop/stage.ts";
import { agentOf, turnsOf } from "./agents.ts";

const said = (text: string): Step => ({ type: "said", text, calls: [], final: true });

/** Shows one text after another, a while apart, then says what it said last. */
const streams =
  (words: readonly string[], everyMs = 200) =>
  async (job: AgentJob): Promise<Step> => {
    for (const word of words) {
      job.draft(word);
      await job.pause(everyMs);
    }
    return said(words.at(-1) ?? "");
  };

type Ways = {
  /** How long each kind of request takes. */
  readonly takes?: { readonly place?: number; readonly fill?: number };
  readonly answers?: (call: string) => SendResult | null;
  readonly typing?: true;
  /** Placed again under its key it is the same message; "looked": it is looked for first, and placed when the time is over. */
  readonly keyed?: true | "looked";
};

/** A platform that takes no keys; what happens on it is one list. */
async function growing(t: TestContext, ways: Ways = {}) {
  const on = await stage(t);
  const calls: string[] = [];
  const from = on.now();
  let placed = 0;
  const keys = new Map<string, string>();
  const note = async (what: string, ms: number): Promise<SendResult> => {
    const answer = ways.answers?.(what) ?? null;
    calls.push(answer === null ? what : `${what} (${answer.type})`);
    if (ms > 0) {
      await new Promise<void>((go) => void on.clock.at(on.clock.now() + ms, go));
      calls.push(`done: ${what}`);
    }
    return answer ?? { type: "accepted", remoteId: `d${placed}` };
  };
  const is: Partial<Platform> = {
    can: { keyedSend: false, draftEveryMs: 100 },
    parts: (text) => text.split("||"),
    drafts: {
      ...(ways.keyed === undefined ? {} : { isKeyed: true }),
      async place(to, _hints, _signal, { id, placedSince }) {
        let remoteId = ways.keyed === undefined ? undefined : keys.get(id);
        const post = (): string => {
          keys.set(id, `d${++placed}`);
          return `d${placed}`;
        };
        if (ways.keyed !== "looked") remoteId ??= post();
        const again = placedSince === null ? "" : " again";
        const result = await note(`place ${to.chat}${again}`, ways.takes?.place ?? 0);
        remoteId ??= post();
        return result.type === "accepted" ? { type: "accepted", remoteId } : result;
      },
      fill: (_to, id, text) => note(`fill ${id} ${text}`, ways.takes?.fill ?? 0),
      remove: (_to, id) => note(`remove ${id}`, 0),
    },
    send: (item: OutboxItem) =>
      note(item.edits === undefined ? `send ${item.text}` : `edit ${item.edits} ${item.text}`, 0),
    draft: () => assert.fail("draft is for others"),
    ...(ways.typing === true ? { typing: () => void calls.push(`typing ${on.now() - from}`) } : {}),
  };
  const options = (more: StageOptions): StageOptions => ({ platforms: { chat: { is } }, ...more });
  return {
    on,
    calls,
    begin: (more: StageOptions) => on.start(options(more)),
    until: (what: string) => on.until(() => calls.includes(what), what),
  };
}

async function noFacts(on: Stage): Promise<void> {
  for (const { id } of await turnsOf(on)) assert.equal(await on.store.fact(`draft/${id}`), null);
}

test("placed, filled with the newest text, finished by an edit; further parts are sent", async (t) => {
  const { on, calls, begin, until } = await growing(t);
  await begin({ agent: agentOf([], [streams(["one", "one t", "one two", "one two||three"], 45)]) });
  await on.say("go");
  await until("send three");
  assert.deepEqual(calls, ["place a", "fill d1 one", "fill d1 one two", "edit d1 one two", "send three"]);
  await on.pass(1_000);
  assert.equal(calls.length, 5, "and nothing afterwards");
  await noFacts(on);
});

test("its id is stored before anything is written into it", async (t) => {
  const { on, calls, begin, until } = await growing(t);
  const store: typeof on.store = {
    ...on.store,
    async commit(changes, by) {
      if (changes.some((one) => "put" in one && one.put === "fact" && one.name.startsWith("draft/"))) {
        assert.deepEqual(calls, ["place a"]);
        await new Promise<void>((go) => void on.clock.at(on.clock.now() + 300, go));
        assert.deepEqual(calls, ["place a"]);
      }
      return on.store.commit(changes, by);
    },
  };
  await begin({ store, agent: agentOf([], [streams(["one", "two"])]) });
  await on.say("go");
  await until("edit d1 two");
});

test("it costs one commit more than an answer that is sent", async (t) => {
  const { on, begin, until } = await growing(t);
  let commits = 0;
  const store: typeof on.store = {
    ...on.store,
    commit(changes, by) {
      commits++;
      return on.store.commit(changes, by);
    },
  };
  await begin({ store, agent: agentOf([], [streams(["one", "two"], 150)]) });
  await on.pass(100);
  commits = 0;
  await on.say("go");
  await until("edit d1 two");
  await on.pass(100);
  assert.equal(commits, 4, "accepted and begun, placed, finished and being sent, delivered");
});

test("the same words are written once", async (t) => {
  const { on, calls, begin, until } = await growing(t);
  await begin({ agent: agentOf([], [streams(["one", "one", "one", "two", "one"], 150)]) });
  await on.say("go");
  await until("edit d1 one");
  assert.deepEqual(calls, ["place a", "fill d1 one", "fill d1 two", "fill d1 one", "edit d1 one"]);
});

test("an answer without previews is sent as it is", async (t) => {
  const { on, calls, begin, until } = await growing(t);
  await begin({ agent: agentOf([], [said("at once")]) });
  await on.say("go");
  await until("send at once");
  assert.deepEqual(calls, ["send at once"]);
});

test("the end waits for what is still being written, however slow", async (t) => {
  const { on, calls, begin, until } = await growing(t, { takes: { fill: 700 } });
  await begin({ agent: agentOf([], [streams(["one", "one two"])]) });
  await on.say("go");
  await until("edit d1 one two");
  assert.deepEqual(calls, ["place a", "fill d1 one", "done: fill d1 one", "edit d1 one two"]);
  const [item] = await on.store.items({ limit: 1 });
  assert.equal(item?.edits, "d1");
});

test("it was stored at once all the same, as waiting and not as being sent", async (t) => {
  const { on, begin } = await growing(t, { takes: { fill: 700 } });
  await begin({ agent: agentOf([], [streams(["one"], 50)]) });
  await on.say("go");
  await on.pass(200);
  assert.equal((await on.store.counts()).items.pending, 1);
  assert.equal((await on.store.counts()).items.sending, 0);
});

test("a fill without any answer holds the end no longer than a preview may take", async (t) => {
  const { on, calls, begin, until } = await growing(t, { takes: { fill: 3_600_000 } });
  await begin({ agent: agentOf([], [streams(["one"], 50)]) });
  await on.say("go");
  const from = on.now();
  await until("edit d1 one");
  assert.ok(on.now() - from >= limits.previewMs && on.now() - from < limits.previewMs + 1_000);
  assert.deepEqual(calls, ["place a", "fill d1 one", "edit d1 one"]);
});

test("the end waits a moment for the place of its preview", async (t) => {
  const { on, calls, begin, until } = await growing(t, { takes: { place: limits.draftWaitMs - 200 } });
  await begin({ agent: agentOf([], [streams(["one"], 50)]) });
  await on.say("go");
  await until("edit d1 one");
  assert.deepEqual(calls, ["place a", "done: place a", "edit d1 one"]);
});

test("but not for long: then it is sent, and what was placed is taken away", async (t) => {
  const { on, calls, begin, until } = await growing(t, { takes: { place: limits.draftWaitMs + 500 } });
  await begin({ agent: agentOf([], [streams(["one"], 50)]) });
  await on.say("go");
  await until("remove d1");
  assert.deepEqual(calls, ["place a", "send one", "done: place a", "remove d1"]);
  await noFacts(on);
});

test("a turn that goes on after a death goes on in the same message", async (t) => {
  const { on, calls, begin, until } = await growing(t);
  const first = await begin({ agent: agentOf([], [streams(["one", "two"], 10_000)]) });
  await on.say("go");
  await until("fill d1 one");
  first.life.kill();
  await begin({ agent: agentOf([], [streams(["three", "four"])]) });
  await until("edit d1 four");
  assert.deepEqual(calls, ["place a", "fill d1 one", "fill d1 three", "fill d1 four", "edit d1 four"]);
  await noFacts(on);
});

test("a turn that a stop put aside too", async (t) => {
  const { on, calls, begin, until } = await growing(t);
  const first = await begin({
    agent: agentOf([], [streams(["one", "two"], 10_000)]),
    settings: { chat: { restartNotices: false } },
  });
  await on.say("go");
  await until("fill d1 one");
  await on.stop(first);
  await begin({ agent: agentOf([], [said("the end")]) });
  await until("edit d1 the end");
  assert.deepEqual(calls, ["place a", "fill d1 one", "edit d1 the end"]);
});

test("a question finishes the message, and what follows has one of its own", async (t) => {
  const { on, calls, begin, until } = await growing(t);
  const asks = async (job: AgentJob): Promise<Step> => {
    job.draft("thinking");
    await job.pause(200);
    return {
      type: "asked",
      text: "which?",
      choices: ["a", "b"],
      until: (job.now() + 60_000) as typeof job.input.sentAt,
    };
  };
  await begin({ agent: agentOf([], [asks, streams(["so"])]) });
  await on.say("go");
  await until("edit d1 which?");
  await noFacts(on);
  await on.say("a");
  await until("edit d2 so");
  assert.deepEqual(calls, ["place a", "fill d1 thinking", "edit d1 which?", "place a", "fill d2 so", "edit d2 so"]);
});

test("what is silent leaves no half of an answer", async (t) => {
  const { on, calls, begin, until } = await growing(t);
  const silent = async (job: AgentJob): Promise<Step> => {
    job.draft("thinking");
    await job.pause(200);
    return said("");
  };
  await begin({ agent: agentOf([], [silent]) });
  await on.say("go");
  await until("fill d1 thinking");
  await until("remove d1");
  await on.pass(1_000);
  assert.deepEqual(
    calls.filter((one) => /^(?:fill|edit)/.test(one)),
    ["fill d1 thinking"],
  );
  await noFacts(on);
});

for (const who of ["its user", "the operator"] as const) {
  test(`what ${who} stops keeps what was shown, and says that no more follows`, async (t) => {
    const { on, calls, begin, until } = await growing(t, { takes: { fill: 300 } });
    const { gateway } = await begin({ agent: agentOf([], [streams(["one", "one two", "never"], 30_000)]) });
    await on.say("go");
    await until("fill d1 one two");
    const [turn] = await turnsOf(on);
    assert.ok(turn);
    if (who === "its user") await on.say("/stop");
    else await gateway.cancel(turn.id);
    await until("done: fill d1 one two\n\n(Stopped.)");
    await on.pass(60_000);
    assert.deepEqual(
      calls.filter((one) => one.includes("d1")),
      ["one", "one two", "one two\n\n(Stopped.)"].flatMap((text) => [`fill d1 ${text}`, `done: fill d1 ${text}`]),
      "after what was being written, and nothing behind it",
    );
    await noFacts(on);
  });
}

test("the last words are tried again when the platform wants a pause", async (t) => {
  let pauses = 2;
  const { on, calls, begin, until } = await growing(t, {
    answers: (call) =>
      call.endsWith("(Stopped.)") && pauses-- > 0 ? { type: "retry", afterMs: 1_000, why: "slow down" } : null,
  });
  await begin({ agent: agentOf([], [streams(["one", "never"], 60_000)]) });
  await on.say("go");
  await until("fill d1 one");
  await on.say("/stop");
  await until("fill d1 one\n\n(Stopped.)");
  assert.ok(!calls.includes("remove d1"));
});

test("stopped before anything was written into it, it is taken away", async (t) => {
  const { on, calls, begin, until } = await growing(t, { takes: { place: 400 } });
  await begin({ agent: agentOf([], [streams(["one", "never"], 60_000)]) });
  await on.say("go");
  await until("place a");
  await on.say("/stop");
  await until("remove d1");
  await on.pass(1_000);
  assert.ok(!calls.some((one) => one.startsWith("fill")), calls.join(", "));
});

test("of a text that is too long for its message the beginning stays, with its end", async (t) => {
  const { on, begin, until } = await growing(t);
  const long = "much has been written here";
  await begin({ agent: agentOf([], [streams([`${long}||and more`, "never"], 60_000)]) });
  await on.say("go");
  await until(`fill d1 ${long}||and more`);
  await on.say("/stop");
  await until("fill d1 much has been…\n\n(Stopped.)");
});

test("a message that takes its place takes its preview away", async (t) => {
  const { on, calls, begin, until } = await growing(t);
  const words = async (job: AgentJob): Promise<Step> =>
    streams(job.input.key === "m1" ? ["one", "never"] : ["two"], job.input.key === "m1" ? 60_000 : 200)(job);
  await begin({ agent: agentOf([], [words]), settings: { chat: { busy: "interrupt" } } });
  await on.say("go");
  await until("fill d1 one");
  await on.say("no, that");
  await until("edit d2 two");
  assert.ok(calls.includes("remove d1"), calls.join(", "));
  await noFacts(on);
});

test("one that is cancelled while it rests leaves nothing either", async (t) => {
  const { on, calls, begin, until } = await growing(t);
  const agent = agentOf([], [streams(["one", "two"], 60_000)]);
  const recovery = { afterCrash: "resume", autoResume: false } as const;
  const first = await begin({ agent });
  await on.say("go");
  await until("fill d1 one");
  first.life.kill();
  const next = await begin({ agent, recovery });
  const [turn] = await turnsOf(on);
  assert.ok(turn);
  void next.gateway.cancel(turn.id);
  await until("remove d1");
  assert.ok(!calls.some((one) => one.startsWith("edit")));
  await noFacts(on);
});

test("a turn that is given up says so in the message that it had begun", async (t) => {
  const { on, calls, begin } = await growing(t);
  const agent = agentOf([], [streams(["one", "two"], 60_000)]);
  for (let death = 0; death < limits.strikesMax; death++) {
    const living = await begin({ agent });
    if (death === 0) await on.say("go");
    await on.until(() => calls.filter((one) => one === "fill d1 one").length > death, "the preview");
    living.life.kill();
  }
  await begin({ agent });
  await on.until(() => calls.some((one) => one.startsWith("edit d1 I had to give this up")), "its end");
  await noFacts(on);
});

test("where the platform will have no preview, the answer is sent", async (t) => {
  const refused: SendResult = { type: "refused", why: "no" };
  const { on, calls, begin, until } = await growing(t, {
    answers: (call) => (call.startsWith("place") ? refused : null),
  });
  await begin({ agent: agentOf([], [streams(["one", "two", "three"])]) });
  await on.say("go");
  await until("send three");
  assert.deepEqual(calls, ["place a (refused)", "send three"]);
});

test("an edit that nobody answered is made again, whatever the policy says", async (t) => {
  let doubts = 0;
  const unknown: SendResult = { type: "unknown", why: "the line went dead" };
  const { on, calls, begin, until } = await growing(t, {
    answers: (call) => (call.startsWith("edit") && doubts++ < 4 ? unknown : null),
  });
  await begin({ agent: agentOf([], [streams(["one"])]), settings: { chat: { inDoubt: "hold" } } });
  await on.say("go");
  await until("edit d1 one");
  assert.equal(calls.filter((one) => one === "edit d1 one (unknown)").length, 4);
});

test("typing is shown at once and every few seconds, until the answer", async (t) => {
  const { on, calls, begin, until } = await growing(t, { typing: true });
  await begin({ agent: agentOf([], [async (job) => (await job.pause(9_000), said("late"))]) });
  const from = on.now();
  await on.say("go");
  await until("send late");
  await on.pass(20_000);
  const typed = calls.filter((one) => one.startsWith("typing")).map((one) => Number(one.split(" ")[1]) - from);
  assert.deepEqual(
    typed.map((ms) => Math.round(ms / 1_000)),
    [0, 4, 8],
  );
});

test("a platform that breaks does not break the turn", async (t) => {
  const { on, begin, until } = await growing(t, {
    answers: (call) => {
      if (call.startsWith("fill")) throw new Error("a bug of the platform");
      return null;
    },
  });
  await begin({ agent: agentOf([], [streams(["one", "two"])]) });
  await on.say("go");
  await until("edit d1 two");
});

/** A store that the id of a message does not reach. */
function forgetful({ store }: Stage): Stage["store"] {
  return {
    ...store,
    async commit(changes, by) {
      const isId = changes.some((one) => "put" in one && one.put === "fact" && /^d\d/.test(one.value));
      return isId ? new Promise(() => undefined) : store.commit(changes, by);
    },
  };
}

for (const [moment, takes] of [
  ["while it is placed", 500],
  ["after it was placed, before its id is stored", 0],
] as const)
  test(`killed ${moment}: where it has a key, the next process finds it, and nothing is left over`, async (t) => {
    const { on, calls, begin, until } = await growing(t, { keyed: true, takes: { place: takes } });
    const store = forgetful(on);
    const slow = agentOf([], [streams(["one", "one two"], 2_000)]);
    const first = await begin({ agent: slow, ...(takes === 0 ? { store } : {}) });
    await on.say("go");
    await until("place a");
    await on.pass(50);
    first.life.kill();
    // Its answer comes before a preview would: it must go into the message that stands there all the same.
    await begin({ agent: agentOf([], [said("one two")]) });
    await until("edit d1 one two");
    await on.pass(60_000);
    assert.deepEqual(
      calls.filter((one) => !one.startsWith("done")),
      ["place a", "place a again", "edit d1 one two"],
    );
    await noFacts(on);
  });

test("killed before anything was placed: nothing is placed for a short answer", async (t) => {
  const { on, calls, begin, until } = await growing(t, { keyed: true });
  const first = await begin({ agent: agentOf([], [() => new Promise<Step>(() => undefined)]) });
  await on.say("go");
  await on.pass(50);
  first.life.kill();
  await begin({ agent: agentOf([], [said("short")]) });
  await until("send short");
  assert.ok(!calls.some((one) => one.startsWith("place")), calls.join(", "));
});

test("without a key, one whose id was lost is left alone and never guessed at", async (t) => {
  const { on, calls, begin, until } = await growing(t);
  const first = await begin({ agent: agentOf([], [streams(["one", "one two"], 2_000)]), store: forgetful(on) });
  await on.say("go");
  await until("place a");
  await on.pass(50);
  first.life.kill();
  await begin({ agent: agentOf([], [said("one two")]) });
  await until("send one two");
  await on.pass(60_000);
  assert.ok(!calls.some((one) => /^(?:remove|fill|edit)/.test(one)), calls.join(", "));
});

test("an unanswered place is repeated under its key, and the answer goes there", async (t) => {
  let isFirst = true;
  const answers = (call: string): SendResult | null => {
    if (!call.startsWith("place") || !isFirst) return null;
    isFirst = false;
    return { type: "unknown", why: "reset" };
  };
  const { on, calls, begin, until } = await growing(t, { keyed: true, answers });
  await begin({ agent: agentOf([], [streams(["one", "one two"], 300)]) });
  await on.say("go");
  await until("edit d1 one two");
  await on.pass(1_000);
  assert.deepEqual(calls.slice(0, 2), ["place a (unknown)", "place a again"]);
  assert.ok(!calls.some((one) => one.startsWith("send")), calls.join(", "));
});

/** A store after which nothing happens any more as soon as the intent to place a message is in it. */
function endsAtIntent({ store }: Stage): Stage["store"] {
  return {
    ...store,
    async commit(changes, by) {
      const result = await store.commit(changes, by);
      const isIntent = changes.some((one) => "put" in one && one.put === "fact" && one.value.startsWith("placing:"));
      return isIntent ? new Promise(() => undefined) : result;
    },
  };
}

test("killed before it was placed: the next process places one, also where looking takes a while", async (t) => {
  const { on, calls, begin, until } = await growing(t, { keyed: "looked", takes: { place: 300 } });
  const first = await begin({ agent: agentOf([], [streams(["one"], 60_000)]), store: endsAtIntent(on) });
  await on.say("go");
  await on.pass(500);
  assert.equal(calls.length, 0);
  first.life.kill();
  // Words are there at once, while the message is still looked for.
  await begin({ agent: agentOf([], [streams(["one", "one two"], 400)]) });
  await until("edit d1 one two");
  await on.pass(60_000);
  assert.deepEqual(
    calls.filter((one) => one.startsWith("place")),
    ["place a again"],
  );
  await noFacts(on);
});

for (const how of ["cancelled", "suspended", "convicted"] as const)
  test(`${how} after a kill that lost its id, a message with a key is found and removed`, async (t) => {
    const { on, calls, begin, until } = await growing(t, { keyed: true });
    const agent = agentOf([], [streams(["one", "two"], 60_000)]);
    const deaths = how === "convicted" ? limits.strikesMax : 1;
    const isPlaced = () => calls.filter((one) => one.startsWith("place")).length;
    for (let death = 0; death < deaths; death++) {
      const living = await begin({ agent, store: forgetful(on) });
      if (death === 0) await on.say("go");
      await on.until(() => isPlaced() > death, "it is placed");
      await on.pass(50);
      living.life.kill();
    }
    const recovery = { afterCrash: how === "suspended" ? "suspend" : "resume", autoResume: false } as const;
    const { gateway } = await begin({ agent, recovery });
    const [turn] = await turnsOf(on);
    assert.ok(turn);
    if (how === "cancelled") void gateway.cancel(turn.id);
    await until("remove d1");
    await on.pass(60_000);
    assert.ok(!calls.some((one) => one.includes("d2")), calls.join(", "));
    await noFacts(on);
  });

test("an answer that cannot wait for a lost message goes out by itself, and the message is removed", async (t) => {
  let isFirst = true;
  const answers = (call: string): SendResult | null => {
    if (!call.startsWith("place") || !isFirst) return null;
    isFirst = false;
    return { type: "unknown", why: "reset" };
  };
  const { on, calls, begin, until } = await growing(t, { keyed: true, answers });
  await begin({ agent: agentOf([], [streams(["one"], 50)]) });
  await on.say("go");
  await until("remove d1");
  assert.deepEqual(
    calls.filter((one) => !one.startsWith("send")),
    ["place a (unknown)", "place a again", "remove d1"],
  );
  assert.ok(calls.includes("send one"));
});
