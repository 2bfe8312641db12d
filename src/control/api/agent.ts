// What an agent wants of its owner and costs them: open questions and approvals, the rules that "always" has made, usage.

import { fateOf, turnOfQuestion } from "../../core/asked/late.ts";
import { Fault } from "../../core/fault.ts";
import type { Instant, SessionId } from "../../core/ids.ts";
import { limits } from "../../core/limits.ts";
import { dayOf } from "../../core/usage.ts";
import { BadRequest } from "../faults.ts";
import type { AnswerReply, DoneReply, FateReply, QuestionsReply, RulesReply, UsageReply } from "../protocol.ts";
import { toQuestion, toUsed } from "./used.ts";
import { fieldsOf, limitOf, wholeOf } from "./input.ts";
import { type ApiRoute, json, smallBody, textBody } from "./route.ts";

const read = { method: "GET", role: "owner", body: "none" } as const;
const order = { method: "POST", role: "owner", body: smallBody } as const;

const dayMs = 24 * 3_600_000;
const daysMax = 10_000;

export const agentRoutes: readonly ApiRoute[] = [
  {
    ...read,
    path: "/api/questions",
    async handle({ query }, { archive }) {
      const asked = await archive.asked(limitOf(query.get("limit"), 50));
      return json({ questions: asked.map(toQuestion) } satisfies QuestionsReply);
    },
  },
  {
    ...read,
    path: "/api/questions/:id",
    async handle({ params }, { store, archive }) {
      const id = params["id"] ?? "";
      const owner = turnOfQuestion(id);
      const turn = owner === null ? null : await store.turn(owner);
      const fate = fateOf(id, turn, turn === null ? [] : await archive.entries(turn.id));
      if (fate.type === "gone")
        throw new Fault("not-found", `There is no question ${id}; \`everturn approvals\` lists what waits.`);
      return json({ id, fate } satisfies FateReply);
    },
  },
  {
    ...order,
    path: "/api/questions/:id/answer",
    body: textBody,
    async handle({ params, body }, { gateway }) {
      const choice = choiceIn(body);
      return json({ status: await gateway.answer(params["id"] ?? "", choice) } satisfies AnswerReply);
    },
  },
  {
    ...read,
    path: "/api/rules",
    handle: async (_, { archive }) => json({ rules: await archive.rules() } satisfies RulesReply),
  },
  {
    ...order,
    path: "/api/rules/:id/revoke",
    async handle({ params }, { gateway }) {
      await gateway.revoke(params["id"] ?? "");
      return json({ done: true } satisfies DoneReply);
    },
  },
  {
    ...order,
    path: "/api/rules/:id/general",
    async handle({ params }, { gateway }) {
      await gateway.generalize(params["id"] ?? "");
      return json({ done: true } satisfies DoneReply);
    },
  },
  {
    ...read,
    path: "/api/usage",
    async handle({ query }, { store, archive, now }) {
      const session = query.get("session");
      if (session !== null && (await store.session(session as SessionId)) === null)
        throw new Fault("not-found", `There is no session ${session}; \`everturn sessions list\` shows them.`);
      const days = wholeOf(query.get("days"), "days");
      const lines = await archive.usage({
        ...(session === null ? {} : { session: session as SessionId }),
        // Today is one of the days.
        ...(days === undefined ? {} : { since: dayOf(earlier(now(), days)) }),
      });
      return json({ lines, total: toUsed(lines).total } satisfies UsageReply);
    },
  },
];

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
