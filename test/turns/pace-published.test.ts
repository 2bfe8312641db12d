// 200 chats that stream at once, in virtual time, against the limits that platforms publish and enforce: every answer
// arrives, and at most one request in a hundred is refused.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { SendResult } from "../../src/core/outbox.ts";
import type { AgentJob, Step } from "../../src/ports/agent.ts";
import type { Pace, Platform, Surroundings } from "../../src/ports/platform.ts";
import { matrix } from "../../src/platforms/matrix/index.ts";
import { slack } from "../../src/platforms/slack/index.ts";
import { telegram } from "../../src/platforms/telegram/index.ts";
import { type Limiter, slackLimits, synapseLimits, telegramLimits } from "../fakes/limits.ts";
import { at, stage } from "../stop/stage.ts";
import { agentOf } from "./agents.ts";

const around = {} as Surroundings;
const nowhere = "http://127.0.0.1:1";

function paceOf({ can }: Platform): Pace {
  assert.ok(can.pace !== undefined);
  return can.pace;
}

const platforms: readonly { name: string; pace: Pace; limits: () => Limiter; all?: true }[] = [
  {
    name: "Telegram",
    pace: paceOf(telegram({ token: "1:x", apiRoot: nowhere, streaming: true, receipts: false }, around).platform),
    limits: telegramLimits,
  },
  {
    name: "Slack",
    pace: paceOf(slack({ botToken: "xoxb-1", appToken: "xapp-1-A0X-1-x", apiRoot: nowhere, streaming: true }, around)),
    limits: slackLimits,
  },
  {
    name: "Matrix with a default Synapse",
    pace: paceOf(matrix({ homeserver: nowhere, user: "@b:x", token: "x", streaming: true }, around)),
    limits: synapseLimits,
    all: true,
  },
];

const streams = async (job: AgentJob): Promise<Step> => {
  const end = job.now() + 6_000;
  for (let n = 1; job.now() < end; n++) {
    job.draft("word ".repeat(n));
    await job.pause(200);
  }
  return { type: "said", text: `answer in ${job.address.chat}`, calls: [], final: true };
};

for (const { name, pace, limits, all } of platforms) {
  test(`${name}: 200 chats at once, at most 1 % refused, every answer arrives`, async (t) => {
    const on = await stage(t);
    const limit = limits();
    const answers: string[] = [];
    let requests = 0;
    let refused = 0;
    const take = async (kind: "post" | "edit", chat: string, text: string | null): Promise<SendResult> => {
      requests++;
      const afterMs = limit({ at: on.now(), chat, kind, isGroup: chat.startsWith("-") });
      if (afterMs > 0) {
        refused++;
        return { type: "retry", afterMs, why: "too fast", ...(all === true ? { all } : {}) };
      }
      await new Promise<void>((go) => void on.clock.at(on.clock.now() + 30, go));
      if (text !== null) answers.push(text);
      return { type: "accepted", remoteId: `m-${chat}` };
    };
    const is: Partial<Platform> = {
      can: { keyedSend: true, draftEveryMs: 1_500, previewAfterMs: 300, pace },
      drafts: {
        place: ({ chat }) => take("post", chat, null),
        fill: ({ chat }) => take("edit", chat, null),
        remove: ({ chat }) => take("edit", chat, null),
      },
      send: (item) => take(item.edits === undefined ? "post" : "edit", item.to.chat, item.text),
    };
    await on.start({ platforms: { chat: { is } }, agent: agentOf([], [streams]), lanesMax: 200 });
    const chats = Array.from({ length: 200 }, (_, n) => (n % 4 === 0 ? `-${n}` : `${n}`));
    for (const chat of chats) void on.write("go", { from: at(chat) });
    await on.until(() => answers.length >= 200, "all answers");
    t.diagnostic(`${refused} of ${requests} requests refused, over after ${Math.round(on.now() / 1_000)} s`);
    assert.deepEqual(answers.toSorted(), chats.map((chat) => `answer in ${chat}`).toSorted());
    assert.ok(refused <= requests / 100, `${refused} of ${requests} were refused`);
  });
}

for (const isAll of [false, true]) {
  test(`a penalty of ten minutes is kept, ${isAll ? "by the whole account" : "in its chat"}`, async (t) => {
    const on = await stage(t);
    const penaltyMs = 600_000;
    const sent: { readonly at: number; readonly chat: string }[] = [];
    const is: Partial<Platform> = {
      can: { keyedSend: true, draftEveryMs: null, pace: { perSecond: 25, chatEveryMs: 1_000, chatBurst: 3 } },
      async send({ to: { chat } }) {
        sent.push({ at: on.now(), chat });
        if (sent.length > 1) return { type: "accepted", remoteId: `${sent.length}` };
        return { type: "retry", afterMs: penaltyMs, why: "flood", ...(isAll ? { all: true } : {}) };
      },
    };
    const answer: Step = { type: "said", text: "an answer", calls: [], final: true };
    await on.start({ platforms: { chat: { is } }, agent: agentOf([], [() => answer]) });
    await on.write("go", { from: at("a") });
    await on.until(() => sent.length === 1, "the penalty");
    const from = on.now();
    await on.write("go", { from: at("b") });
    await on.until(() => sent.length >= 3, "both answers");
    const [, ...rest] = sent.toSorted((one, other) => one.at - other.at);
    const during = rest.filter((one) => one.at < from + penaltyMs).map(({ chat }) => chat);
    assert.deepEqual(during, isAll ? [] : ["b"]);
    assert.deepEqual(rest.map(({ chat }) => chat).toSorted(), ["a", "b"]);
  });
}

test("what was sent before the first refusal is no debt: the next answer waits only as long as was asked for", async (t) => {
  const on = await stage(t);
  const before = 600;
  const pauseMs = 2_000;
  const sent: number[] = [];
  const is: Partial<Platform> = {
    can: { keyedSend: true, draftEveryMs: null, pace: { perSecond: 5, chatEveryMs: 500, learns: true } },
    async send() {
      sent.push(on.now());
      if (sent.length !== before) return { type: "accepted", remoteId: `${sent.length}` };
      return { type: "retry", afterMs: pauseMs, why: "too fast", all: true };
    },
  };
  const answer: Step = { type: "said", text: "an answer", calls: [], final: true };
  await on.start({ platforms: { chat: { is } }, agent: agentOf([], [() => answer]), lanesMax: 200 });
  for (let n = 0; n < before; n++) await on.write("go", { from: at(`${n}`) });
  await on.until(() => sent.length > before, "the refused answer comes again");
  const waited = (sent[before] ?? 0) - (sent[before - 1] ?? 0);
  assert.ok(waited >= pauseMs && waited < 5 * pauseMs, `it waited ${waited} ms`);
});
