// Browsers that hold a credential for the page, and the one-time links that let a new one in. Only digests of the secrets
// are stored. Pure.

import type { Instant } from "../ids.ts";

export type Device = {
  readonly id: string;
  /** SHA-256 of its credential, in hexadecimal. */
  readonly digest: string;
  /** What the browser calls itself, such as `Firefox on Linux`. */
  readonly name: string;
  readonly createdAt: Instant;
  readonly seenAt: Instant;
};

/** Works once, until it expires. */
export type AccessLink = { readonly digest: string; readonly expiresAt: Instant };

export const accessLimits = {
  /** How long a link works. */
  linkMs: 10 * 60_000,
  /** Links that are open at the same time; the oldest give way. */
  linksMax: 20,
  /** Devices that may be signed in; the one that was unused for the longest time gives way. */
  devicesMax: 50,
  /** The last use of a device is stored at most this often. */
  seenEveryMs: 60_000,
  nameMax: 80,
} as const;

/** What an open link and the devices become when the link is used; null when the link does not work. */
export function useLink(links: readonly AccessLink[], digest: string, now: number): AccessLink | null {
  const found = links.find((one) => one.digest === digest);
  return found === undefined || found.expiresAt <= now ? null : found;
}

/** Links to remove before another one is made: expired ones, and the oldest beyond the limit. */
export function staleLinks(links: readonly AccessLink[], now: number): readonly AccessLink[] {
  const open = links.filter((one) => one.expiresAt > now).toSorted((a, b) => b.expiresAt - a.expiresAt);
  const kept = new Set(open.slice(0, accessLimits.linksMax - 1));
  return links.filter((one) => !kept.has(one));
}

/** Devices to sign out before another one signs in. */
export function surplusDevices(devices: readonly Device[]): readonly Device[] {
  const latest = devices.toSorted((a, b) => b.seenAt - a.seenAt);
  return latest.slice(accessLimits.devicesMax - 1);
}

/** A short name from a User-Agent header; anything else in it is not kept. */
export function deviceName(userAgent: string): string {
  const browser = browsers.find(([pattern]) => pattern.test(userAgent))?.[1];
  const system = systems.find(([pattern]) => pattern.test(userAgent))?.[1];
  if (browser === undefined) return system === undefined ? "Browser" : `Browser on ${system}`;
  return system === undefined ? browser : `${browser} on ${system}`;
}

// The first that fits: most browsers also name the ones they descend from.
const browsers = [
  [/\bEdg(?:e|A|iOS)?\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\b(?:Firefox|FxiOS)\//, "Firefox"],
  [/\b(?:Chrome|CriOS|HeadlessChrome)\//, "Chrome"],
  [/\bSafari\//, "Safari"],
] as const;

const systems = [
  [/\bAndroid\b/, "Android"],
  [/\b(?:iPhone|iPad|iPod)\b/, "iOS"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b/, "macOS"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bLinux\b/, "Linux"],
] as const;
