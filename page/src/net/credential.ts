// The credential of this browser: kept in the storage of this origin, which no other port or site can read, and sent as a
// header. A one-time link in the address is traded for it and leaves the address bar at once.

import type { Keep } from "../pending.ts";

export type Credential = {
  /** Null while this browser is not signed in. */
  get(): string | null;
  set(value: string): void;
};

const name = "credential";

export function credentialIn(keep: Pick<Keep, "setting" | "setSetting">): Credential {
  // Where the storage is forbidden, it lasts as long as the page.
  let held: string | null = null;
  return {
    get: () => keep.setting(name) ?? held,
    set(value) {
      held = value;
      keep.setSetting(name, value);
    },
  };
}

/** A change of the storage by another tab that signed in. */
export function concernsCredential(key: string | null): boolean {
  return key === null || key.endsWith(`.${name}`);
}

export function headersOf(credential: Credential): Readonly<Record<string, string>> {
  const value = credential.get();
  return value === null ? {} : { authorization: `Bearer ${value}` };
}

/** What the address of the page asks for, besides a conversation. Pure. */
export type Entrance = { readonly type: "link"; readonly secret: string } | { readonly type: "old-link" } | null;

export function entranceIn(hash: string): Entrance {
  if (hash === "#old-link") return { type: "old-link" };
  const secret = /^#link=([\w-]{20,128})$/.exec(hash)?.[1];
  return secret === undefined ? null : { type: "link", secret };
}

/** Why the page cannot be used: no credential yet, one that is no longer valid, or a link that does not work. */
export type Denial = "no-link" | "signed-out" | "used-link" | "old-link";
