// Who a mail is from, as far as the server that received it vouches for it: what it wrote into Authentication-Results, read
// by the grammar of RFC 8601, since most words in there are of the sender's choice. Pure.

/** `auto`: what failed the receiving server's checks is no message; `require`: only what passed them is. */
export type Verify = "auto" | "require" | "off";

export type Clause = {
  readonly method: string;
  readonly result: string;
  readonly props: ReadonlyMap<string, string>;
};

export type Results = {
  /** The name of the server that wrote it; empty where it wrote none. */
  readonly server: string;
  readonly clauses: readonly Clause[];
  /** A comment or a quote in it never ends: nobody knows what the server wanted to say. */
  readonly isBroken: boolean;
};

/** In the place of words in quotes, which are nobody's domain and nobody's result. */
const opaque = '"';

export function parseResults(value: string): Results {
  const { text, isBroken } = withoutAsides(value.toLowerCase());
  const parts = text.split(";").map((part) => part.trim().split(/\s+/));
  const server = parts[0]?.[0] ?? "";
  // Some servers write no name and begin with their first result.
  const isNamed = !server.includes("=");
  return { server: isNamed ? server : "", clauses: parts.slice(isNamed ? 1 : 0).flatMap(clauseOf), isBroken };
}

/** Only the words that begin a clause are its result; what follows are its properties, each by its first value. */
function clauseOf([first = "", ...more]: readonly string[]): readonly Clause[] {
  const [method, result] = halves(first);
  if (result === "") return [];
  const props = new Map<string, string>();
  for (const [name, value] of more.map(halves)) if (!props.has(name)) props.set(name, value);
  return [{ method: method.split("/")[0] ?? "", result, props }];
}

function halves(word: string): readonly [string, string] {
  const at = word.indexOf("=");
  return at < 0 ? [word, ""] : [word.slice(0, at), word.slice(at + 1)];
}

/** Without comments, which may be inside each other, and with one mark for each text in quotes. */
function withoutAsides(value: string): { readonly text: string; readonly isBroken: boolean } {
  const kept: string[] = [];
  let depth = 0;
  let isQuoted = false;
  for (let at = 0; at < value.length; at++) {
    const one = value[at] ?? "";
    if (one === "\\" && (isQuoted || depth > 0)) at++;
    else if (isQuoted) isQuoted = one !== '"';
    else if (one === "(") depth++;
    else if (one === ")" && depth > 0) {
      depth--;
      kept.push(" ");
    } else if (depth > 0) continue;
    else if (one === '"') {
      isQuoted = true;
      kept.push(opaque);
    } else kept.push(one);
  }
  // Around the sign of equality there may be spaces and comments.
  const text = kept
    .join("")
    .split("=")
    .map((part, n) => (n === 0 ? part.trimEnd() : part.trim()))
    .join("=");
  return { text, isBroken: isQuoted || depth > 0 };
}

/**
 * Why a mail is not believed to be from an address; null when it is. `found` are all results in it, the topmost first: only
 * the topmost of the receiving server counts, since those below can have come with the mail. Without that server's name, a
 * result can speak against a mail and never for it.
 */
export function doubtOf(from: string, verify: Verify, server: string | null, found: readonly string[]): string | null {
  if (verify === "off") return null;
  const all = found.map(parseResults);
  const own = server === null ? all[0] : all.find((one) => one.server === server.toLowerCase());
  const domain = domainOf(from);
  const verdict = own === undefined ? "silent" : verdictOf(own, domain);
  if (verify === "require" && (server === null || verdict !== "passed"))
    return `nobody vouches for ${from} as its sender`;
  return verdict === "failed" ? `it only claims to be from ${from}` : null;
}

function verdictOf({ clauses, isBroken }: Results, domain: string): "passed" | "failed" | "silent" {
  if (isBroken) return "failed";
  const of = (method: string) => clauses.filter((one) => one.method === method);
  // A domain without a policy says nothing about its mails.
  const policies = of("dmarc").filter(({ result }) => result !== "none");
  if (policies.some(({ result }) => result === "fail")) return "failed";
  if (policies.length > 0) return policies.every((one) => isPolicyKept(one, domain)) ? "passed" : "silent";
  if (of("dkim").some((one) => isSignedBy(one, domain))) return "passed";
  return [...of("spf"), ...of("dkim")].some(({ result }) => result === "fail") ? "failed" : "silent";
}

function isPolicyKept({ result, props }: Clause, domain: string): boolean {
  const about = props.get("header.from");
  return result === "pass" && (about === undefined || domainOf(about) === domain);
}

/** A signature of the very domain that it says it is from, or of one above it. */
function isSignedBy({ result, props }: Clause, domain: string): boolean {
  const signer = domainOf(props.get("header.d") ?? props.get("header.i") ?? "");
  return result === "pass" && signer.includes(".") && (signer === domain || domain.endsWith(`.${signer}`));
}

/** Behind the last @: before it anything may stand, and it may look like a domain too. */
function domainOf(address: string): string {
  return address.slice(address.lastIndexOf("@") + 1);
}

/** Whether the header names more than one sender: servers check one of them, and readers show another. */
export function namesSeveral(from: string): boolean {
  const { text, isBroken } = withoutAsides(from);
  return isBroken || text.includes(",") || text.includes(";");
}
