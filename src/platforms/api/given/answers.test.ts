// An answer that stands far behind its message, because much was said between: it is found whenever one looks, nothing is
// called the answer before all was read, and looking again costs what is new.

import assert from "node:assert/strict";
import { type TestContext, describe, test } from "node:test";
import type { Change } from "../../../core/change.ts";
import type { Instant, SessionId, TurnId } from "../../../core/ids.ts";
import type { NewMessage } from "../../../core/message.ts";
import { newSession } from "../../../core/session.ts";
import { type Turn, advanceTurn, asNew, newTurn } from "../../../core/turn.ts";
import { memory, openSqliteStore } from "../../../stores/sqlite/index.ts";
import { aBoot, bootId } from "../../../testing/samples.ts";
import { apiLimits } from "../api.ts";
import { addressOf, inboundKey, toInbound } from "../inbound.ts";
import { type Step, answers } from "./answers.ts";
import { rooms } from "./rooms.ts";

const boot = bootId("b1");
const at = (n: number) => n as Instant;
const place = addressOf("app", "crowd");
const session = newSession("s1" as SessionId, place, boot, at(1));
const own = "own" as TurnId;
const key = inboundKey("app", "id");

/** One message that waits for its answer, in a conversation where others speak. */
async function conversation(t: TestContext) {
  const store = await openSqliteStore({ file: memory, writer: "inline" });
  await store.openBoot(aBoot("b1"));
  t.after(() => store.close());
  const commit = (changes: readonly Change[]) => store.commit(changes, boot);
  const inbound = toInbound("app", "id", place, { text: "hi", files: [], print: "p" }, at(1));
  const turn = asNew(advanceTurn(newTurn(own, session.id, inbound, at(1)), { type: "claimed", boot, at: at(1) }));

  const line = (name: string, more: Partial<NewMessage>): Change => ({
    put: "message",
    message: { key: name, session: session.id, turn: null, role: "assistant", text: name, at: at(2), ...more },
  });
  let spoken = 0;
  const others = (count: number): readonly Change[] =>
    Array.from({ length: count }, () => line(`other ${spoken++}`, { role: spoken % 2 === 0 ? "user" : "assistant" }));

  await commit([
    { put: "session", session },
    { put: "inbox", platform: "api", account: place.account, key, turn: own, at: at(1) },
    line(key, { role: "user", turn: own }),
    { put: "turn", turn },
  ]);

  let read = 0;
  const counted = async <T>(lines: Promise<readonly T[]>): Promise<readonly T[]> => {
    read += (await lines).length;
    return lines;
  };
  const archive = {
    entries: store.entries,
    sessions: store.sessions,
    messagesAfter: (...given: Parameters<typeof store.messagesAfter>) => counted(store.messagesAfter(...given)),
    messagesBefore: (...given: Parameters<typeof store.messagesBefore>) => counted(store.messagesBefore(...given)),
  };
  const open = rooms(apiLimits.pingMs);
  const asked = () => {
    const answer = answers(
      { archive, store, troubleOf: () => null },
      open,
      { now: () => at(3) },
      { key, at: place, deadline: 1e9 },
    );
    t.after(() => answer.leave());
    return answer;
  };
  return { commit, line, others, turn, open, asked, read: () => read };
}

function ended(turn: Turn, outcome: "replied" | "joined"): Change {
  return { put: "turn", turn: advanceTurn(turn, { type: "ended", outcome, at: at(2) }) };
}

const textOf = (step: Step | null) => (step?.type === "done" ? step.text : assert.fail(`it is ${step?.type}`));

const far = 2 * apiLimits.pageMax;

describe("an answer behind many lines", () => {
  for (const between of [0, apiLimits.pageMax - 1, apiLimits.pageMax, far, far + 1, 10 * apiLimits.pageMax]) {
    test(`is found behind ${between}, when it was there before one asked`, async (t) => {
      const { commit, line, others, turn, asked } = await conversation(t);
      await commit(others(between));
      await commit([line("own 1", { turn: own }), ...others(between)]);
      await commit([line("own 2", { turn: own }), ended(turn, "replied"), ...others(between)]);
      assert.equal(textOf(await asked().next()), "own 1\n\nown 2");
    });

    test(`is found behind ${between}, when they come while one waits`, async (t) => {
      const { commit, line, others, turn, open, asked } = await conversation(t);
      const next = asked().next();
      await commit(others(between));
      open.wake(place);
      await commit([...others(between), line("own 1", { turn: own }), ended(turn, "replied")]);
      open.wake(place);
      assert.equal(textOf(await next), "own 1");
    });
  }

  test("is the first that was said after it, when another turn took the message in", async (t) => {
    const { commit, line, others, turn, open, asked } = await conversation(t);
    const users = Array.from({ length: far }, (_, n) => line(`user ${n}`, { role: "user" }));
    await commit([...users, ended(turn, "joined")]);
    const next = asked().next();
    open.wake(place);
    await commit([line("for both", { turn: "t2" as TurnId }), ...others(far)]);
    open.wake(place);
    assert.equal(textOf(await next), "for both");
    assert.equal(textOf(await asked().next()), "for both");
  });

  test("is a question, whatever was said far behind it", async (t) => {
    const { commit, line, others, turn, asked } = await conversation(t);
    const question = { id: "q", choices: [] };
    await commit([...others(far), line("Which?", { turn: own, question }), ...others(far)]);
    assert.equal(textOf(await asked().next()), "Which?");
    await commit([line("Here.", { turn: own }), ended(turn, "replied")]);
    assert.equal(textOf(await asked().next()), "Which?");
  });

  test("is looked for without reading anything twice", async (t) => {
    const { commit, line, others, turn, open, asked, read } = await conversation(t);
    await commit(others(far));
    const answer = asked();
    const looks = 50;
    for (let n = 0; n < looks; n++) {
      open.draft(place, `draft ${n}`);
      assert.deepEqual(await answer.next(), { type: "draft", text: `draft ${n}` });
    }
    await commit([line("own 1", { turn: own }), ended(turn, "replied")]);
    assert.equal(textOf(await answer.next()), "own 1");
    assert.equal(read(), 1 + far + 1);
  });
});
