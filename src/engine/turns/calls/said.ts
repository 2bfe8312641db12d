// What was said and looked up in a conversation so far, for a tool that asks whether its user named something. Read only
// when it is asked for, and never further back than the limits say.

import { readDecision } from "../../../core/asked/asking.ts";
import type { Entry, ToolCall } from "../../../core/journal.ts";
import { type Inbound, bringsOutside, textOf } from "../../../core/message.ts";
import type { EarlierCall, EarlierTalk } from "../../../ports/tool.ts";
import type { Parts } from "../../parts.ts";
import type { Running } from "../run.ts";

/** Messages of the conversation and turns with their calls that are looked at. */
const messagesMax = 100;
const turnsMax = 10;

export async function earlierTalk(
  { archive, store }: Pick<Parts, "archive" | "store">,
  { session, turn }: Pick<Running, "session" | "turn">,
  tool: string,
  journal: readonly Entry[],
): Promise<EarlierTalk> {
  const messages = await archive.history(session.id, messagesMax);
  const spoken = messages.flatMap(({ role, text, outside, carries }) =>
    role === "user" && outside !== true && carries !== true ? [text] : [],
  );
  const joined = journal.flatMap((entry) => (entry.type === "joined" ? ownWords(entry.message) : []));
  const others = (await archive.turns({ session: session.id, limit: turnsMax })).filter(({ id }) => id !== turn.id);
  const journals = await Promise.all(others.map(({ id }) => store.journalOf(id)));
  return {
    own: [...spoken, ...ownWords(turn.input), ...joined],
    calls: [...journals, journal].flatMap((entries) => callsOf(tool, entries)),
  };
}

function ownWords(message: Inbound): readonly string[] {
  return bringsOutside(message) ? [] : [textOf(message.body)];
}

/** Models use the same ids again in every step, so what was answered counts for its own step alone. */
function callsOf(tool: string, journal: readonly Entry[]): readonly EarlierCall[] {
  const found: EarlierCall[] = [];
  let step: readonly ToolCall[] = [];
  let [asked, approved] = [new Map<string, string>(), new Set<string>()];
  for (const entry of journal) {
    if (entry.type === "said") [step, asked, approved] = [entry.calls, new Map(), new Set()];
    if (entry.type === "call-asked") asked.set(entry.question, entry.call);
    if (entry.type === "answered" && /^(?:approve|always)$/.test(readDecision(entry.choice).type))
      approved.add(asked.get(entry.question) ?? "");
    if (entry.type !== "tool-ended" || entry.result.type !== "ok") continue;
    const call = step.find((one) => one.call === entry.call);
    if (call?.tool !== tool) continue;
    found.push({ input: call.input, output: entry.result.output, isApproved: approved.has(call.call) });
  }
  return found;
}
