// Who may answer a question of an agent. Every way to answer comes here: buttons, words, commands, the API and the page.
// Pure.

/** Somebody at one of our accounts. */
export type Someone = { readonly platform: string; readonly account: string; readonly sender: string };

export type AskedQuestion = {
  readonly kind: "approval" | "question";
  /** Whose turn asks. */
  readonly requester: Someone;
  /** The key of the conversation that it was asked in. */
  readonly conversation: string;
  readonly needsAdmin?: boolean;
};

export type Answerer = Someone & {
  readonly approves: boolean;
  /** The owner, or an admin. */
  readonly isAdmin: boolean;
  /** The key of the conversation that the answer comes from. */
  readonly conversation: string;
  readonly isGroup: boolean;
};

/** `allow`: something is done because of it. `deny`: something is left. `words`: what a plain question wants to know. */
export type AnswerKind = "allow" | "deny" | "words";

/** `no-admin`: only the owner and admins may. `no-approver`: only approvers may. `not-theirs`: only the person who was asked, or an approver, may. */
export type MayAnswer = "yes" | "no-admin" | "no-approver" | "not-theirs";

export function mayAnswer(question: AskedQuestion, answerer: Answerer, kind: AnswerKind): MayAnswer {
  const isForAdmins = question.needsAdmin === true && kind === "allow";
  if (answerer.approves) return isForAdmins && !answerer.isAdmin ? "no-admin" : "yes";
  if (question.kind === "approval" && kind === "allow") return "no-approver";
  if (isSame(question.requester, answerer)) return "yes";
  // A chat of two has one person in it, also when a reminder or a webhook asks there.
  const isAlone = question.conversation === answerer.conversation && !answerer.isGroup;
  return isAlone ? "yes" : "not-theirs";
}

function isSame(a: Someone, b: Someone): boolean {
  return a.platform === b.platform && a.account === b.account && a.sender === b.sender;
}

/** What somebody reads whose answer does not count. `asked`: the names of the approvers that were asked. */
export function refusedAnswerText(why: Exclude<MayAnswer, "yes">, asked: readonly string[]): string {
  if (why === "not-theirs") return "That question is for somebody else. It stays open.";
  return `Only ${why === "no-admin" ? "admins" : "approvers"} may allow this. ${askedNamesText(asked)}`;
}

function askedNamesText(asked: readonly string[]): string {
  const [first, second, ...more] = asked;
  if (first === undefined) return "The owner decides with `everturn approvals`.";
  if (second === undefined) return `I asked ${first}.`;
  const last = more.at(-1) ?? second;
  return `I asked ${[first, ...asked.slice(1, -1)].join(", ")} and ${last}.`;
}
