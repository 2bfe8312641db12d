// Signed addresses: what a browser opens without a header, such as a picture or a download. A signature holds for one
// address, one device and a few minutes. Pure but for the clock that is given.

import { createHmac, timingSafeEqual } from "node:crypto";

/** Addresses made within one window are the same, so that a browser's cache works. */
const windowMs = 5 * 60_000;

export type SignedAddresses = {
  /** The path with its query, signed; valid for 5 to 10 minutes. */
  sign(path: string, device: string): { readonly path: string; readonly expiresAt: number };
  /** The device that an address was signed for; null when the signature is wrong or too old. */
  verify(url: URL): string | null;
};

export function signedAddresses(token: string, now: () => number): SignedAddresses {
  // Derived, so that a signature says nothing about the token, and addresses outlive a restart.
  const key = createHmac("sha256", token).update("signed addresses").digest();
  const signatureOf = (path: string) => createHmac("sha256", key).update(path).digest("base64url");

  return {
    sign(path, device) {
      const expiresAt = (Math.floor(now() / windowMs) + 2) * windowMs;
      const url = new URL(path, "http://localhost");
      for (const name of names) url.searchParams.delete(name);
      url.searchParams.set("device", device);
      url.searchParams.set("expires", String(expiresAt));
      const signature = signatureOf(`${url.pathname}${url.search}`);
      url.searchParams.set("signature", signature);
      return { path: `${url.pathname}${url.search}`, expiresAt };
    },
    verify(url) {
      const { pathname, searchParams } = url;
      const given = searchParams.get("signature");
      const expires = searchParams.get("expires") ?? "";
      if (given === null || !/^\d{1,15}$/.test(expires) || Number(expires) <= now()) return null;
      const rest = new URLSearchParams(searchParams);
      rest.delete("signature");
      const right = signatureOf(`${pathname}?${rest.toString()}`);
      return isSame(given, right) ? searchParams.get("device") : null;
    },
  };
}

const names = ["device", "expires", "signature"] as const;

function isSame(given: string, right: string): boolean {
  const a = Buffer.from(given);
  const b = Buffer.from(right);
  return a.length === b.length && timingSafeEqual(a, b);
}
