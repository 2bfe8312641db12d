// The names under which a model sees tools of servers: `<server>__<tool>`, at most 64 characters that every provider
// takes. The same tools have the same names whatever order they are listed in, and no name stands for two. Pure.

import { createHash } from "node:crypto";

const nameMax = 64;
const serverMax = 24;

/** The part before the two underscores. It has none of its own and ends with none, so a name splits in one way only. */
export function prefixes(servers: readonly string[]): ReadonlyMap<string, string> {
  const plain = (name: string) =>
    name
      .replace(/[^a-zA-Z0-9-]+/g, "_")
      .slice(0, serverMax)
      .replace(/^_+|_+$/g, "");
  return distinct(servers, plain, (name) => `${plain(name).slice(0, serverMax - 7)}-${digest(name)}`);
}

/** Each tool of one server with its full name. */
export function toolNames(prefix: string, tools: readonly string[]): ReadonlyMap<string, string> {
  const room = nameMax - prefix.length - 2;
  const safe = (tool: string) => tool.replace(/[^a-zA-Z0-9_-]/g, "_");
  const plain = (tool: string) => (safe(tool).length > room ? "" : safe(tool));
  const marked = (tool: string) => `${safe(tool).slice(0, room - 7)}_${digest(tool)}`;
  const named = distinct(tools, plain, marked);
  return new Map([...named].map(([tool, name]) => [tool, `${prefix}__${name}`]));
}

/** The prefix and the rest of a name; null when it is no name of ours. */
export function splitName(name: string): { readonly prefix: string; readonly tool: string } | null {
  const at = name.indexOf("__");
  return at <= 0 ? null : { prefix: name.slice(0, at), tool: name.slice(at + 2) };
}

/** Whoever has its plain name unchanged keeps it; the others get a mark of their own where a plain name would be taken. */
function distinct(
  names: readonly string[],
  plain: (name: string) => string,
  marked: (name: string) => string,
): ReadonlyMap<string, string> {
  const all = new Set(names);
  const count = new Map<string, number>();
  for (const name of all) count.set(plain(name), (count.get(plain(name)) ?? 0) + 1);
  const chosen = (name: string): string => {
    const short = plain(name);
    if (short === name) return short;
    return short === "" || count.get(short) !== 1 ? marked(name) : short;
  };
  return new Map([...all].map((name) => [name, chosen(name)]));
}

function digest(name: string): string {
  return createHash("sha256").update(name).digest("hex").slice(0, 6);
}
