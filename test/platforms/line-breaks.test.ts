// A real gateway with IRC and SMTP while connections fail, in each way and at each moment of a send, with and without a kill:
// everything arrives by itself, in order, and what was confirmed is never repeated. With servers in memory and real ones.
// For longer breaks see `npm run chaos:breaks`.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { patienceMs } from "../process/stage.ts";
import { whyMissing } from "./line-break-sides.ts";
import { type LineBreakPlan, runLineBreak } from "./line-breaks.ts";

const breakMs = 3_000;
const kill = true;

/** Each fault and each moment, over servers in memory and real ones; `npm run chaos:breaks` combines all of them. */
const plans: readonly (Omit<LineBreakPlan, "breakMs" | "kill"> & { readonly kill?: true })[] = [
  { side: "smtp", fault: "half-open", moment: "at the final dot", kill },
  { side: "postfix", fault: "reset after delivery", moment: "at the final dot" },
  { side: "postfix", fault: "reset before delivery", moment: "in the mail", kill },
  { side: "ngircd", fault: "reset after delivery", moment: "at the eighth line", kill },
  { side: "ngircd", fault: "half-open", moment: "at the first line" },
  { side: "irc", fault: "half-open", moment: "at the eighth line" },
  { side: "irc", fault: "reset before delivery", moment: "at the eighth line" },
  { side: "irc", fault: "reset after delivery", moment: "behind the last line", kill },
  { side: "irc", fault: "stall before delivery", moment: "at the first line" },
  { side: "irc", fault: "stall in the answer", moment: "at the eighth line", kill },
  { side: "irc", fault: "server refuses", moment: "at the eighth line" },
  { side: "irc", fault: "connection refused", moment: "before the first line", kill },
  { side: "irc", fault: "untrusted certificate", moment: "before the first line" },
  { side: "irc", fault: "name not found", moment: "before the first line", kill },
  { side: "irc-echo", fault: "reset after delivery", moment: "at the eighth line" },
  { side: "smtp", fault: "reset before delivery", moment: "at the greeting", kill },
  { side: "smtp", fault: "reset after delivery", moment: "at MAIL" },
  { side: "smtp", fault: "reset after delivery", moment: "at RCPT" },
  { side: "smtp", fault: "reset after delivery", moment: "at DATA", kill },
  { side: "smtp", fault: "reset before delivery", moment: "in the mail" },
  { side: "smtp", fault: "reset after delivery", moment: "at the final dot" },
  { side: "smtp", fault: "stall in the answer", moment: "at the final dot", kill },
  { side: "smtp", fault: "server refuses", moment: "at RCPT" },
  { side: "smtp", fault: "server refuses", moment: "at the final dot", kill },
  { side: "smtp", fault: "no TLS", moment: "at the greeting" },
  { side: "smtp", fault: "name server silent", moment: "at the greeting" },
];

/** These mostly wait, so many of them run at the same time. */
describe("a break of a connection of lines", { concurrency: 8, timeout: 20 * patienceMs }, () => {
  for (const plan of plans) {
    const name = `${plan.side}: ${plan.fault} ${plan.moment}${plan.kill === true ? ", and a kill" : ""}`;
    test(name, { skip: whyMissing(plan.side), timeout: 10 * patienceMs }, async (t) => {
      const { sent, copies, ...wrong } = await runLineBreak(t, { kill: false, ...plan, breakMs });
      assert.deepEqual(wrong, { lost: [], reordered: [], unexplained: [], held: [] });
      t.diagnostic(`${sent} sent, ${copies.length} copies`);
    });
  }
});
