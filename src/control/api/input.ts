// Reading what a request brings: numbers and words of its query, fields of its body. What is wrong is said in a sentence.

import { BadRequest } from "../faults.ts";

/** The most that one list answers with. */
export const listMax = 1_000;

export function fieldsOf(body: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new BadRequest(`The body is not JSON: ${error.message}`, { cause: error });
  }
  throw new BadRequest("The body must be a JSON object.");
}

export function wholeOf(text: string | null, name: string): number | undefined {
  if (text === null || text === "") return undefined;
  if (!/^\d{1,15}$/.test(text)) throw new BadRequest(`\`${name}\` must be a whole number.`);
  return Number(text);
}

export function limitOf(text: string | null, usual: number): number {
  return Math.min(Math.max(wholeOf(text, "limit") ?? usual, 1), listMax);
}

export function oneOf<T extends string>(names: readonly T[], text: string | null, what: string): T | undefined {
  if (text === null || text === "") return undefined;
  const found = names.find((name) => name === text);
  if (found === undefined) throw new BadRequest(`\`${what}\` must be one of ${names.join(", ")}.`);
  return found;
}
