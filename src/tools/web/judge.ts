// The judgment of an address that is to be fetched. Pure.

import { type Judgment, dangerous, forbidden, plain } from "../policy/index.ts";

/** Ports where something else than pages answers. */
const oddPorts = new Set([22, 23, 25, 110, 143, 465, 587, 993, 995, 2375, 3306, 5432, 6379, 9200, 11211, 27017]);
/** Longer ones carry something away instead of asking for something. */
const addressMax = 2_048;

/** Whether the address leads into a private network is not asked here: that is known when its name is resolved. */
export function judgeFetch(address: string): Judgment {
  if (!URL.canParse(address)) return forbidden("it is no address");
  const url = new URL(address);
  if (url.protocol !== "http:" && url.protocol !== "https:")
    return forbidden(`it fetches by ${url.protocol}, and only http and https are fetched`);
  if (url.username !== "" || url.password !== "") return dangerous("its address holds a name or a password");
  if (oddPorts.has(Number(url.port))) return dangerous(`it speaks to port ${url.port}, which is not for pages`);
  if (address.length > addressMax) return dangerous("its address is long enough to carry data away");
  return plain;
}
