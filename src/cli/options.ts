// What a command and its options are, and the options that many share. Pure data.

import type { Context } from "./context.ts";

export type Option = {
  readonly type: "boolean" | "string";
  /** What a value stands for, such as `id`; for strings only. */
  readonly value?: string;
  /** One letter that means the same. */
  readonly short?: string;
  /** The value is a whole number from 1 on. */
  readonly counts?: true;
  readonly summary: string;
};

export type Command = {
  readonly words: readonly string[];
  /** Names of arguments; the last may end in `...`. All are required but those in brackets. */
  readonly takes: readonly string[];
  readonly summary: string;
  readonly options: Readonly<Record<string, Option>>;
  readonly load: () => Promise<(context: Context) => Promise<number>>;
};

export const everywhere: Readonly<Record<string, Option>> = {
  home: { type: "string", value: "folder", summary: "the home folder, instead of EVERTURN_HOME or ~/.everturn" },
  help: { type: "boolean", short: "h", summary: "show this text" },
};

export const json: Readonly<Record<string, Option>> = { json: { type: "boolean", summary: "print JSON" } };
export const limit: Readonly<Record<string, Option>> = {
  limit: { type: "string", value: "count", counts: true, summary: "how many at most (50)" },
};
