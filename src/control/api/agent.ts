// What an agent wants of its owner and costs them: open questions and approvals, the rules that "always" has made, usage.

import type { Hono } from "hono/tiny";
import { fateOf, turnOfQuestion } from "../../core/asked/late.ts";
import { Fault } from "../../core/fault.ts";
import type { Instant, SessionId } from "../../core/ids.ts";
import { limits } from "../../core/limits.ts";
import { dayOf } from "../../core/usage.ts";
import { BadRequest } from "../faults.ts";
import type { AnswerReply, DoneReply, FateReply, QuestionsReply, RulesReply, UsageReply } from "../protocol.ts";
import { toQuestion, toUsed } from "./used.ts";
import type { ApiParts } from "./index.ts";
import { fieldsOf, limitOf, wholeOf } from "./input.ts";

const dayMs = 24 * 3_600_000;
const daysMax = 10_000;

export function addAgent(app: Hono, { gateway, store, archive, now }: ApiParts): void {
  app.get("/questions", async (c) => {
    const asked = await archive.asked(limitOf(c.req.query("limit"), 50));
    return c.json({ questions: asked.map(toQuestion) } satisfies QuestionsReply);
  });
  app.get("/questions/:id", async (c) => {
    const id = c.req.param("id");
    const owner = turnOfQuestion(id);
    const turn = owner === null ? null : await store.turn(owner);
    const fate = fateOf(id, turn, turn === null ? [] : await archive.entries(turn.id));
    if (fate.type === "gone")
      throw new Fault("not-found", `There is no question ${id}; \`everturn approvals\` lists what waits.`);
    return c.json({ id, fate } satisfies FateReply);
  });
  app.post("/questions/:id/answer", async (c) => {
    const choice = choiceIn(await c.req.text());
    return c.json({ status: await gateway.answer(c.req.param("id"), choice) } satisfies AnswerReply);
  });
  app.get("/rules", async (c) => c.json({ rules: await archive.rules() } satisfies RulesReply));
  app.post("/rules/:id/revoke", async (c) => {
    await gateway.revoke(c.req.param("id"));
    return c.json({ done: true } satisfies DoneReply);
  });
  app.post("/rules/:id/general", async (c) => {
    await gateway.generalize(c.req.param("id"));
    return c.json({ done: true } satisfies DoneReply);
  });
  app.get("/usage", async (c) => {
    const session = c.req.query("session");
    if (session !== undefined && (await store.session(session as SessionId)) === null)
      throw new Fault("not-found", `There is no session ${session}; \`everturn sessions list\` shows them.`);
    const days = wholeOf(c.req.query("days"), "days");
    const lines = await archive.usage({
      ...(session === undefined ? {} : { session: session as SessionId }),
      // Today is one of the days.
      ...(days === undefined ? {} : { since: dayOf(earlier(now(), days)) }),
    });
    return c.json({ lines, total: toUsed(lines).total } satisfies UsageReply);
  });
}

function earlier(now: number, days: number): Instant {
  return (now - dayMs * (Math.min(Math.max(days, 1), daysMax) - 1)) as Instant;
}

function choiceIn(body: string): string {
  const { choice } = fieldsOf(body);
  if (typeof choice !== "string" || choice.trim() === "")
    throw new BadRequest("Give `choice` as a string: one of the question's choices, or words of your own.");
  if (choice.length > limits.textMax)
    throw new Fault("too-large", `The answer is longer than ${limits.textMax} characters.`);
  return choice.toWellFormed();
}
