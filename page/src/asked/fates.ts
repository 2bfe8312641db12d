// What became of the questions in the open conversation, asked of the gateway: they may have been answered in a terminal,
// by another tab, or by nobody in time. What is settled is asked once.

import { type ReadonlySignal, signal } from "@preact/signals";
import type { Client } from "../net/client.ts";
import type { Fate, Message } from "../net/wire.ts";

export type Fates = {
  readonly known: ReadonlySignal<ReadonlyMap<string, Fate>>;
  /** Asks for whatever in these messages is not settled. */
  look(messages: readonly Message[]): Promise<void>;
};

export function fates(client: Pick<Client, "fate">): Fates {
  const known = signal<ReadonlyMap<string, Fate>>(new Map());
  const asking = new Set<string>();
  return {
    known,
    async look(messages) {
      const open = unsettled(messages, known.value).filter((id) => !asking.has(id));
      await Promise.all(
        open.map(async (id) => {
          asking.add(id);
          const answer = await client.fate(id);
          asking.delete(id);
          if (answer.type === "got") known.value = new Map([...known.value, [id, answer.value]]);
        }),
      );
    },
  };
}

/** Questions whose end is not known. Pure. */
export function unsettled(messages: readonly Message[], known: ReadonlyMap<string, Fate>): readonly string[] {
  return messages.flatMap(({ question }) =>
    question !== undefined && (known.get(question.id)?.type ?? "open") === "open" ? [question.id] : [],
  );
}

export type Standing = {
  /** Buttons can be pressed. */
  readonly open: boolean;
  readonly chosen: string | null;
  readonly words: string;
};

/** How an approval stands; `given` is an answer of this page that is still on its way. Pure. */
export function standingOf(fate: Fate | undefined, given: string | undefined): Standing {
  if (fate === undefined || fate.type === "open")
    return given === undefined
      ? { open: true, chosen: null, words: "" }
      : { open: false, chosen: given, words: "Sending your answer…" };
  if (fate.type === "expired")
    return { open: false, chosen: null, words: "Nobody answered in time, so it was not done." };
  if (fate.type === "withdrawn")
    return { open: false, chosen: null, words: `No longer asked${fate.why === "" ? "." : `: ${fate.why}`}` };
  const [choice = ""] = fate.choice.split(":", 1);
  const said = { approve: "Approved, this once.", always: "Allowed, from now on too.", deny: "Denied." }[choice];
  const more = choice === "deny" ? fate.choice.slice("deny:".length).trim() : "";
  return {
    open: false,
    chosen: choice,
    words: `${said ?? `Answered: ${fate.choice}`}${more === "" ? "" : ` ${more}`}`,
  };
}

/**
 * How a question with choices stands, which may be answered in other words too. Until the gateway has told what became of
 * it, `given` is what was pressed here or said to it, and one that is no longer the `newest` counts as closed. Pure.
 */
export function choiceStanding(
  choices: readonly string[],
  fate: Fate | undefined,
  given: string | undefined,
  newest: boolean,
): Standing {
  if ((fate === undefined || fate.type === "open") && given === undefined)
    return { open: newest, chosen: null, words: "" };
  if (fate === undefined || fate.type === "open") return answeredWith(choices, given ?? "");
  if (fate.type === "expired") return { open: false, chosen: null, words: "Nobody answered in time." };
  if (fate.type === "withdrawn")
    return { open: false, chosen: null, words: `No longer asked${fate.why === "" ? "." : `: ${fate.why}`}` };
  return answeredWith(choices, fate.choice);
}

function answeredWith(choices: readonly string[], answer: string): Standing {
  const chosen = choices.find((one) => one === answer) ?? null;
  return { open: false, chosen, words: chosen === null ? "Answered" : "" };
}

/** Without the line that tells how to answer where there are no buttons. Pure. */
export function cardText(text: string): string {
  return text.replace(/\n\nAnswer \/approve or \/deny[^\n]*$/, "");
}
