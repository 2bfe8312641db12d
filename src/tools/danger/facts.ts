// What can be told from one piece of a script by itself: what it assigns, what it hears, whether it breeds. Pure.

import { type Judgement, dangerous, forbidden, plain } from "./judgement.ts";
import type { Input } from "./look.ts";
import { type Expansion, expandWhole, unknown } from "./shell/expand.ts";
import type { Command, Redirect, Script, Word } from "./shell/script.ts";

export const isPipe = (input: Input): boolean => input.type === "pipe" && input.isDownload;

/** Nothing follows it. */
export function leaves(command: Command | undefined): boolean {
  const [part] = command?.type === "simple" ? (command.words[0] ?? []) : [];
  return part?.type === "text" && /^(?:exit|return|break|continue)$/.test(part.text);
}

export function assignment(word: Word): { readonly name: string; readonly value: Word } | null {
  const [first, ...rest] = word;
  if (first?.type !== "text" || first.quoted) return null;
  const [all, name] = /^([A-Za-z_]\w*)(?:\[[^\]]*\])?\+?=/.exec(first.text) ?? [];
  if (all === undefined || name === undefined) return null;
  return { name, value: [{ ...first, text: first.text.slice(all.length) }, ...rest] };
}

export function inputOf(redirects: readonly Redirect[], input: Input, by: Expansion): Input {
  const last = redirects.findLast(({ operator }) => operator.startsWith("<") && operator !== "<&");
  if (last === undefined) return input;
  const texts = last.operator === "<<" || last.operator === "<<<" ? expandWhole(last.target, by) : null;
  return texts === null ? { type: "pipe", isDownload: false } : { type: "text", text: texts.join("\n") };
}

/** What it says, where that is just its words. */
export function spokenBy(name: string, args: readonly string[]): string | null {
  const text = args.filter((arg) => name !== "echo" || !/^-[neE]+$/.test(arg)).join(" ");
  if (text.includes(unknown) || text.includes("\\")) return null;
  if (name === "echo") return text;
  return name === "printf" && args.length === 1 && !text.includes("%") ? text : null;
}

export const indexed = "it has the shell run a script while it computes the place in a list";

/** The place in a list is computed when its name is, scripts included: a[$(rm x)]. */
export const holdsIndex = (text: string): boolean => /\w\[[^\]]*(?:\$\(|`|\$\{)/.test(text);

const computes =
  /^(?:test|\[|\[\[|let|printf|read|unset|declare|typeset|local|readonly|export|mapfile|readarray|getopts|wait)$/;

export function computesScript(name: string, args: readonly string[]): Judgement {
  return computes.test(name) && args.some(holdsIndex) ? dangerous(indexed) : plain;
}

const endless = /^\/dev\/(?:zero|u?random|full)$/;

/** What never ends, written to a file. */
export function fills(texts: readonly string[], targets: readonly string[]): Judgement {
  const [name = "", ...args] = texts;
  const isEndless =
    name === "yes" || (/^(?:cat|pv|tail|base64|xxd|od|tr)$/.test(name) && args.some((arg) => endless.test(arg)));
  const isKept = targets.some((target) => !target.startsWith("/dev/"));
  return isEndless && isKept ? dangerous("it fills the disk") : plain;
}

/** A function that starts itself more than once, or apart from itself, until the machine stands still. */
export function isBomb(name: string, body: Script): Judgement {
  const calls = [...callsOf(body)].filter((one) => one.name === name);
  const doubled = calls.length > 1 || calls.some((one) => one.isApart);
  if (calls.length === 0) return plain;
  return doubled
    ? forbidden("it starts itself again and again until the machine stands still")
    : dangerous("it calls itself");
}

function* callsOf(script: Script, above = false): Iterable<{ readonly name: string; readonly isApart: boolean }> {
  for (const { commands, background } of script)
    for (const command of commands) {
      const isApart = above || background;
      if (command.type === "group" || command.type === "function") yield* callsOf(command.body, isApart);
      if (command.type !== "simple") continue;
      const [first] = command.words;
      const name = first?.map((part) => (part.type === "text" ? part.text : unknown)).join("") ?? "";
      yield { name, isApart };
    }
}
