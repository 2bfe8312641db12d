// Chaos itself: what the judge finds, and that it finds what goes wrong with a real gateway between two people.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Client, client } from "../process/client.ts";
import { type Far, type Said, chaos, judge } from "./chaos.ts";

const said: readonly Said[] = ["a", "b", "c"].map((text) => ({ text, answer: `You said: ${text}` }));

describe("the judge", () => {
  const cases = [
    { name: "all is well", seen: ["a", "b", "c"] },
    { name: "one is lost", seen: ["a", "c"], lost: ["chat: b"] },
    { name: "one is doubled", seen: ["a", "b", "b", "c"], doubled: ["chat: b"] },
    { name: "two are reordered", seen: ["b", "a", "c"], reordered: ["chat: b"] },
    { name: "nothing is seen", seen: [], lost: ["chat: a", "chat: b", "chat: c"] },
  ];
  for (const { name, seen, lost = [], doubled = [], reordered = [] } of cases) {
    test(name, () => {
      const found = judge(
        "chat",
        said,
        seen.map((text) => `You said: ${text}`),
      );
      assert.deepEqual(found, { lost, doubled, reordered, givenUp: [] });
    });
  }

  test("one that was given up is not lost", () => {
    const found = judge("chat", said, ["You said: a", "I had to give this up", "You said: c"]);
    assert.deepEqual(found, { lost: [], doubled: [], reordered: [], givenUp: ["chat: b"] });
  });
});

/** The gateway's own chat as a far side: whoever writes tries again until it is taken. */
function ownChat(): Far {
  let ask: Client | null = null;
  let count = 0;
  const waiting: (() => void)[] = [];
  return {
    config: "agent: { backend: echo }\n",
    up(gateway) {
      ask = client(gateway);
      for (const go of waiting.splice(0)) go();
    },
    async say(chat, text) {
      const id = `m${count++}`;
      for (;;) {
        const answer = await ask?.post(chat, id, { text }).catch(() => null);
        if (answer?.status === 200) return;
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
    async seen(chat) {
      const messages = (await ask?.transcript(chat)) ?? [];
      return messages.filter(({ role }) => role === "assistant").map(({ text }) => text);
    },
  };
}

const small = { chats: ["c1", "c2", "c3"], messages: 30, kills: 4 };

test("under kills, nothing is lost, doubled or reordered", async (t) => {
  const { lost, doubled, reordered, kills } = await chaos(t, ownChat(), { ...small, slowly: true });
  assert.deepEqual({ lost, doubled, reordered }, { lost: [], doubled: [], reordered: [] });
  assert.ok(kills >= 4);
});

test("a far side that shows an answer twice, and two in another order, is found", async (t) => {
  const far = ownChat();
  const planted: Far = {
    ...far,
    async seen(chat) {
      const [first = "", ...rest] = await far.seen(chat);
      return chat === "c1" ? [first, first, ...rest] : chat === "c2" ? [...rest, first] : [first, ...rest];
    },
  };
  const { lost, doubled, reordered } = await chaos(t, planted, small);
  assert.deepEqual([lost, doubled.length], [[], 1]);
  assert.ok(reordered.length > 0);
});

test("a far side that loses a message is found", async (t) => {
  const far = ownChat();
  let count = 0;
  const planted: Far = { ...far, say: (chat, text) => (++count === 7 ? undefined : far.say(chat, text)) };
  const { lost, doubled } = await chaos(t, planted, { ...small, kills: 1, patienceMs: 10_000 });
  assert.deepEqual([lost.length, doubled], [1, []]);
});
