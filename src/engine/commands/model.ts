// /model: which model answers in a conversation. The choice belongs to the conversation and outlives a restart.

import type { Lane } from "../lanes/lanes.ts";
import type { Parts } from "../parts.ts";
import { type Obeyed, only } from "./obeyed.ts";

/** A provider may have hundreds; a chat needs a few. */
const shownMax = 30;

export function chooseModel({ agent }: Parts, lane: Lane, rest: string): Obeyed {
  const { models } = agent;
  if (models === undefined) return only("The agent here has no models to choose from.");
  const typed = rest.trim();
  if (typed === "") return only(currentText(models.current, models.known, lane.session.model));
  if (typed.toLowerCase() === "default") return chosen(lane, null, `${models.current}, as configured,`);
  const read = models.read(typed);
  return "wrong" in read ? only(read.wrong) : chosen(lane, read.model, read.model);
}

function chosen(lane: Lane, model: string | null, words: string): Obeyed {
  return {
    text: `From the next step on, ${words} answers in this conversation.`,
    changes: [{ put: "model", session: lane.session.id, model }],
    stored() {
      lane.session = { ...lane.session, model };
    },
  };
}

function currentText(configured: string, known: readonly string[], own: string | null): string {
  const now = own === null ? `${configured} answers here, as configured.` : `${own} answers here, as you chose.`;
  const others = known.filter((name) => name !== (own ?? configured));
  const more = others.length > shownMax ? ` and ${others.length - shownMax} more` : "";
  const list = others.length === 0 ? "" : ` Others: ${others.slice(0, shownMax).join(", ")}${more}.`;
  return `${now}${list} Choose with /model and a name; /model default takes the choice back.`;
}
