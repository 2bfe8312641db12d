// Looks up what became of a question, by its name alone.

import { type Fate, fateOf, turnOfQuestion } from "../../core/asked/late.ts";
import type { Parts } from "../parts.ts";

export async function lookUp({ store, archive }: Parts, question: string): Promise<Fate> {
  const id = turnOfQuestion(question);
  const turn = id === null ? null : await store.turn(id);
  return fateOf(question, turn, turn === null ? [] : await archive.entries(turn.id));
}
