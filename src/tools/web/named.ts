// Whether an address was named by the user: in their own words, or in a page that was itself fetched because they named or
// approved it. Links of links do not count, so a page cannot lead on to addresses that carry data away. Pure.

import type { EarlierTalk } from "../../ports/tool.ts";

const textMax = 300_000;
const addressMax = 2_048;

export function isNamed(address: string, { own, calls }: EarlierTalk): boolean {
  const wanted = normalized(address);
  if (wanted === null) return false;
  if (own.some((text) => holds(text, wanted))) return true;
  return calls.some(({ input, output, isApproved }) => {
    if (typeof output !== "string") return false;
    const from = addressIn(input);
    const isWished = isApproved || (from !== null && own.some((text) => holds(text, from)));
    return isWished && holds(output, wanted);
  });
}

/** What ends an address in a text. */
const breaks = /[\s<>"'`|\\^{}]+/;

function holds(text: string, wanted: string): boolean {
  const { host } = new URL(wanted);
  for (const word of text.slice(0, textMax).split(breaks)) {
    if (word.length > addressMax || !word.toLowerCase().includes(host)) continue;
    if (addressesIn(word).some((one) => endings(one).includes(wanted))) return true;
  }
  return false;
}

/** Addresses in a word, such as `[text](https://example.org/x).`, and as people write them: `example.org/x`. */
function addressesIn(word: string): readonly string[] {
  const at = word.search(/https?:\/\//i);
  if (at >= 0) return [word.slice(at)];
  const typed = word.replace(/^[([*_~]+/, "");
  return /^[a-z0-9.-]+\.[a-z]{2,}(?=[/:.,;!?)\]]|$)/i.test(typed) ? [`https://${typed}`, `http://${typed}`] : [];
}

/** As it stands there, without the punctuation around it, and as a link of markdown, which ends at a parenthesis. */
function endings(found: string): readonly string[] {
  const trimmed = found.replace(/[.,;:!?)\]*_~]{1,20}$/, "");
  const [linked = ""] = found.split(")", 1);
  return [found, trimmed, linked].flatMap((one) => normalized(one) ?? []);
}

/** The fragment is never sent. */
function normalized(address: string): string | null {
  const url = URL.parse(address.trim());
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) return null;
  url.hash = "";
  return url.href;
}

function addressIn(input: unknown): string | null {
  const isObject = typeof input === "object" && input !== null && "url" in input;
  return isObject && typeof input.url === "string" ? normalized(input.url) : null;
}

/** Whether a redirect stays where the call was allowed to go: the same host, with or without "www.". */
export function isSameSite(host: string, other: string): boolean {
  const plain = (one: string): string => one.toLowerCase().replace(/^www\./, "");
  return plain(host) === plain(other);
}
