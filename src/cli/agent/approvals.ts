// `everturn approvals`: what waits for its owner's word, how it is given, and the rules that "always" has made.

import type {
  AnswerReply,
  AnswerRequest,
  DoneReply,
  QuestionView,
  QuestionsReply,
  RulesReply,
} from "../../control/protocol.ts";
import type { Client } from "../../control/client.ts";
import type { ApprovalChoice } from "../../core/approval.ts";
import { visible, visibleLine } from "../../core/asked/visible.ts";
import { Fault } from "../../core/fault.ts";
import { isRuleInEffect } from "../../core/terminal-rules.ts";
import { type Context, queryOf, reachGateway, show } from "../context.ts";
import { oneLine, paint, table, when } from "../print.ts";
import { pick } from "./pick.ts";

export async function list(context: Context): Promise<number> {
  const reply = await reachGateway(context).get<QuestionsReply>(`/api/questions${queryOf(context, ["limit"])}`);
  return show(context, reply, ({ questions }) => {
    if (questions.length === 0) return "Nothing waits for an answer.";
    return questions.map((one) => questionText(context, one)).join("\n\n");
  });
}

export async function approve(context: Context): Promise<number> {
  const always = context.flags["always"] === true;
  return answer(context, always ? "always" : "approve", "");
}

export async function deny(context: Context): Promise<number> {
  return answer(context, "deny", context.given.slice(1).join(" ").trim());
}

export async function rules(context: Context): Promise<number> {
  const reply = await reachGateway(context).get<RulesReply>("/api/rules");
  return show(context, reply, (found) => {
    if (found.rules.length === 0) return "There are no rules: whatever needs an approval is asked each time.";
    const rows = found.rules.map((one) => [
      one.id,
      one.tool,
      one.held === true || !isRuleInEffect(one) ? "made before 0.5.0, asked again" : "in effect",
      oneLine(one.scope),
      oneLine(one.by),
      when(one.at, context.now()),
      visibleLine(one.subject),
    ]);
    return table(["RULE", "TOOL", "STATE", "WHERE", "ALLOWED BY", "WHEN", "ALLOWED"], rows, context.output);
  });
}

export async function general(context: Context): Promise<number> {
  const { id, what, client } = await ruleNamed(context);
  const reply = await client.post<DoneReply>(`/api/rules/${encodeURIComponent(id)}/general`);
  return show(context, { ...reply, rule: id }, () => `${what} is allowed in every conversation from now on.`);
}

/** By its id, or the beginning or end of it. One that is not known is left to the gateway to refuse. */
async function ruleNamed(context: Context) {
  const client = reachGateway(context);
  const { rules: known } = await client.get<RulesReply>("/api/rules");
  const rule = pick(context.given[0] ?? "", known, "rule");
  const id = rule?.id ?? context.given[0] ?? "";
  return { client, id, what: rule === null ? `Rule ${id}` : `"${visibleLine(rule.subject)}" (${rule.tool})` };
}

export async function revoke(context: Context): Promise<number> {
  const { id, what, client } = await ruleNamed(context);
  const reply = await client.post<DoneReply>(`/api/rules/${encodeURIComponent(id)}/revoke`);
  return show(context, { ...reply, rule: id }, () => `${what} is no longer allowed without asking.`);
}

async function answer(context: Context, choice: ApprovalChoice, words: string): Promise<number> {
  const client = reachGateway(context);
  const given = context.given[0] ?? "";
  const found = pick(given, await openOnes(client), "approval");
  if (found?.kind === "question")
    throw new Fault("not-possible", `${found.id} is a question, not an approval. Answer it in ${found.address}.`);
  if (choice === "always" && found?.choices.includes("always") === false)
    throw new Fault(
      "not-possible",
      `${found.id} cannot be allowed for good, so nothing was decided. Leave --always out.`,
    );
  // Of one that is no longer open the gateway knows what became of it.
  const id = found?.id ?? given;
  const body: AnswerRequest = { choice: words === "" ? choice : `${choice}: ${words}` };
  const { status } = await client.post<AnswerReply>(`/api/questions/${encodeURIComponent(id)}/answer`, body);
  return show(context, { status, question: id, choice: body.choice }, () =>
    status === "already" ? `It was answered so before; nothing changed.` : said[choice],
  );
}

const said: Readonly<Record<ApprovalChoice, string>> = {
  approve: "Approved, this once. The turn goes on.",
  always:
    "Approved, and from now on without asking in that conversation; `everturn approvals rules` lists what is. The turn goes on.",
  deny: "Denied. The turn goes on without it.",
};

async function openOnes(client: Client): Promise<readonly QuestionView[]> {
  return (await client.get<QuestionsReply>("/api/questions?limit=1000")).questions;
}

function questionText(context: Context, one: QuestionView): string {
  const { output } = context;
  const facts = `${one.kind} at ${one.address}, until ${when(one.until, context.now())}`;
  const choices = one.choices.length === 0 ? "" : `\n  [${one.choices.map(visibleLine).join(" | ")}]`;
  const text = visible(one.text).replaceAll(/^/gm, "  ");
  return `${paint(output, "bold", one.id)}  ${paint(output, "dim", facts)}\n${text}${choices}`;
}
