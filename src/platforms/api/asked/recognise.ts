// Apps that name no conversation send all of it each time. It is found again by what was said in it: then only the newest
// words go in, nothing is remembered twice, and a question asked there can be answered. A conversation that was changed in
// the app, or is too long ago, goes on as a new one that is told what was said before.

import type { TurnId } from "../../../core/ids.ts";
import type { Address, Message } from "../../../core/message.ts";
import type { SessionLine } from "../../../ports/store.ts";
import { type Said, apiLimits } from "../api.ts";
import type { Reading } from "../given/answers.ts";
import { failedTurn } from "../given/failures.ts";
import { isFirst, plainText } from "../inbound.ts";
import { answerText } from "../outbound.ts";

export const unnamed = "c-";

export async function recognise(
  { archive, store }: Reading,
  caller: string,
  before: readonly Said[],
  isBusy: (address: Address) => boolean,
): Promise<Address | null> {
  if (!before.some(({ role }) => role === "assistant")) return null;
  // Each begins a text with which a conversation like this one may have begun here; the whole of each, with all that was said
  // before it, would be the square of what came.
  const firsts = before.flatMap(({ role, text }) => (role === "user" ? [text] : []));
  const recent = await archive.sessions({ platform: "api", limit: apiLimits.recentMax });
  for (const session of recent) {
    const { address } = session;
    if (!isCandidate(session, caller, firsts) || isBusy(address)) continue;
    const lines = await archive.messagesBefore(address, null, before.length * 2 + apiLimits.pageMax);
    if (isSame(lines, before)) return address;
    const answered = await withoutFailed(store, lines, before);
    if (answered.length < lines.length && isSame(answered, before)) return address;
  }
  return null;
}

/** More failed turns in one conversation are not looked for; it then goes on as a new one. */
const failedMax = 50;

/** The app got an error instead of an answer to these; some apps keep the message that failed, others drop it. */
async function withoutFailed(
  store: Reading["store"],
  lines: readonly Message[],
  before: readonly Said[],
): Promise<readonly Message[]> {
  const known = { user: new Set<string>(), assistant: new Set<string>() };
  for (const { role, text } of before) if (role === "user" || role === "assistant") known[role].add(text.trim());
  const unknown = lines.flatMap(({ role, turn, text }) =>
    role === "assistant" && turn !== null && !known.assistant.has(text.trim()) ? [turn] : [],
  );
  const failed = new Set<TurnId>();
  for (const turn of new Set(unknown.slice(-failedMax))) {
    const stored = await store.turn(turn);
    if (stored !== null && failedTurn(stored) !== null) failed.add(turn);
  }
  return lines.filter(
    ({ role, turn, text }) => turn === null || !failed.has(turn) || (role === "user" && known.user.has(text.trim())),
  );
}

function isCandidate({ address, title, endedAt }: SessionLine, caller: string, firsts: readonly string[]): boolean {
  if (address.chat !== caller || endedAt !== null || address.thread?.startsWith(unnamed) !== true) return false;
  return firsts.some((first) => first.startsWith(title) || title.startsWith(first));
}

/** Whether this was said there, all of it and nothing else. */
export function isSame(lines: readonly Message[], before: readonly Said[]): boolean {
  const [first, ...rest] = spoken(lines);
  if (first === undefined || first.role !== "user") return false;
  return before.some((newest, i) => {
    if (newest.role !== "user" || before.length - i - 1 !== rest.length) return false;
    if (!rest.every((one, j) => isAlike(one, before[i + 1 + j]))) return false;
    return isFirst(first.text, plainText({ newest, before: before.slice(0, i) }));
  });
}

type Spoken = { readonly role: "user" | "assistant"; readonly text: string };

/** The transcript as a client has it: an answer of several lines is one message. */
function spoken(lines: readonly Message[]): readonly Spoken[] {
  const found: { readonly role: Spoken["role"]; readonly lines: Message[] }[] = [];
  for (const line of lines) {
    if (line.role === "notice") continue;
    const last = found.at(-1);
    if (line.role === "assistant" && last?.role === "assistant") last.lines.push(line);
    else found.push({ role: line.role, lines: [line] });
  }
  return found.map(({ role, lines: said }) => ({
    role,
    text: role === "user" ? (said[0]?.text ?? "") : answerText(said),
  }));
}

/** Who streamed an answer may have more before it: what was said on the way. */
function isAlike(here: Spoken, there: Said | undefined): boolean {
  if (there === undefined || there.role !== here.role) return false;
  const [ours, theirs] = [here.text.trim(), there.text.trim()];
  return here.role === "user" ? ours === theirs : theirs.endsWith(ours);
}
