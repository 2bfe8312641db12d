// What is thought of something a tool is about to do, and the places that thought depends on. Pure.
// A judgement is the reason to ask a person first; it is no wall. What must hold against a program that was written to
// deceive is held by the sandbox.

/**
 * What must be had for it to be done at all, and what a sandbox does not give: `network`, or `outside`: other places,
 * accounts and programs of this machine. Who is asked for such a thing is asked for it without a sandbox.
 */
export type Needs = "network" | "outside";

export type Judgement =
  | { readonly level: "plain" }
  /** `why` is part of a sentence: "it deletes a folder". */
  | { readonly level: "dangerous"; readonly why: string; readonly needs?: Needs }
  /** Not done under any policy. */
  | { readonly level: "forbidden"; readonly why: string };

/** Where things are. All paths are absolute, with links resolved by whoever knows the disk. */
export type Places = {
  /** What the agent may change as it likes. */
  readonly workspace: string;
  /** The gateway's own folder. The workspace may be inside of it. */
  readonly home: string;
  /** The user's own folder, or null where the system knows none. */
  readonly userHome: string | null;
  /** The files of this person's conversations, in the gateway's folder, which may be read. */
  readonly files?: string;
  /** Further folders that may be written as the workspace may, such as one for temporary files. */
  readonly writable?: readonly string[];
};

/** Where and how a command would run. */
export type CommandPlaces = Places & {
  readonly cwd: string;
  /** Folders that are also reached by another path: as it is typed, and where its links lead. */
  readonly links?: readonly (readonly [typed: string, real: string])[];
  /** It can change nothing but the workspace and reaches no network. Scripts then run without a word. */
  readonly isSandboxed?: boolean;
  /** There is no network, and somebody can be asked for it: what plainly needs it is dangerous for that alone. */
  readonly asksForNetwork?: boolean;
  /** What TMPDIR names there; left out where that is not known. */
  readonly tmp?: string;
  /** The gateway's own process, which no command may end. */
  readonly pid?: number;
};

export const plain: Judgement = { level: "plain" };
export const dangerous = (why: string, needs?: Needs): Judgement =>
  needs === undefined ? { level: "dangerous", why } : { level: "dangerous", why, needs };
export const forbidden = (why: string): Judgement => ({ level: "forbidden", why });

const weights: Readonly<Record<Judgement["level"], number>> = { plain: 0, dangerous: 1, forbidden: 2 };

/** The gravest of them; of two alike the first, whose reason is what a reader meets first. It needs what any of them needs. */
export function worst(judgements: Iterable<Judgement>): Judgement {
  let found = plain;
  let needs: Needs | undefined;
  for (const one of judgements) {
    if (weights[one.level] > weights[found.level]) found = one;
    if (one.level === "dangerous") needs = wider(needs, one.needs);
  }
  return needing(needs, found);
}

/** What is dangerous needs this too. */
export function needing(needs: Needs | undefined, found: Judgement): Judgement {
  if (found.level !== "dangerous") return found;
  const all = wider(found.needs, needs);
  return all === found.needs ? found : dangerous(found.why, all);
}

function wider(a: Needs | undefined, b: Needs | undefined): Needs | undefined {
  return a === "outside" || b === "outside" ? "outside" : (a ?? b);
}
