import assert from "node:assert/strict";
import { test } from "node:test";
import type { Fetched, Posted } from "../net/client.ts";
import { type Stranger, people, readStrangers } from "./people.ts";

const eve: Stranger = { id: "p1", platform: "telegram", sender: "7", name: "Eve", expiresAt: 9 };

test("whatever the gateway lists becomes strangers or nothing", () => {
  const raw = { id: "p1", platform: "telegram", sender: "7", name: "Eve", expiresAt: 9, more: 1 };
  assert.deepEqual(readStrangers({ waiting: [raw], paired: [] }), [eve]);
  assert.deepEqual(readStrangers({ waiting: [{ ...raw, name: null }] }), [{ ...eve, name: "7" }]);
  assert.deepEqual(readStrangers({ waiting: [{ ...raw, name: "  " }] }), [{ ...eve, name: "7" }]);
  assert.deepEqual(readStrangers({ waiting: [null, 1, {}, { ...raw, sender: 7 }] }), []);
  for (const wrong of [null, 1, [], {}, { waiting: {} }]) assert.equal(readStrangers(wrong), null);
});

test("a press decides once; what became of it is asked for, and trouble is told", async () => {
  const decided: string[] = [];
  let waiting: readonly Stranger[] = [eve];
  let answer: Posted = { type: "stored" };
  const on = people({
    pairings: async (): Promise<Fetched<readonly Stranger[]>> => ({ type: "got", value: waiting }),
    async decidePairing(id, choice) {
      decided.push(`${choice} ${id}`);
      if (answer.type === "stored") waiting = [];
      return answer;
    },
  });
  await on.look();
  assert.deepEqual(on.waiting.value, [eve]);
  answer = { type: "refused", reason: "There is no open request p1." };
  await on.decide("p1", "deny");
  assert.equal(on.trouble.value, "There is no open request p1.");
  answer = { type: "later", afterMs: null };
  await on.decide("p1", "deny");
  assert.match(on.trouble.value, /did not answer/);
  answer = { type: "stored" };
  const pressing = on.decide("p1", "approve");
  assert.deepEqual([...on.pressed.value], ["p1"]);
  await on.decide("p1", "deny");
  await pressing;
  assert.deepEqual(decided, ["deny p1", "deny p1", "approve p1"]);
  assert.deepEqual([on.waiting.value, on.trouble.value, on.pressed.value.size], [[], "", 0]);
});

test("while the gateway is away, who was seen to wait still does", async () => {
  const answers: Fetched<readonly Stranger[]>[] = [{ type: "got", value: [eve] }, { type: "later" }];
  const on = people({
    pairings: async () => answers.shift() ?? { type: "later" },
    decidePairing: async () => ({ type: "stored" }),
  });
  await on.look();
  await on.look();
  assert.deepEqual(on.waiting.value, [eve]);
});
