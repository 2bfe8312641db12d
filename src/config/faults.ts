// What is wrong with a configuration: where it stands, which key, what is wrong, what to do. Pure.
// A fault never carries a value that may be secret, and never a character that could disturb a terminal.

/** From the top of the configuration down to one key; numbers are positions in a list. */
export type KeyPath = readonly (string | number)[];

/** Where a value was written. With a variable, file and line name the .env that set it; null for the real environment. */
export type Origin = {
  readonly file: string | null;
  readonly line: number | null;
  readonly variable: string | null;
};

export type ConfigFault = Origin & {
  readonly column: number | null;
  /** Such as `control.port`; empty when the whole file is meant. */
  readonly key: string;
  /** Goes on from the key: "must be …", "is not known". */
  readonly what: string;
  readonly todo: string;
};

export const nowhere: Origin = { file: null, line: null, variable: null };

export function faultAt(origin: Origin, key: string, what: string, todo: string, column?: number): ConfigFault {
  const { file, line, variable } = origin;
  return { file, line, column: column ?? null, variable, key, what, todo };
}

/** One line for people: `/home/ann/.everturn/config.yaml, line 7: platforms.telegram is not …; remove it`. */
export function sentenceOfFault(fault: ConfigFault): string {
  const place =
    fault.line === null ? "" : `, line ${fault.line}${fault.column === null ? "" : `, column ${fault.column}`}`;
  const file = fault.file === null ? "" : `${fault.file}${place}`;
  const where = [fault.variable, file].filter((one) => one !== null && one !== "").join(" in ");
  const subject = fault.key === "" ? "" : `${fault.key} `;
  return `${where === "" ? "" : `${where}: `}${subject}${fault.what}; ${fault.todo}`;
}

/** `platforms.telegram.allow[0]`; odd names are quoted. */
export function formatKey(path: KeyPath): string {
  return path
    .map((part, i) => {
      if (typeof part === "number") return `[${part}]`;
      const name = /^[\w-]{1,64}$/.test(part) ? part : quoted(part);
      return i === 0 ? name : `.${name}`;
    })
    .join("");
}

/** A short piece of somebody's text, safe to print. */
export function quoted(text: string): string {
  const short = text.length > 40 ? `${text.slice(0, 40)}…` : text;
  return JSON.stringify(short).replace(/[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, unicodeEscape);
}

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

const mostFaults = 100;

/** The configuration file first, in reading order, then .env, then the environment; not more than a person can use. */
export function inOrder(faults: readonly ConfigFault[], configFile: string): readonly ConfigFault[] {
  const rank = ({ file }: ConfigFault) => (file === configFile ? 0 : file === null ? 2 : 1);
  const sorted = faults.toSorted(
    (a, b) => rank(a) - rank(b) || (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0),
  );
  if (sorted.length <= mostFaults) return sorted;
  const more = `has ${sorted.length - mostFaults} more faults that are not shown`;
  return [...sorted.slice(0, mostFaults), faultAt(nowhere, "", `the configuration ${more}`, "correct these first")];
}
