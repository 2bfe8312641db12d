// A shell script as it was read: what would run, with what words, and where words come from. Only types.

/** A piece of a word. */
export type Part =
  | { readonly type: "text"; readonly text: string; readonly quoted: boolean }
  /** A variable; `inner` is what stands in its braces beside the name, which is expanded too. */
  | { readonly type: "variable"; readonly name: string; readonly quoted: boolean; readonly inner: Word }
  /** What another script says (`text`), or a file to speak with it (`file`). */
  | { readonly type: "script"; readonly script: Script; readonly as: "text" | "file"; readonly quoted: boolean }
  /** A number that is computed. */
  | { readonly type: "number"; readonly inner: Word };

export type Word = readonly Part[];

export type Redirect = {
  /** As written, without the number before it: `>`, `>>`, `<`, `<<`, `<<<`, `&>`, `>&` and so on. */
  readonly operator: string;
  /** A file, or for `<<` and `<<<` the text itself. */
  readonly target: Word;
};

export type Command =
  /** Assignments are its first words. */
  | { readonly type: "simple"; readonly words: readonly Word[]; readonly redirects: readonly Redirect[] }
  /** In parentheses (`apart`) or braces. */
  | {
      readonly type: "group";
      readonly body: Script;
      readonly apart: boolean;
      readonly redirects: readonly Redirect[];
    }
  | { readonly type: "function"; readonly name: string; readonly body: Script }
  /** The variable of a loop, and what it becomes one after the other; null when that is not said. */
  | { readonly type: "loop"; readonly name: string; readonly values: readonly Word[] | null };

/** What is said by one command is heard by the next. */
export type Pipeline = {
  readonly commands: readonly Command[];
  readonly background: boolean;
  /** It runs only if the one before went well (`&&`) or did not (`||`), or in any case. */
  readonly after: ";" | "&&" | "||";
};

export type Script = readonly Pipeline[];

/** A text that begins after the next line break, with the line that ends it. */
export type Awaited = {
  readonly ending: string;
  readonly tabs: boolean;
  readonly isQuoted: boolean;
  readonly fill: (body: Word) => void;
};

/** What ends a list of commands. */
export type Closing = "" | ")" | "}" | ";;";
