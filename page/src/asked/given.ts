// Which messages answer what. Answers to approvals that were pressed, here or in a terminal, are told as such and not as
// something that was typed. Pure.

import type { Message } from "../net/wire.ts";

const said: Readonly<Record<string, string>> = { approve: "Approved", always: "Always allowed", deny: "Denied" };

/** The words for one; null for every other message. An answer belongs to the turn that asked. */
export function givenWords(message: Message, messages: readonly Message[]): string | null {
  const [choice = ""] = message.text.split(":", 1);
  const words = Object.hasOwn(said, choice) ? said[choice] : undefined;
  if (message.role !== "user" || message.turn === undefined || words === undefined) return null;
  const more = message.text.slice(choice.length + 1).trim();
  if (more !== "" && choice !== "deny") return null;
  const isAsked = messages.some(
    (one) =>
      one.n < message.n &&
      one.turn === message.turn &&
      one.question?.approval === true &&
      one.question.choices.includes(choice),
  );
  if (!isAsked) return null;
  return more === "" ? words : `${words}: ${more}`;
}

/** The same for one that is on its way. */
export function pressedWords(question: string, choice: string, messages: readonly Message[]): string | null {
  const isApproval = messages.some((one) => one.question?.id === question && one.question.approval);
  return isApproval && Object.hasOwn(said, choice) ? (said[choice] ?? null) : null;
}

/** What was said to a question, as far as it can be seen: the next words of the user in its turn. */
export function saidTo({ n, turn }: Message, messages: readonly Message[]): string | undefined {
  const answer = messages.find(
    (one) => one.n > n && one.role === "user" && one.turn === turn && !one.text.startsWith("/"),
  );
  return turn === undefined ? undefined : answer?.text;
}
