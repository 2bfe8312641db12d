// Which IP addresses are publicly routable. All others lead to this machine, its neighbors, or the metadata service of its
// cloud. Pure.

type Net = readonly [net: string, bits: number];

/** IPv4 that is private or for a special use. */
const closed4: readonly Net[] = [
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
/** The one block of IPv6 that is publicly routed, and what in it is not: tunnels, examples and other special uses. */
const open6: readonly Net[] = [["2000::", 3]];
const closed6: readonly Net[] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
];
/** Other ways to write an IPv4 address: mapped, and through NAT64. Its last 32 bits count. */
const carrying4: readonly Net[] = [
  ["::ffff:0:0", 96],
  ["64:ff9b::", 96],
];

/** `address` as a resolver or a URL gives it, with or without brackets. A name or anything else is not public. */
export function isPublic(address: string): boolean {
  const plain = address.replace(/^\[|\]$/g, "");
  const four = parseIPv4(plain);
  if (four !== null) return !isIn(four, 32, closed4, parseIPv4);
  const six = parseIPv6(plain);
  if (six === null) return false;
  if (isIn(six, 128, carrying4, parseIPv6)) return !isIn(six & 0xffffffffn, 32, closed4, parseIPv4);
  return isIn(six, 128, open6, parseIPv6) && !isIn(six, 128, closed6, parseIPv6);
}

/** Whether it is an IP address, of either kind. */
export function isAddress(text: string): boolean {
  const plain = text.replace(/^\[|\]$/g, "");
  return parseIPv4(plain) !== null || parseIPv6(plain) !== null;
}

function isIn(value: bigint, width: number, nets: readonly Net[], parse: (text: string) => bigint | null): boolean {
  return nets.some(([net, bits]) => {
    const shift = BigInt(width - bits);
    return value >> shift === (parse(net) ?? -1n) >> shift;
  });
}

/** In the usual form only: `127.1` and `0x7f000001` are names here. */
function parseIPv4(text: string): bigint | null {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256))
    return null;
  return parts.reduce((value, part) => (value << 8n) | BigInt(part), 0n);
}

/** Without a zone, which is an address of this machine's own network. */
function parseIPv6(text: string): bigint | null {
  const tail = /^(.*:)([^:]*\..*)$/.exec(text);
  const four = tail === null ? null : parseIPv4(tail[2] ?? "");
  if (tail !== null && four === null) return null;
  const low = four === null ? "" : `${(four >> 16n).toString(16)}:${(four & 0xffffn).toString(16)}`;
  const halves = (tail === null ? text : `${tail[1]}${low}`).split("::");
  if (halves.length > 2) return null;
  const groups = halves.map((half) => (half === "" ? [] : half.split(":")));
  if (!groups.flat().every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return null;
  const missing = 8 - groups.flat().length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return null;
  const all = [...(groups[0] ?? []), ...Array<string>(missing).fill("0"), ...(groups[1] ?? [])];
  return all.reduce((value, group) => (value << 16n) | BigInt(`0x${group}`), 0n);
}
