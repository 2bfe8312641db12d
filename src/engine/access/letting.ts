// Lets people in and out: what a code, a press or a name decides, as changes of one commit and as words. Who may decide
// was asked before; `mine` says about whom.

import { isTheirs } from "../../core/access/access.ts";
import { type Asker, type Paired, type Pairing, isOpen, welcomeText } from "../../core/access/pairing.ts";
import { visibleLine } from "../../core/asked/visible.ts";
import type { Change } from "../../core/change.ts";
import type { Inbound } from "../../core/message.ts";
import type { Parts } from "../parts.ts";
import type { Guessed, Guesses } from "./guesses.ts";

export type Account = { readonly platform: string; readonly account: string };
export type Mine = (at: Account) => boolean;

/** What is told to somebody who was let in, and where. */
export type Welcome = { readonly to: Inbound; readonly text: string };

export type Refused = {
  readonly type: "refused";
  readonly code: "not-found" | "not-possible";
  readonly why: string;
  readonly changes: readonly Change[];
};

export type Decision =
  | {
      readonly type: "done";
      readonly paired: Paired;
      readonly changes: readonly Change[];
      readonly welcome: Welcome | null;
    }
  | Refused;

/** Somebody was turned down. */
export type Denial = { readonly type: "done"; readonly asker: Asker; readonly changes: readonly Change[] } | Refused;

export type By = { readonly by: string; readonly admin: boolean };

/** By a code, or by the id of a request that whoever decides has before their eyes. */
export async function approve(
  parts: Parts,
  guesses: Guesses,
  which: { readonly code: string } | { readonly id: string },
  by: By,
  mine: Mine,
): Promise<Decision> {
  const known = (await parts.archive.pairings()).filter(({ address }) => mine(address));
  if ("id" in which) {
    const found = known.find(({ id }) => id === which.id);
    return found !== undefined && isOpen(found, parts.world.now()) ? letIn(parts, found, by) : gone(which.id);
  }
  const guessed = await guesses.guess(which.code, known);
  switch (guessed.type) {
    case "right":
      return letIn(parts, guessed.pairing, by);
    case "no-code":
      return refused("That cannot be a code: they have 8 characters, letters and digits without 0, O, 1 and I.");
    case "wrong":
    case "closed":
      return notRight(guessed);
  }
}

function notRight(guessed: Guessed & { readonly type: "wrong" | "closed" }): Refused {
  if (guessed.type === "wrong") {
    const why = "No open request has this code. Codes have 8 characters and are good for an hour.";
    return { ...refused(why), changes: guessed.changes };
  }
  const minutes = Math.max(1, Math.ceil(guessed.ms / 60_000));
  const wait = `None is taken for ${minutes} more ${minutes === 1 ? "minute" : "minutes"}`;
  const why = `Too many wrong codes were tried. ${wait}; *Let in* on the page of the web chat works meanwhile.`;
  return refused(why, "not-possible");
}

function refused(why: string, code: Refused["code"] = "not-found"): Refused {
  return { type: "refused", code, why, changes: [] };
}

function gone(id: string): Refused {
  return refused(`There is no open request ${id}. List them with \`everturn pair\`.`);
}

function letIn({ world }: Parts, pairing: Pairing, { by, admin }: By): Decision {
  const { id, sender, name, address } = pairing;
  const { platform, account } = address;
  const paired: Paired = { platform, account, sender, name, admin, by, at: world.now() };
  const body = { kind: "text", text: welcomeText, files: [] } as const;
  const to: Inbound = { key: `=paired:${id}`, from: address, sender: "post", sentAt: world.now(), body };
  return {
    type: "done",
    paired,
    changes: [
      { drop: "pairing", id },
      { put: "paired", paired },
    ],
    welcome: { to, text: welcomeText },
  };
}

/** Turned down, silently: until it expires its sender gets no other code. */
export async function deny(parts: Parts, guesses: Guesses, which: Which, mine: Mine): Promise<Denial> {
  const { archive, world } = parts;
  const all = (await archive.pairings()).filter((one) => mine(one.address) && isOpen(one, world.now()));
  if ("id" in which) {
    const found = all.find(({ id }) => id === which.id);
    return found === undefined ? gone(which.id) : turnDown(found);
  }
  const who = which.who.trim();
  // Those who wait are before the eyes of whoever decides; only a code can be guessed.
  const meant = meantBy(
    who,
    all.map((pairing) => ({ pairing, ...askerOf(pairing) })),
  );
  if (meant.type === "one") return turnDown(meant.one.pairing);
  if (meant.type === "several") return meant.refused;
  const guessed = await guesses.guess(who, all);
  switch (guessed.type) {
    case "right":
      return turnDown(guessed.pairing);
    case "no-code":
      return refused(`Nobody who waits to be let in is ${shown(who)}. List them with \`everturn pair\`.`);
    case "wrong":
    case "closed":
      return notRight(guessed);
  }
}

/** A request that is before somebody's eyes; or whose code, id, `platform/id` or name this is. */
export type Which = { readonly id: string } | { readonly who: string };

function turnDown(pairing: Pairing): Denial {
  const changes: readonly Change[] = [
    { drop: "pairing", id: pairing.id },
    { put: "pairing", pairing: { ...pairing, denied: true } },
  ];
  return { type: "done", asker: askerOf(pairing), changes };
}

function askerOf({ address, sender, name }: Pairing): Asker {
  return { platform: address.platform, sender, name };
}

type Meant<T> =
  | { readonly type: "one"; readonly one: T }
  | { readonly type: "several"; readonly refused: Refused }
  | { readonly type: "nobody" };

/** By an id, `platform/id`, or a name that only one of them has. */
function meantBy<T extends Asker>(wanted: string, known: readonly T[]): Meant<T> {
  const exact = known.filter(({ platform, sender }) => sender === wanted || `${platform}/${sender}` === wanted);
  const named = known.filter(({ sender, name }) => name !== null && isTheirs({ id: sender, name }, wanted));
  const found = exact.length > 0 ? exact : named;
  const [one] = found;
  if (one === undefined) return { type: "nobody" };
  if (found.length === 1) return { type: "one", one };
  const ids = found.map(({ platform, sender }) => `${platform}/${sender}`).join(", ");
  return { type: "several", refused: refused(`More than one is meant: ${ids}. Give one of these.`, "not-possible") };
}

const shown = (text: string) => `"${visibleLine(text.slice(0, 80))}"`;

/** `who`: an id, `platform/id`, or a name that only one of them has. */
export async function revoke({ archive }: Parts, who: string, mine: Mine): Promise<Decision> {
  const wanted = who.trim();
  const meant = meantBy(wanted, (await archive.pairedPeople()).filter(mine));
  if (meant.type === "several") return meant.refused;
  if (meant.type === "nobody")
    return refused(`Nobody who was let in is ${shown(wanted)}. List them with \`everturn pair\`.`);
  const { platform, account, sender } = meant.one;
  return { type: "done", paired: meant.one, changes: [{ drop: "paired", platform, account, sender }], welcome: null };
}

/** Somebody as people read it; names are whatever strangers chose. */
export function nameOf({ sender, name }: { readonly sender: string; readonly name: string | null }): string {
  return name === null || name === sender ? visibleLine(sender) : `${visibleLine(name)} (${visibleLine(sender)})`;
}
