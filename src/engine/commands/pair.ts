// /pair: who waits to be let in and who was, for admins. At our own clients it is about everybody, elsewhere about the
// people of that account.

import { isOpen } from "../../core/access/pairing.ts";
import { type Inbound, formatAddress } from "../../core/message.ts";
import type { Guesses } from "../access/guesses.ts";
import { type Decision, type Mine, type Welcome, approve, deny, nameOf, revoke } from "../access/letting.ts";
import { type Parts, settingsOf } from "../parts.ts";
import { listed } from "./beside.ts";
import { type Obeyed, nothing, only } from "./obeyed.ts";

/** Lines that a chat is told; the command line tells all. */
const shownMax = 20;

export type PairObeyed = Obeyed & { readonly welcome: Welcome | null };

export async function pair(parts: Parts, guesses: Guesses, inbound: Inbound, rest: string): Promise<PairObeyed> {
  const [verb = "list", what = "", ...more] = rest.trim().split(/\s+/).filter(Boolean);
  const mine = scopeOf(parts, inbound);
  switch (verb.toLowerCase()) {
    case "list":
      return said(await listText(parts, mine));
    case "approve": {
      const admin = more.length === 1 && /^(?:--)?admin$/i.test(more[0] ?? "");
      if (what === "" || (more.length > 0 && !admin)) return said(usage);
      const by = `${inbound.sender} at ${formatAddress(inbound.from)}`;
      const done = await approve(parts, guesses, { code: what }, { by, admin }, mine);
      return obeyed(done, (who) => `${who} may write to me now${admin ? ", and is an admin" : ""}.`);
    }
    case "deny": {
      if (what === "") return said(usage);
      const done = await deny(parts, guesses, { who: [what, ...more].join(" ") }, mine);
      const text = done.type === "refused" ? done.why : `${nameOf(done.asker)} is not let in, and hears nothing of it.`;
      return { ...said(text), changes: done.changes };
    }
    case "revoke": {
      if (what === "") return said(usage);
      const done = await revoke(parts, [what, ...more].join(" "), mine);
      return obeyed(done, (who) => `${who} may no longer write to me, unless the configuration allows it.`);
    }
    default:
      return said(usage);
  }
}

const usage =
  "Send /pair to see who waits, /pair approve with a code, /pair deny with a code, name or id, or /pair revoke with a name or id.";

function scopeOf(parts: Parts, { from }: Inbound): Mine {
  if (settingsOf(parts, from.platform).access === null) return () => true;
  return ({ platform, account }) => platform === from.platform && account === from.account;
}

function said(text: string): PairObeyed {
  return { ...only(text), welcome: null };
}

function obeyed(done: Decision, words: (who: string) => string): PairObeyed {
  if (done.type === "refused") return { text: done.why, changes: done.changes, stored: nothing, welcome: null };
  return { text: words(nameOf(done.paired)), changes: done.changes, stored: nothing, welcome: done.welcome };
}

async function listText({ archive, world }: Parts, mine: Mine): Promise<string> {
  const at = world.now();
  const waiting = (await archive.pairings()).filter((one) => mine(one.address) && isOpen(one, at));
  const paired = (await archive.pairedPeople()).filter(mine);
  const asks = waiting.map(
    (one) =>
      `${nameOf(one)} at ${one.address.platform}, for ${Math.max(1, Math.round((one.expiresAt - at) / 60_000))} more min`,
  );
  const people = paired.map((one) => `${nameOf(one)} at ${one.platform}${one.admin ? ", admin" : ""}`);
  return [
    asks.length === 0
      ? "Nobody waits to be let in."
      : `These wait to be let in; /pair approve and their code does it, /pair deny turns them down:${listed(asks)}`,
    people.length === 0 ? "Nobody was let in by a code." : `These were let in:${listed(shortened(people))}`,
  ].join("\n\n");
}

function shortened(lines: readonly string[]): readonly string[] {
  return lines.length <= shownMax ? lines : [...lines.slice(0, shownMax), `and ${lines.length - shownMax} more`];
}
