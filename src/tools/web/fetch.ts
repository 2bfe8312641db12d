// fetch_url: a page, a document of data or a text from the web, as text. Everything about it is somebody else's: it is marked
// as written outside, its redirects are judged like the address itself, and size, time and hops have limits. An address can
// carry data away, so in a marked conversation only what the user named is fetched without a question.

import { type IncomingMessage, STATUS_CODES } from "node:http";
import * as v from "valibot";
import { Fault } from "../../core/fault.ts";
import type { ToolResult } from "../../core/journal.ts";
import type { Tool } from "../../ports/tool.ts";
import type { Policy } from "../policy/index.ts";
import { define, failed } from "../define.ts";
import { sizeText } from "../size.ts";
import { words } from "../input.ts";
import { bodyOf, textOf } from "./body.ts";
import { isPublic } from "../../core/addresses.ts";
import { type Connecting, reasonOf, request } from "./connect.ts";
import { judgeFetch, vetFetch } from "./judge.ts";
import { isSameSite } from "./named.ts";
import { readPage } from "./page.ts";

export type Web = {
  readonly allowPrivate: boolean;
  readonly approvals: Policy;
  readonly limits?: WebLimits;
  /** Names and addresses are otherwise those of the network. */
  readonly network?: WebNetwork;
};
export type WebNetwork = Pick<Connecting, "mayConnect" | "resolve">;
export type WebLimits = {
  readonly ms: number;
  readonly bytes: number;
  readonly hops: number;
  readonly characters: number;
};

const usual: WebLimits = { ms: 30_000, bytes: 5_000_000, hops: 5, characters: 200_000 };

export function fetchUrlTool(web: Web): Tool {
  const limits = web.limits ?? usual;
  const network: WebNetwork = web.network ?? { mayConnect: web.allowPrivate ? () => true : isPublic };
  return define({
    name: "fetch_url",
    description: "Fetches a public http(s) address and gives its text; pages come as text with links.",
    effect: "pure",
    timeoutMs: limits.ms + 10_000,
    face: { properties: { url: { type: "string" } }, required: ["url"] },
    schema: v.strictObject({ url: words(8_000) }),
    vet: ({ url }, context) => vetFetch(url.trim(), context, web.approvals),
    async run({ url }, { signal, grant }) {
      const late = AbortSignal.timeout(limits.ms);
      try {
        return await fetched({ ...network, signal: AbortSignal.any([signal, late]) }, limits, url.trim(), grant.hosts);
      } catch (error) {
        signal.throwIfAborted();
        if (late.aborted) return failed(`${url} took longer than ${limits.ms / 1000} seconds.`);
        if (error instanceof Fault) throw error;
        return failed(`${url} could not be fetched: ${reasonOf(error)}.`);
      }
    },
  });
}

/** `hosts`: the only ones that redirects may lead to; any where there are none. */
async function fetched(
  connecting: Connecting,
  limits: WebLimits,
  typed: string,
  hosts: readonly string[],
): Promise<ToolResult> {
  let url = addressOf(typed, null);
  for (let hop = 0; hop <= limits.hops; hop++) {
    const answer = await request(url, connecting);
    const to = answer.headers.location;
    const status = answer.statusCode ?? 0;
    if (![301, 302, 303, 307, 308].includes(status) || to === undefined) return readAnswer(answer, url, limits);
    answer.destroy();
    const next = addressOf(to, url);
    if (hosts.length > 0 && !hosts.some((host) => isSameSite(host, next.host))) return leadsAway(url, next);
    url = next;
  }
  return failed(`${typed} leads on more than ${limits.hops} times; the last was to ${url.host}.`);
}

function leadsAway(from: URL, to: URL): ToolResult {
  const why = `${from.href} leads on to another host, which was not followed because this conversation holds text from outside. Call fetch_url with that address itself; the user is then asked: ${to.href}`;
  return { type: "failed", why, outside: true };
}

function addressOf(typed: string, from: URL | null): URL {
  const url = URL.parse(typed, from ?? undefined);
  if (url === null) throw new Fault("not-possible", `${typed.slice(0, 200)} is no address; give it as https://….`);
  const judged = judgeFetch(url.href);
  // What was asked for has been vetted; what a stranger's answer leads to has not.
  if (judged.level === "forbidden" || (from !== null && judged.level !== "plain")) {
    const whose = from === null ? url.href : `${from.href} leads on to ${url.host}, which`;
    throw new Fault("not-possible", `${whose} is not fetched: ${judged.why}.`);
  }
  url.hash = "";
  return url;
}

/** What can be read as it is, beside pages. */
const isData =
  /^(?:text\/|application\/(?:xhtml|(?:[\w.-]+\+)?(?:json|xml)\b|(?:x-)?(?:javascript|yaml|toml|ndjson|sh)\b))/;

/** Nothing of the answer is told but as its text, which is marked: also an error page may try to give orders. */
async function readAnswer(answer: IncomingMessage, url: URL, limits: WebLimits): Promise<ToolResult> {
  const type = (answer.headers["content-type"] ?? "").trim().toLowerCase();
  const { bytes, cut } = await bodyOf(answer, limits.bytes);
  if (type === "" ? bytes.includes(0) : !isData.test(type)) {
    const size = `${cut ? "more than " : ""}${sizeText(bytes.length)}`;
    const kind = /^[\w.+-]{1,40}\/[\w.+-]{1,80}/.exec(type)?.[0] ?? "binary";
    return failed(`${url.href} is not text: ${kind}, ${size}. A command such as curl can save it as a file.`);
  }
  const whole = readable(textOf(bytes, type), type, url);
  const shown = whole.slice(0, limits.characters).toWellFormed();
  const output = [
    `${url.href}${answered(answer.statusCode ?? 0)}\n`,
    shown === "" ? "[it has no text]" : shown,
    ...(cut || shown.length < whole.length ? ["[the rest is left out: it is too long]"] : []),
  ];
  return { type: "ok", output: output.join("\n"), outside: true };
}

function answered(status: number): string {
  return status < 400 ? "" : ` answered with an error: ${status} ${STATUS_CODES[status] ?? ""}`.trimEnd();
}

function readable(text: string, type: string, url: URL): string {
  const isPage = type.includes("html") || (type === "" && /^\s*<(?:!doctype html|html)/i.test(text));
  if (!isPage) return text.trim();
  const page = readPage(text, url);
  return page.title === "" ? page.text : `# ${page.title}\n\n${page.text}`.trim();
}
