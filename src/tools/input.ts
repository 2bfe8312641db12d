// What a model hands to a tool is checked here before anything is done with it. A fault is told to the model in words that
// let it repair the call: which part is wrong, and what belongs there.

import * as v from "valibot";

export type Checked<T> = { readonly type: "good"; readonly input: T } | { readonly type: "bad"; readonly why: string };

/** At most so many faults are told at once, and so much of each: a model repairs what it can read. */
const toldMax = 5;
const wordsMax = 200;

export function checked<S extends v.GenericSchema>(schema: S, input: unknown): Checked<v.InferOutput<S>> {
  // A list passes for an object whose parts are all left out.
  const parsed = v.safeParse(schema, Array.isArray(input) ? "a list" : input);
  if (parsed.success) return { type: "good", input: parsed.output };
  const faults = parsed.issues.slice(0, toldMax).map((issue) => {
    const path = v.getDotPath(issue);
    return path === null ? sentence(issue) : `"${path}" ${sentence(issue)}`;
  });
  const more = parsed.issues.length > toldMax ? `; and ${parsed.issues.length - toldMax} more` : "";
  return { type: "bad", why: `The input is not right: ${faults.join("; ")}${more}. Nothing was done.` };
}

/** Our own words as they are; those of the library in the same tone, and without the half of a file that was typed in. */
function sentence(issue: v.BaseIssue<unknown>): string {
  if (issue.type === "strict_object" && issue.expected === "never") return "is not a part of it";
  if (issue.received === "undefined") return "is missing";
  const ours = !issue.message.startsWith("Invalid ");
  if (ours) return issue.message;
  const wanted = issue.type === "strict_object" ? "an object" : `${issue.expected ?? `a valid ${issue.type}`}`;
  return `must be ${wanted}, and is ${issue.received}`.slice(0, wordsMax);
}

/** A part that may be left out. Some models give null for what they leave out. */
export function maybe<T>(schema: v.GenericSchema<T>): v.GenericSchema<T | null | undefined, T | undefined> {
  return v.pipe(
    v.nullish(schema),
    v.transform((given) => given ?? undefined),
  );
}

/** Text that can be stored and sent: half a surrogate pair cannot. */
export function words(max: number): v.GenericSchema<string> {
  return v.pipe(
    v.string(),
    v.check((text) => text.trim() !== "", "must not be empty"),
    v.maxLength(max, `must be at most ${max} characters`),
    v.check((text) => text.isWellFormed(), "holds half a character"),
  );
}

export function whole(min: number, max: number): v.GenericSchema<number> {
  return v.pipe(
    v.number(),
    v.check((n) => Number.isInteger(n) && n >= min && n <= max, `must be a whole number from ${min} to ${max}`),
  );
}

/** A path as a model writes it. A zero byte would end it early inside the system. */
export const pathText: v.GenericSchema<string> = v.pipe(
  v.string(),
  v.check((path) => path.trim() !== "", "must not be empty"),
  v.maxLength(4096, "is longer than a path may be"),
  v.check((path) => !path.includes("\0"), "holds a zero byte"),
  v.check((path) => path.isWellFormed(), "holds half a character"),
);
