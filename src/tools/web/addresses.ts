// Which addresses of the network are everybody's. All others are somebody's own: this machine, its neighbours, the cloud's
// facts about it. Pure.

import { BlockList, isIPv4, isIPv6 } from "node:net";

/** IPv4 that leads into a private or special network. */
const private4: readonly (readonly [net: string, bits: number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
];
/** Inside of the one block of IPv6 that is everybody's: tunnels, examples and other special uses. */
const private6: readonly (readonly [net: string, bits: number])[] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
];

const closed4 = listOf(private4, "ipv4");
const closed6 = listOf(private6, "ipv6");
const open6 = listOf([["2000::", 3]], "ipv6");
/** Other ways to write an IPv4 address: mapped, and through a translator. Its last 32 bits count. */
const carrying4 = listOf(
  [
    ["::ffff:0:0", 96],
    ["64:ff9b::", 96],
  ],
  "ipv6",
);

function listOf(nets: readonly (readonly [net: string, bits: number])[], family: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList();
  for (const [net, bits] of nets) list.addSubnet(net, bits, family);
  return list;
}

/** `address` as a resolver or a URL gives it, with or without brackets. What is no address at all is nobody's. */
export function isPublic(address: string): boolean {
  const plain = address.replace(/^\[|\]$/g, "");
  if (isIPv4(plain)) return !closed4.check(plain, "ipv4");
  if (!isIPv6(plain) || plain.includes("%")) return false;
  if (carrying4.check(plain, "ipv6")) return isPublic(last32(plain));
  return open6.check(plain, "ipv6") && !closed6.check(plain, "ipv6");
}

/** The last 32 bits of an IPv6 address, written as IPv4. */
function last32(address: string): string {
  // A URL writes every address in its one short form.
  const short = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const groups = short.replace("::", ":0:0:").split(":");
  const [high, low] = [groups.at(-2), groups.at(-1)].map((group) =>
    Number.parseInt(group === "" ? "0" : (group ?? "0"), 16),
  );
  return [high, low].flatMap((part = 0) => [part >> 8, part & 255]).join(".");
}
