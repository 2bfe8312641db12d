// Who is logged in, where the server does not say so with every line: those are asked for once, and remembered for as long as
// we see whether they go or change their name, which is while they share a channel with us. Whoever does not is asked for each
// time. Lines wait for the answer, and those behind them too, so that nothing changes its order. Pure.

import { type Line, type Mapping, fold, mappingIn } from "./lines.ts";

/** What is known of somebody: their account, null when they are not logged in, undefined when nobody has asked yet. */
type Account = string | null | undefined;
type Asked = { readonly account: string | null; readonly host: string | null; readonly n: number };

export type People = {
  readonly present: ReadonlyMap<string, Account>;
  /** Those the server is asked about, with what it has said so far. */
  readonly asked: ReadonlyMap<string, Asked>;
  readonly held: readonly Line[];
  /** How many questions there were. */
  readonly count: number;
  /** How the server compares their names; what it is where it does not say so. */
  readonly mapping: Mapping;
};

export const nobody: People = { present: new Map(), asked: new Map(), held: [], count: 0, mapping: "rfc1459" };

/** A server that is not through with so many lines is not asked any more. */
const heldMax = 200;
const mark = "who ";

export type Heard = {
  readonly people: People;
  readonly out: readonly string[];
  /** What can be handed over now; each line with the account of whoever said it in its tags. */
  readonly lines: readonly Line[];
};

/** Somebody said something, and the server did not say who they are. */
export function heard(people: People, line: Line): Heard {
  const nick = fold(line.nick, people.mapping);
  const isPerson = line.mask.includes("!");
  const isKnown = !isPerson || typeof people.present.get(nick) === "string" || people.present.get(nick) === null;
  if (people.held.length >= heldMax) return { people: { ...people, held: [] }, out: [], lines: [...people.held, line] };
  if (isKnown || people.asked.has(nick)) return released({ ...people, held: [...people.held, line] }, []);
  const count = people.count + 1;
  const asked = new Map(people.asked).set(nick, { account: null, host: null, n: count });
  // The ping behind it is answered in any case.
  const out = [`WHOIS ${line.nick}`, `PING :${mark}${count}`];
  return { people: { ...people, asked, count, held: [...people.held, line] }, out, lines: [] };
}

/** The server has come to a ping; null when it is another. */
export function passed(people: People, token: string): Heard | null {
  if (!token.startsWith(mark)) return null;
  const [nick = ""] = [...people.asked].find(([, { n }]) => token === `${mark}${n}`) ?? [];
  return answered(people, nick);
}

/** The server has said all that it knows of somebody. */
export function answered(people: People, name: string): Heard {
  const nick = fold(name, people.mapping);
  const about = people.asked.get(nick);
  if (about === undefined) return { people, out: [], lines: [] };
  const asked = new Map(people.asked);
  asked.delete(nick);
  const isTheirs = (line: Line) => fold(line.nick, people.mapping) === nick && !isMarked(line);
  const own = people.held.map((line) => (isTheirs(line) ? marked(line, about) : line));
  const present = people.present.has(nick) ? new Map(people.present).set(nick, about.account) : people.present;
  return released({ ...people, asked, held: own, present }, []);
}

/** Everything up to the first line that still waits for an answer. */
function released(people: People, out: readonly string[]): Heard {
  const end = people.held.findIndex((line) => people.asked.has(fold(line.nick, people.mapping)) && !isMarked(line));
  const at = end < 0 ? people.held.length : end;
  const lines = people.held.slice(0, at).map((line) => {
    const account = people.present.get(fold(line.nick, people.mapping)) ?? null;
    return isMarked(line) ? line : marked(line, { account, host: null, n: 0 });
  });
  return { people: { ...people, held: people.held.slice(at) }, out, lines };
}

const isMarked = ({ tags }: Line): boolean => "account" in tags || "asked" in tags;

/** Whoever has the nick by now may be somebody else: then nothing is known. */
function marked(line: Line, { account, host }: Asked): Line {
  const isSame = host === null || line.mask.endsWith(`!${host}`);
  return { ...line, tags: { ...line.tags, asked: "", ...(account === null || !isSame ? {} : { account }) } };
}

/** What the server tells about people by itself, or when it was asked. */
export function observe(people: People, line: Line, ownNick: string): People {
  const { command, params } = line;
  const small = (name: string): string => fold(name, people.mapping);
  const nick = small(line.nick);
  const [first = "", second = "", third = ""] = params;
  switch (command) {
    case "JOIN":
      // With the account where that was agreed on; "*" is none.
      return here(people, nick, params.length < 3 ? people.present.get(nick) : second === "*" ? null : second);
    case "353":
      return (params.at(-1) ?? "")
        .split(" ")
        .map((name) => small(name.replace(/^[~&@%+!]+/, "")))
        .filter((name) => name !== "")
        .reduce((all, name) => here(all, name, all.present.get(name)), people);
    case "ACCOUNT":
      return people.present.has(nick) ? here(people, nick, first === "*" ? null : first) : people;
    case "NICK":
      return people.present.has(nick) ? here(gone(people, nick), small(first), people.present.get(nick)) : people;
    case "QUIT":
      return gone(people, nick);
    case "PART":
      return nick === small(ownNick) ? { ...people, present: new Map() } : gone(people, nick);
    case "KICK":
      return small(second) === small(ownNick) ? { ...people, present: new Map() } : gone(people, small(second));
    case "005":
      return { ...people, mapping: mappingIn(line) ?? people.mapping };
    case "311":
      return told(people, second, { host: `${third}@${params[3] ?? ""}` });
    case "330":
      return told(people, second, { account: third });
    default:
      return people;
  }
}

function here(people: People, nick: string, account: Account): People {
  return { ...people, present: new Map(people.present).set(nick, account) };
}

function gone(people: People, nick: string): People {
  if (!people.present.has(nick)) return people;
  const present = new Map(people.present);
  present.delete(nick);
  return { ...people, present };
}

function told(people: People, name: string, more: Partial<Asked>): People {
  const nick = fold(name, people.mapping);
  const before = people.asked.get(nick);
  return before === undefined ? people : { ...people, asked: new Map(people.asked).set(nick, { ...before, ...more }) };
}
