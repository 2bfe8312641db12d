// The judgment of an address that is to be fetched.

import type { Verdict } from "../../core/approval.ts";
import { type Grant, noGrant } from "../../core/grant.ts";
import type { VetContext } from "../../ports/tool.ts";
import { digest } from "../digest.ts";
import { type Judgment, type Policy, dangerous, forbidden, plain, verdictOf, wider } from "../policy/index.ts";
import { isNamed } from "./named.ts";

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

export async function vetFetch(address: string, context: VetContext, policy: Policy): Promise<Verdict> {
  const { outside, earlier } = context;
  const judged = judgeFetch(address);
  const isNew =
    outside && judged.level !== "forbidden" && !(earlier !== undefined && isNamed(address, await earlier()));
  const verdict = verdictOf({
    policy,
    judgment: isNew ? wider("you did not name this address") : judged,
    effect: "pure",
    outside,
    what: `fetch_url ${address}`,
    // A rule for a host would let anything be sent to it.
    subject: URL.canParse(address) && !outside ? `fetching anything from ${new URL(address).host}` : null,
    bound: digest(["fetch_url", address]),
  });
  if (verdict.type === "refuse" || !outside) return verdict;
  // The call may go to this host alone, whatever redirects say.
  const { host } = new URL(address);
  const grant: Grant = { ...noGrant, hosts: [host] };
  if (verdict.type !== "approve") return { type: "run", grant };
  const effects = [
    `Sends this address to ${host}: ${address}`,
    "This conversation holds text from outside, which may have led to this. Make sure that nothing private is in the address.",
  ];
  return { ...verdict, effects, grant };
}
