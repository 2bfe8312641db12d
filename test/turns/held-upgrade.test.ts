// A store as 0.4.0 left it, with answers that it held: each conversation reads one notice, nothing is sent by itself, and
// /resend sends them in order.

import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { heldNotice } from "../../src/core/held.ts";
import { textOf } from "../../src/core/message.ts";
import type { Step } from "../../src/ports/agent.ts";
import { applicationId, migrations } from "../../src/stores/sqlite/schema.ts";
import { at, stage } from "../stop/stage.ts";
import { agentOf, seen } from "./agents.ts";

/** The schema of 0.4.0. */
const schema = 5;
const echo = agentOf([], [(job): Step => ({ type: "said", text: textOf(job.input.body), calls: [], final: true })]);

/** Two answers are held in one chat, the second with two parts; one in another; then `others` in further chats. */
function writeStore(file: string, others = 0): void {
  const db = new DatabaseSync(file);
  const sql = migrations.flatMap((one) => (one.version <= schema ? [one.sql] : []));
  db.exec(`PRAGMA journal_mode = WAL; ${sql.join(";")}`);
  db.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${schema}`);
  const facts = JSON.stringify({ pid: 1, host: "h", machine: "m", version: "0.4.0" });
  db.prepare("INSERT INTO boots(id, live, started_at, beat_at, stop, facts) VALUES ('old', 0, 5, 9, ?, ?)").run(
    JSON.stringify({ class: "planned", by: "signal", reason: "", at: 9, clean: true }),
    facts,
  );
  const session = db.prepare(
    "INSERT OR IGNORE INTO sessions(id, key, platform, owner, fence, created_at, active_at, address) VALUES (?, ?, 'chat', 'old', 1, 5, 6, ?)",
  );
  const item = db.prepare(
    "INSERT INTO items(id, session, turn, part, state, version, created_at, now, body) VALUES (?, ?, ?, ?, 'in-doubt', 8, 6, ?, ?)",
  );
  const now = JSON.stringify({ state: "in-doubt", since: 7, attempts: 3, doubts: 3, why: "ECONNRESET" });
  for (const [chat, replies] of [
    ["a", ["one", "two"]],
    ["b", ["three"]],
    ...Array.from({ length: others }, (_, n) => [`other${n % 10}`, [`other${n}`]] as const),
  ] as const) {
    session.run(`s-${chat}`, `chat/bot/${chat}`, JSON.stringify(at(chat)));
    for (const reply of replies)
      for (const part of reply === "two" ? [0, 1] : [0])
        item.run(
          `t-${reply}.${part}`,
          `s-${chat}`,
          `t-${reply}`,
          part,
          now,
          JSON.stringify({ to: at(chat), text: `${reply} ${part}`, files: [] }),
        );
  }
  db.close();
}

test("answers that 0.4.0 held are announced once in each chat, not sent by themselves, and sent on /resend", async (t) => {
  const on = await stage(t, (file) => writeStore(file));
  const is = { can: { keyedSend: false, draftEveryMs: null } };
  const options = { agent: echo, platforms: { chat: { is } } };
  const textsIn = (chat: string) => seen(on).flatMap(({ to, text }) => (to.chat === chat ? [text] : []));
  const first = await on.start(options);
  await on.pass(60_000);
  first.life.kill();
  await on.start(options);
  await on.say("hello", { from: at("a") });
  await on.pass(600_000);
  assert.deepEqual([textsIn("a"), textsIn("b")], [[heldNotice, "hello"], [heldNotice]]);
  await on.say("/resend", { from: at("a") });
  await on.until(() => textsIn("a").length === 6, "what was held");
  assert.deepEqual(textsIn("a").slice(2), ["I am sending it again.", "one 0", "two 0", "two 1"]);
  assert.deepEqual(textsIn("b"), [heldNotice], "the other chat is left alone");
});

test("a chat finds what it holds behind more than a thousand held answers of other chats", async (t) => {
  const on = await stage(t, (file) => writeStore(file, 1_100));
  const is = { can: { keyedSend: false, draftEveryMs: null } };
  const options = { agent: echo, platforms: { chat: { is } } };
  const textsIn = (chat: string) => seen(on).flatMap(({ to, text }) => (to.chat === chat ? [text] : []));
  await on.start(options);
  await on.until(() => textsIn("a").length === 1, "the notice");
  await on.say("/resend", { from: at("a") });
  await on.until(() => textsIn("a").length === 5, "what was held");
  assert.deepEqual(textsIn("a"), [heldNotice, "I am sending it again.", "one 0", "two 0", "two 1"]);
});
