// Lets people in and out: what a code, a press or a name decides, as changes of one commit and as words. Who may decide
// was asked before; `mine` says about whom.

import { isTheirs } from "../../core/access/access.ts";
import { type Paired, type Pairing, isOpen, welcomeText } from "../../core/access/pairing.ts";
import { visibleLine } from "../../core/asked/visible.ts";
import type { Change } from "../../core/change.ts";
import type { Inbound } from "../../core/message.ts";
import type { Parts } from "../parts.ts";
import type { Guesses } from "./guesses.ts";

export type Account = { readonly platform: string; readonly account: string };
export type Mine = (at: Account) => boolean;

/** What is told to somebody who was let in, and where. */
export type Welcome = { readonly to: Inbound; readonly text: string };

export type Decision =
  | {
      readonly type: "done";
      readonly paired: Paired;
      readonly changes: readonly Change[];
      readonly welcome: Welcome | null;
    }
  | {
      readonly type: "refused";
      readonly code: "not-found" | "not-possible";
      readonly why: string;
      readonly changes: readonly Change[];
    };

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
    case "wrong": {
      const why = "No open request has this code. Codes have 8 characters and are good for an hour.";
      return { type: "refused", code: "not-found", why, changes: guessed.changes };
    }
    case "closed": {
      const minutes = Math.max(1, Math.ceil(guessed.ms / 60_000));
      const why = `Too many wrong codes were tried. None is taken for ${minutes} more ${minutes === 1 ? "minute" : "minutes"}.`;
      return { type: "refused", code: "not-possible", why, changes: [] };
    }
  }
}

function gone(id: string): Decision {
  const why = `There is no open request ${id}. List them with \`everturn pair\`.`;
  return { type: "refused", code: "not-found", why, changes: [] };
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
export async function deny({ archive, world }: Parts, id: string): Promise<readonly Change[] | null> {
  const found = (await archive.pairings()).find((one) => one.id === id);
  if (found === undefined || !isOpen(found, world.now())) return null;
  return [
    { drop: "pairing", id },
    { put: "pairing", pairing: { ...found, denied: true } },
  ];
}

/** `who`: an id, `platform/id`, or a name that only one of them has. */
export async function revoke({ archive }: Parts, who: string, mine: Mine): Promise<Decision> {
  const known = (await archive.pairedPeople()).filter(mine);
  const wanted = who.trim();
  const exact = known.filter(({ platform, sender }) => sender === wanted || `${platform}/${sender}` === wanted);
  const named = known.filter(({ sender, name }) => name !== null && isTheirs({ id: sender, name }, wanted));
  const found = exact.length > 0 ? exact : named;
  const [paired] = found;
  if (paired === undefined) {
    const why = `Nobody who was let in is "${visibleLine(wanted.slice(0, 80))}". List them with \`everturn pair\`.`;
    return { type: "refused", code: "not-found", why, changes: [] };
  }
  if (found.length > 1) {
    const ids = found.map(({ platform, sender }) => `${platform}/${sender}`).join(", ");
    const why = `More than one is meant: ${ids}. Give one of these.`;
    return { type: "refused", code: "not-possible", why, changes: [] };
  }
  const { platform, account, sender } = paired;
  return { type: "done", paired, changes: [{ drop: "paired", platform, account, sender }], welcome: null };
}

/** Somebody as people read it; names are whatever strangers chose. */
export function nameOf({ sender, name }: { readonly sender: string; readonly name: string | null }): string {
  return name === null || name === sender ? visibleLine(sender) : `${visibleLine(name)} (${visibleLine(sender)})`;
}
