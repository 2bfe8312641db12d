// Signatures of webhooks: made and checked over the exact bytes of a body. Compared whole, in the same time whatever differs.

import { createHmac, timingSafeEqual } from "node:crypto";
import { hookLimits, type Style } from "./api.ts";

export const signatureHeader = "x-everturn-signature";
const githubHeader = "x-hub-signature-256";

/** As `t=<seconds>,v1=<hex>`, over the time, a dot and the body. */
export function sign(secret: string, body: Uint8Array | string, atMs: number): string {
  const seconds = Math.floor(atMs / 1000);
  return `t=${seconds},v1=${hmac(secret, `${seconds}.`, body)}`;
}

/** `print` is the same only for the very same signed request. */
export type Verdict =
  | { readonly type: "signed"; readonly print: string }
  | { readonly type: "refused"; readonly why: "unsigned" | "malformed" | "too-old" | "wrong" };

export function verify(style: Style, secret: string, headers: Headers, body: Uint8Array, nowMs: number): Verdict {
  return style === "github" ? verifyPlain(secret, headers, body) : verifyTimed(secret, headers, body, nowMs);
}

function verifyTimed(secret: string, headers: Headers, body: Uint8Array, nowMs: number): Verdict {
  const given = headers.get(signatureHeader);
  if (given === null) return { type: "refused", why: "unsigned" };
  const parts = given.split(",").map((part) => part.trim());
  const seconds = parts.find((part) => /^t=\d{1,12}$/.test(part))?.slice(2);
  // Several signatures may be there while a secret is being changed.
  const signatures = parts.flatMap((part) => (/^v1=[0-9a-f]{64}$/i.test(part) ? [part.slice(3).toLowerCase()] : []));
  if (seconds === undefined || signatures.length === 0 || parts.length > 8)
    return { type: "refused", why: "malformed" };
  const expected = hmac(secret, `${seconds}.`, body);
  const isRight = signatures.map((one) => isSame(one, expected)).includes(true);
  if (!isRight) return { type: "refused", why: "wrong" };
  if (Math.abs(nowMs - Number(seconds) * 1000) > hookLimits.toleranceMs) return { type: "refused", why: "too-old" };
  return { type: "signed", print: expected };
}

function verifyPlain(secret: string, headers: Headers, body: Uint8Array): Verdict {
  const given = headers.get(githubHeader);
  if (given === null) return { type: "refused", why: "unsigned" };
  const found = /^sha256=([0-9a-f]{64})$/i.exec(given.trim())?.[1]?.toLowerCase();
  if (found === undefined) return { type: "refused", why: "malformed" };
  const expected = hmac(secret, "", body);
  return isSame(found, expected) ? { type: "signed", print: expected } : { type: "refused", why: "wrong" };
}

function hmac(secret: string, prefix: string, body: Uint8Array | string): string {
  return createHmac("sha256", secret).update(prefix).update(body).digest("hex");
}

function isSame(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}
