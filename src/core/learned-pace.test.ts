import assert from "node:assert/strict";
import { test } from "node:test";
import type { Instant } from "./ids.ts";
import { type Learning, nothingLearned, study } from "./learned-pace.ts";
import type { SendResult } from "./outbox.ts";

const at = (ms: number) => ms as Instant;
const accepted: SendResult = { type: "accepted", remoteId: "1" };
const refused = (afterMs: number, more: { readonly all?: true } = { all: true }): SendResult => ({
  type: "retry",
  afterMs,
  why: "slower",
  ...more,
});

function after(count: number, before: Learning = nothingLearned, from = 1_000): Learning {
  let learning = before;
  for (let n = 0; n < count; n++) learning = study(learning, accepted, at(from + n), false);
  return learning;
}

const burst = after(10);
const learned = study(burst, refused(5_000), at(1_009), false);

const rows: readonly (readonly [string, Learning, Learning["pace"]])[] = [
  ["nothing while all is accepted", burst, null],
  ["the pause is the time of one request, with a margin", learned, { everyMs: 6_000, burst: 5 }],
  [
    "a refusal in spite of that slows down",
    study(learned, refused(100), at(1_509), false),
    { everyMs: 7_200, burst: 2 },
  ],
  [
    "a longer pause than was learned counts",
    study(learned, refused(9_000), at(1_009), false),
    { everyMs: 10_800, burst: 2 },
  ],
  [
    "the time since the last accepted one counts",
    study(burst, refused(1_000), at(5_009), false),
    { everyMs: 6_000, burst: 5 },
  ],
  ["unless it is long ago", study(burst, refused(1_000), at(61_000), false), { everyMs: 1_200, burst: 5 }],
  ["refusals during the pause teach nothing", study(learned, refused(4_900), at(2_010), true), learned.pace],
  ["a penalty of minutes is no rate", study(burst, refused(600_000), at(2_000), false), null],
  ["a refusal in one chat teaches nothing about the account", study(burst, refused(5_000, {}), at(2_000), false), null],
  ["an outage teaches nothing", study(burst, { type: "unknown", why: "" }, at(2_000), false), null],
  [
    "a burst begins anew after a quiet time",
    study(after(4, burst, 90_000), refused(5_000), at(90_003), false),
    { everyMs: 6_000, burst: 2 },
  ],
  [
    "never slower than the limit",
    study({ ...learned, pace: { everyMs: 29_000, burst: 1 } }, refused(1_000), at(9_000), false),
    { everyMs: 30_000, burst: 1 },
  ],
  ["a little more is tried after 200", after(200, learned), { everyMs: 5_000, burst: 6 }],
  ["not before", after(199, learned), learned.pace],
  ["a limit that is met nowhere is forgotten", after(200, { ...learned, pace: { everyMs: 55, burst: 20 } }), null],
];
for (const [name, { pace }, expected] of rows) test(`learning a rate: ${name}`, () => assert.deepEqual(pace, expected));
