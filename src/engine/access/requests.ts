// Strangers who write to us alone: the first message makes a request, and its code is answered in the same commit. Nothing
// of what they wrote is kept. One after another, so that however many come at once, no more wait than may.

import { codeText, decideRequest, digestOf, newCode, waitsText } from "../../core/access/pairing.ts";
import type { Change } from "../../core/change.ts";
import { later } from "../../core/ids.ts";
import { limits } from "../../core/limits.ts";
import type { Inbound } from "../../core/message.ts";
import type { Parts } from "../parts.ts";

/** What a stranger is told, what the transcript shows of it, and what is written with it. */
export type Told = { readonly text: string; readonly shown: string; readonly changes: readonly Change[] };

export type Heard = Told | { readonly ignored: string };

export interface Requests {
  /** `tell` commits what it is told to; asked again, it is decided anew. No other stranger is heard meanwhile. */
  hear<T>(inbound: Inbound, tell: (decide: () => Promise<Heard>) => Promise<T>): Promise<T>;
}

export function requests(parts: Parts): Requests {
  const { store, world } = parts;
  let last: Promise<unknown> = Promise.resolve();

  async function decide(inbound: Inbound): Promise<Heard> {
    const { platform, account } = inbound.from;
    const at = world.now();
    const found = decideRequest(await store.pairingsAt(platform, account), inbound.sender, at);
    switch (found.type) {
      case "ignore":
        return { ignored: found.why };
      case "new":
        return newRequest(inbound, found.expired);
      case "waits": {
        const { pairing } = found;
        const text = waitsText(pairing, at);
        const told: Change = { put: "pairing", pairing: { ...pairing, toldAt: at } };
        return { text, shown: text, changes: [{ drop: "pairing", id: pairing.id }, told] };
      }
    }
  }

  function newRequest(inbound: Inbound, expired: readonly { readonly id: string }[]): Told {
    const at = world.now();
    const id = world.id();
    const code = newCode(() => world.chance());
    const name = inbound.name?.slice(0, limits.senderNameMax).toWellFormed() ?? null;
    const times = { askedAt: at, expiresAt: later(at, limits.pairingMs), toldAt: at };
    const { sender, from: address } = inbound;
    const pairing = { id, sender, name, address, digest: digestOf(id, code), ...times, denied: false };
    return {
      text: codeText(code),
      shown: codeText("********"),
      changes: [...expired.map((one): Change => ({ drop: "pairing", id: one.id })), { put: "pairing", pairing }],
    };
  }

  return {
    hear(inbound, tell) {
      const next = last.then(() => tell(() => decide(inbound)));
      // Whoever waits for it hears of its failure; the next stranger does not.
      const over = () => undefined;
      last = next.then(over, over);
      return next;
    },
  };
}
