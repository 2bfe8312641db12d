// Pairing: a stranger who writes to us alone is given a code, and whoever runs the gateway lets them in by it. Of a code
// only a digest is kept. Requests are few, end by themselves, and codes cannot be guessed by trying. Pure.

import { type Instant, later } from "../ids.ts";
import { limits } from "../limits.ts";
import type { Address } from "../message.ts";
import { sha256 } from "./sha256.ts";

/** A request of one stranger. */
export type Pairing = {
  readonly id: string;
  readonly sender: string;
  readonly name: string | null;
  /** Where the stranger wrote, and is told. */
  readonly address: Address;
  /** Of the code, with the id in it. */
  readonly digest: string;
  readonly askedAt: Instant;
  readonly expiresAt: Instant;
  /** When they heard of it last. */
  readonly toldAt: Instant;
  /** It was turned down: until it expires, its sender is not heard. */
  readonly denied: boolean;
};

/** Who asks or asked, as people are told. */
export type Asker = { readonly platform: string; readonly sender: string; readonly name: string | null };

/** Somebody who was let in, at one of our accounts. */
export type Paired = {
  readonly platform: string;
  readonly account: string;
  readonly sender: string;
  readonly name: string | null;
  readonly admin: boolean;
  /** Who let them in. */
  readonly by: string;
  readonly at: Instant;
};

/** Nothing that can be read as something else: no 0 and O, no 1 and I. */
const alphabet = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ";
const codeLength = 8;

export function newCode(chance: () => number): string {
  const one = () => alphabet[Math.min(Math.floor(chance() * alphabet.length), alphabet.length - 1)] ?? "";
  return Array.from({ length: codeLength }, one).join("");
}

/** A code as somebody typed it; null when it cannot be one. */
export function readCode(typed: string): string | null {
  const code = typed.replaceAll(/[\s-]/g, "").toUpperCase();
  return code.length === codeLength && [...code].every((letter) => alphabet.includes(letter)) ? code : null;
}

export function digestOf(id: string, code: string): string {
  return sha256(`${id}:${code}`);
}

export function isOpen({ expiresAt, denied }: Pairing, at: Instant): boolean {
  return !denied && expiresAt > at;
}

/** The open request that a code belongs to. */
export function pairingOf(code: string, known: readonly Pairing[], at: Instant): Pairing | null {
  return known.find((one) => isOpen(one, at) && one.digest === digestOf(one.id, code)) ?? null;
}

export type Request =
  /** A code is made; what has expired at this account goes. */
  | { readonly type: "new"; readonly expired: readonly Pairing[] }
  /** They are told once more that it waits. */
  | { readonly type: "waits"; readonly pairing: Pairing }
  | { readonly type: "ignore"; readonly why: string };

/** What becomes of a stranger's message; `known`: all requests at this account. */
export function decideRequest(known: readonly Pairing[], sender: string, at: Instant): Request {
  const own = known.find((one) => one.sender === sender && one.expiresAt > at);
  if (own?.denied === true) return { type: "ignore", why: "a stranger who was turned down" };
  if (own !== undefined) {
    const mayHear = later(own.toldAt, limits.pairingReminderMs) <= at;
    return mayHear ? { type: "waits", pairing: own } : { type: "ignore", why: "a stranger who waits to be let in" };
  }
  if (known.filter((one) => isOpen(one, at)).length >= limits.pairingsMax)
    return { type: "ignore", why: "a stranger, and as many wait to be let in as may" };
  return { type: "new", expired: known.filter(({ expiresAt }) => expiresAt <= at) };
}

/** Wrong codes of late, and until when none is taken. */
export type Tries = { readonly wrong: readonly Instant[]; readonly closedUntil: Instant | null };
export const noTries: Tries = { wrong: [], closedUntil: null };

/** How long no code is taken, in milliseconds; 0 when codes are taken. */
export function closedForMs({ closedUntil }: Tries, at: Instant): number {
  return closedUntil === null ? 0 : Math.max(0, closedUntil - at);
}

export function afterWrongCode(tries: Tries, at: Instant): Tries {
  const wrong = [...tries.wrong.filter((one) => later(one, limits.pairingTriesMs) > at), at];
  if (wrong.length < limits.pairingTriesMax) return { wrong, closedUntil: null };
  return { wrong: [], closedUntil: later(at, limits.pairingTriesMs) };
}

/** As it was kept; what cannot be read counts as nothing. */
export function readTries(text: string | null): Tries {
  if (text === null) return noTries;
  try {
    const { wrong, closedUntil } = JSON.parse(text) as Partial<Tries>;
    const isMoment = (one: unknown): one is Instant => typeof one === "number";
    const listed: readonly unknown[] = Array.isArray(wrong) ? wrong : [];
    return { wrong: listed.filter(isMoment), closedUntil: isMoment(closedUntil) ? closedUntil : null };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return noTries;
    throw error;
  }
}

/** By which a conversation is known in which nothing was said but this. */
export const codeBeginning = "I do not know you yet";

export function codeText(code: string): string {
  const minutes = Math.round(limits.pairingMs / 60_000);
  return `${codeBeginning}, so I may not answer you. This code lets you in: ${code}\nWhoever runs me approves it with \`everturn pair approve ${code}\`, within ${minutes} minutes.`;
}

export function waitsText({ expiresAt }: Pairing, at: Instant): string {
  const minutes = Math.max(1, Math.round((expiresAt - at) / 60_000));
  return `Your code still waits to be approved; it is good for ${minutes} more ${minutes === 1 ? "minute" : "minutes"}.`;
}

export const welcomeText = "You may write to me now.";
