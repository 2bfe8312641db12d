// The simple commands of a line, wherever they stand in it, as words. Pure. For those who ask which programs would run and
// not what they would do.

import { expand, unknown } from "./expand.ts";
import { readScript } from "./parse.ts";
import type { Command, Redirect, Script, Word } from "./script.ts";
import { Unreadable } from "./words.ts";

/** Its words without what only sets the stage, and whether something is fed to it. */
export type Simple = { readonly words: readonly string[]; readonly fed: boolean };

/** None of a line that no shell would run as it stands. What cannot be known of a word is the sign with the number zero. */
export function simpleCommands(line: string): readonly Simple[] {
  try {
    return [...inScript(readScript(line), false)];
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return [];
  }
}

function* inScript(script: Script, fed: boolean): Iterable<Simple> {
  for (const { commands } of script)
    for (const [at, command] of commands.entries()) yield* inCommand(command, fed || at > 0);
}

function* inCommand(command: Command, heard: boolean): Iterable<Simple> {
  if (command.type === "loop") {
    yield* inWords(command.values ?? []);
    return;
  }
  if (command.type === "function") {
    yield* inScript(command.body, heard);
    return;
  }
  const fed = heard || command.redirects.some(feeds);
  yield* inWords(command.redirects.map(({ target }) => target));
  if (command.type === "group") {
    yield* inScript(command.body, fed);
    return;
  }
  yield* inWords(command.words);
  const words = command.words.flatMap((word) => expand(word, nothing)?.map(({ text }) => text) ?? [unknown]);
  const first = words.findIndex((word) => !/^[A-Za-z_]\w*\+?=/.test(word));
  if (first >= 0 && words[first] !== "[[") yield { words: words.slice(first), fed };
}

/** Scripts inside of words. */
function* inWords(words: readonly Word[]): Iterable<Simple> {
  for (const part of words.flat()) {
    if (part.type === "script") yield* inScript(part.script, false);
    else if (part.type !== "text") yield* inWords([part.inner]);
  }
}

const nothing = { variables: new Map<string, null>(), userHome: null, saidBy: () => null };

const feeds = ({ operator }: Redirect): boolean => operator.startsWith("<");
