// The messages of ssh-agent that a broker has to understand, and whether a signature that is asked for logs in to a host
// that was granted. OpenSSH (from 8.9 on) tells the agent which server it talks to, with a signature of that server over
// the session; what is to be signed names the same session. Pure.

import { type KeyObject, createPublicKey, verify } from "node:crypto";

export const agentMessage = { failure: 5, success: 6, identities: 11, sign: 13, extension: 27 } as const;

/** Fields of a message, one after the other. Null where it is shorter than it says. */
export function readStrings(bytes: Buffer, count: number): readonly Buffer[] | null {
  const found: Buffer[] = [];
  let at = 0;
  while (found.length < count) {
    if (bytes.length < at + 4) return null;
    const size = bytes.readUInt32BE(at);
    if (bytes.length < at + 4 + size) return null;
    found.push(bytes.subarray(at + 4, at + 4 + size));
    at += 4 + size;
  }
  return found;
}

/**
 * The session that a client binds its connection to, where one of these keys has signed it; else null. `hostKeys` are the
 * blobs of known_hosts in base64.
 */
export function boundSession(payload: Buffer, hostKeys: ReadonlySet<string>): string | null {
  const [name, hostKey, session, signature] = readStrings(payload, 4) ?? [];
  if (name?.toString() !== "session-bind@openssh.com" || hostKey === undefined) return null;
  if (session === undefined || signature === undefined || !hostKeys.has(hostKey.toString("base64"))) return null;
  return isSignedBy(hostKey, session, signature) ? session.toString("base64") : null;
}

const userauthRequest = 50;

/** Whether it asks for a login in one of these sessions; agents sign other things as well, such as files and commits. */
export function isLoginIn(payload: Buffer, sessions: ReadonlySet<string>): boolean {
  const [, data] = readStrings(payload, 2) ?? [];
  const [session] = data === undefined ? [] : (readStrings(data, 1) ?? []);
  if (data === undefined || session === undefined) return false;
  return data[4 + session.length] === userauthRequest && sessions.has(session.toString("base64"));
}

export function isSignedBy(hostKey: Buffer, data: Buffer, signature: Buffer): boolean {
  const [algorithm, value] = readStrings(signature, 2) ?? [];
  const kind = readStrings(hostKey, 1)?.[0]?.toString();
  if (algorithm === undefined || value === undefined || kind === undefined) return false;
  try {
    return checks[kind]?.(hostKey, data, algorithm.toString(), value) ?? false;
  } catch (error) {
    // A key or signature that is none.
    if (error instanceof Error && "code" in error) return false;
    throw error;
  }
}

type Check = (hostKey: Buffer, data: Buffer, algorithm: string, value: Buffer) => boolean;
const ecdsa =
  (curve: "P-256" | "P-384" | "P-521", hash: string, size: number): Check =>
  (hostKey, data, _algorithm, value) => {
    const [, , point = Buffer.alloc(0)] = readStrings(hostKey, 3) ?? [];
    const [x, y] = [point.subarray(1, 1 + size), point.subarray(1 + size)];
    const parts = readStrings(value, 2) ?? [];
    const raw = Buffer.concat(parts.map((part) => fixed(part, size)));
    const key = keyOf({ kty: "EC", crv: curve, x: x.toString("base64url"), y: y.toString("base64url") });
    return verify(hash, data, { key, dsaEncoding: "ieee-p1363" }, raw);
  };

const checks: Readonly<Record<string, Check>> = {
  "ssh-ed25519": (hostKey, data, _algorithm, value) => {
    const [, point = Buffer.alloc(0)] = readStrings(hostKey, 2) ?? [];
    return verify(null, data, keyOf({ kty: "OKP", crv: "Ed25519", x: point.toString("base64url") }), value);
  },
  "ecdsa-sha2-nistp256": ecdsa("P-256", "sha256", 32),
  "ecdsa-sha2-nistp384": ecdsa("P-384", "sha384", 48),
  "ecdsa-sha2-nistp521": ecdsa("P-521", "sha512", 66),
  "ssh-rsa": (hostKey, data, algorithm, value) => {
    const hash = ({ "rsa-sha2-256": "sha256", "rsa-sha2-512": "sha512" } as Record<string, string>)[algorithm];
    const [, e = Buffer.alloc(0), n = Buffer.alloc(0)] = readStrings(hostKey, 3) ?? [];
    if (hash === undefined) return false;
    return verify(
      hash,
      data,
      keyOf({ kty: "RSA", n: unsigned(n).toString("base64url"), e: unsigned(e).toString("base64url") }),
      value,
    );
  },
};

function keyOf(jwk: Readonly<Record<string, string>>): KeyObject {
  return createPublicKey({ key: jwk, format: "jwk" });
}

/** A number without the zeros before it. */
function unsigned(number: Buffer): Buffer {
  const start = number.findIndex((byte) => byte !== 0);
  return start === -1 ? Buffer.alloc(0) : number.subarray(start);
}

function fixed(number: Buffer, size: number): Buffer {
  const plain = unsigned(number);
  return Buffer.concat([Buffer.alloc(Math.max(0, size - plain.length)), plain]);
}
