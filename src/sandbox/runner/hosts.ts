// Which destinations a grant opens. Pure.

import { isAddress } from "../../core/addresses.ts";

export type Destination = { readonly host: string; readonly port: number };

/** Mail servers take what they are sent for mail of this machine, so that port is only opened by its number. */
const mailPort = 25;

/** `text` as a proxy is asked for it: `host:port`, an IPv6 address in brackets. Null where it is no destination. */
export function parseDestination(text: string, defaultPort?: number): Destination | null {
  const found = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::(\d{1,5}))?$/i.exec(text);
  const host = normalizeHost(found?.[1] ?? found?.[2] ?? "");
  const port = found?.[3] === undefined ? defaultPort : Number(found[3]);
  if (host === "" || host.length > 253 || port === undefined || port < 1 || port > 65_535) return null;
  return { host, port };
}

/** Lower case, without the dot of the root. */
export function normalizeHost(host: string): string {
  return host.toLowerCase().replace(/\.$/, "");
}

/** `hosts` as in a grant: "host", "host:port", "*.example.org", "*". */
export function isGranted({ host, port }: Destination, hosts: readonly string[]): boolean {
  return hosts.some((one) => {
    const [, pattern = "", wanted] = /^(\[[^\]]+\]|[^:]*|[0-9a-f:]+)(?::(\d+))?$/i.exec(one) ?? [];
    if (wanted === undefined ? port === mailPort : Number(wanted) !== port) return false;
    const name = normalizeHost(pattern.replace(/^\[|\]$/g, ""));
    if (name === "*") return true;
    // A name below another one is never an address.
    if (name.startsWith("*.")) return !isAddress(host) && host.endsWith(name.slice(1)) && host.length > name.length - 1;
    return name !== "" && name === host;
  });
}
