// Patterns for the names of files, as shells and git know them: * ? [ab] {a,b} and ** for any number of folders. Pure.

import { Fault } from "../../../../core/fault.ts";

const lengthMax = 500;
const meaning = /[.+^$()|\\]/;

/** A pattern without a slash is about the name alone, wherever the file lies. */
export function globPattern(glob: string): RegExp {
  if (glob.length > lengthMax) throw new Fault("not-possible", "The glob is too long.");
  const clean = glob.replaceAll("\\", "/").replace(/^\.?\//, "");
  const source = clean.includes("/") ? sourceOf(clean) : `(?:.*/)?${sourceOf(clean)}`;
  try {
    return new RegExp(`^${source}$`, "su");
  } catch (error) {
    throw new Fault("not-possible", `The glob ${glob} cannot be read: a bracket is open or out of order.`, error);
  }
}

function sourceOf(glob: string): string {
  let source = "";
  let braces = 0;
  for (let at = 0; at < glob.length; ) {
    const rest = glob.slice(at);
    const [taken, part] = piece(rest, braces);
    if (rest.startsWith("{")) braces++;
    else if (rest.startsWith("}") && braces > 0) braces--;
    source += part;
    at += taken;
  }
  return source;
}

/** How much of the glob the next piece is, and what it means. */
function piece(rest: string, braces: number): readonly [taken: number, source: string] {
  const folders = /^(?:\*\*\/)+/.exec(rest);
  if (folders !== null) return [folders[0].length, "(?:[^/]+/)*"];
  const stars = /^\*+/.exec(rest);
  // At the end, or beside anything but a slash, two stars reach into folders as well.
  if (stars !== null) return [stars[0].length, stars[0].length > 1 ? ".*" : "[^/]*"];
  const set = /^\[([!^]?)([^\]/]+)\]/.exec(rest);
  if (set !== null)
    return [set[0].length, `[${set[1] === "" ? "" : "^/"}${(set[2] ?? "").replace(/[\\[^&~]/g, "\\$&")}]`];
  const [sign = ""] = rest;
  if (sign === "?") return [1, "[^/]"];
  if (sign === "{") return [1, "(?:"];
  if (sign === "}" && braces > 0) return [1, ")"];
  if (sign === "," && braces > 0) return [1, "|"];
  return [sign.length, meaning.test(sign) || "[]}".includes(sign) ? `\\${sign}` : sign];
}
