// `npm run sim -- --seeds 10000 [--from 1]`: random stories over the real engine and a real SQLite in memory. A failure
// prints its seed and what was broken; the same seed tells the same story again.

import { parseArgs } from "node:util";
import { broken } from "../src/sim/invariants.ts";
import { invent } from "../src/sim/stories.ts";
import { tell } from "../src/sim/story.ts";
import { openSqliteStore } from "../src/stores/sqlite/index.ts";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "1000" },
    from: { type: "string", default: "1" },
    log: { type: "boolean" },
  },
});
const [from, count] = [Number(values.from), Number(values.seeds)];
if (!Number.isInteger(from) || !Number.isInteger(count) || count < 1) {
  console.error("usage: npm run sim -- --seeds <number> [--from <seed>] [--log]");
  process.exit(64);
}

const total = { failed: 0, commits: 0, lives: 0, ends: 0, held: 0, resends: 0, messages: 0, virtualMs: 0 };
const startedAt = performance.now();
for (let seed = from; seed < from + count; seed++) {
  const told = await tell(invent(seed), () => openSqliteStore({ file: ":memory:", writer: "inline" }));
  const wrong = await broken(told);
  total.commits += told.commits;
  total.lives += told.lives;
  total.ends += told.ends;
  total.held += told.held.count;
  total.resends += told.held.resends;
  total.messages += told.story.said.length;
  total.virtualMs += told.endedAt;
  if (wrong.length > 0) {
    total.failed++;
    console.log(`seed ${seed}: ${wrong.join("\n  ")}`);
    if (values.log)
      for (const line of told.log)
        console.log(`  life ${line.life} ${line.level}: ${line.what} ${JSON.stringify(line.facts)}`);
    if (total.failed >= 10) break;
  }
  await told.store.close();
  if ((seed - from + 1) % 1_000 === 0) console.log(`${seed - from + 1} of ${count} stories`);
}
const seconds = (performance.now() - startedAt) / 1_000;
console.log(
  `${count} stories, ${total.messages} messages, ${total.commits} commits, ${total.lives} lives, ${total.ends} sudden ends, ` +
    `${total.held} held items, ${total.resends} resends, ` +
    `${Math.round(total.virtualMs / 3_600_000)} virtual hours in ${seconds.toFixed(1)} s; ${total.failed} broken`,
);
process.exit(total.failed === 0 ? 0 : 1);
