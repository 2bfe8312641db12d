// Who may use the control port: holders of the control token and browsers that are signed in, and only under a loopback
// name of this machine. A foreign page in the user's browser can reach this port too, so names (Host) and origins are
// checked first. Cookies never count: browsers send them to every port of a machine. No secret appears in an answer, a log
// line or an error.

import { randomBytes, timingSafeEqual, createHash } from "node:crypto";
import { chmodSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { Fault, sentenceOf } from "../core/fault.ts";
import type { Devices, SignedIn } from "./devices.ts";
import type { Refusal } from "./faults.ts";
import type { SignedAddresses } from "./signed.ts";

const tokenShape = /^[A-Za-z0-9_-]{43,128}$/;

/** The token of this home; made when there is none, and never readable by others. */
export function openToken(file: string): string {
  const found = readToken(file);
  if (found !== null) {
    tighten(file);
    return found;
  }
  const token = randomBytes(32).toString("base64url");
  const draft = `${file}.new`;
  try {
    writeFileSync(draft, `${token}\n`, { mode: 0o600, flush: true });
    chmodSync(draft, 0o600);
    renameSync(draft, file);
  } catch (error) {
    throw new Fault("home-unusable", `The access token could not be written to ${file}: ${sentenceOf(error)}`, error);
  }
  return token;
}

/** Null when there is no usable token. */
export function readToken(file: string): string | null {
  try {
    const text = readFileSync(file, "utf8").trim();
    return tokenShape.test(text) ? text : null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw new Fault(
      "home-unusable",
      `The access token in ${file} could not be read: ${sentenceOf(error)}. Check its owner and permissions.`,
      error,
    );
  }
}

function tighten(file: string): void {
  if (process.platform !== "win32" && (statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600);
}

/** Takes the same time whatever is wrong with the given one. */
export function sameToken(given: string, token: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(token));
}

export type Guard = {
  /** Whether a Host header names us. */
  knows(host: string | undefined): boolean;
  /** For every request: was it addressed to us, and not sent by a foreign page? */
  checkPlace(request: Request, kind: "static" | "other"): Refusal | null;
  /** For what checks its callers itself, and may be reached through a proxy: was it not sent by a foreign page? */
  checkOrigin(request: Request): Refusal | null;
  /** The control token as a bearer, under one of our names; a browser that is signed in is not enough. */
  isOwner(request: Request): boolean;
};

const loopback = ["127.0.0.1", "localhost", "[::1]"];

export function guard(token: string, port: number): Guard {
  const hosts = new Set(loopback.map((name) => (port === 80 ? name : `${name}:${port}`)));
  const knows = (host: string | undefined) => hosts.has(host?.toLowerCase() ?? "");

  return {
    knows,
    checkPlace(request, kind) {
      const host = request.headers.get("host")?.toLowerCase() ?? "";
      if (!knows(host)) {
        const names = [...hosts].join(", ");
        const message = `This gateway answers only under ${names}; the request was for another name. If you see this in a browser, another site tried to reach your gateway, or a proxy changed the Host header.`;
        return { status: 403, code: "wrong-host", message };
      }
      if (kind === "static") return null;
      return checkOrigin(request);
    },
    checkOrigin,
    isOwner(request) {
      const bearer = bearerOf(request);
      return bearer !== undefined && knows(request.headers.get("host") ?? "") && sameToken(bearer, token);
    },
  };
}

/** Who calls: the holder of the control token, or a browser that is signed in. */
export type OwnerCall = { readonly device: SignedIn | null };

export type Keys = {
  readonly token: string;
  readonly devices: Pick<Devices, "find" | "byId">;
  readonly signed: Pick<SignedAddresses, "verify">;
};

/** `url`: given where the route may be opened by a signed address. */
export function authenticate(keys: Keys, request: Request, url: URL | null): OwnerCall | Refusal {
  const bearer = bearerOf(request);
  if (bearer !== undefined) {
    if (sameToken(bearer, keys.token)) return { device: null };
    const device = keys.devices.find(bearer);
    return device === null ? unknownCredential : { device };
  }
  const id = url === null ? null : keys.signed.verify(url);
  const device = id === null ? null : keys.devices.byId(id);
  if (device !== null) return { device };
  return url !== null && url.searchParams.has("signature") ? oldAddress : noCredential;
}

const whatToDo =
  "`everturn link` prints a link that lets a browser in; programs send the token from control.token in the home folder.";

const noCredential: Refusal = {
  status: 401,
  code: "unauthorized",
  message: `This needs an access token or a browser that is signed in. ${whatToDo}`,
};

export const unknownCredential: Refusal = {
  status: 401,
  code: "unauthorized",
  message: `The access token is wrong, or this browser was signed out. ${whatToDo}`,
};

const oldAddress: Refusal = {
  status: 401,
  code: "expired",
  message: "This address has expired. Open the file again from the page.",
};

function bearerOf(request: Request): string | undefined {
  return /^Bearer +(\S+)$/i.exec(request.headers.get("authorization") ?? "")?.[1];
}

function checkOrigin(request: Request): Refusal | null {
  const host = request.headers.get("host")?.toLowerCase() ?? "";
  const origin = request.headers.get("origin");
  const site = request.headers.get("sec-fetch-site");
  const ours =
    (origin === null || origin === `http://${host}`) && (site === null || site === "same-origin" || site === "none");
  if (ours) return null;
  return {
    status: 403,
    code: "wrong-origin",
    message:
      "Another web page tried to call this gateway in your name; nothing was done. Open the page itself: `everturn link` prints a link to it.",
  };
}

const oldCookie = "everturn";

/** The header that removes the cookie of earlier versions where a browser still sends it; null where it does not. */
export function clearedCookie(header: string | null): string | null {
  const names = (header ?? "").split(";").map((pair) => pair.split("=", 1)[0]?.trim());
  return names.includes(oldCookie) ? `${oldCookie}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0` : null;
}
