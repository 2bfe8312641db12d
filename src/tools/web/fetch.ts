// fetch_url: a page, a document of data or a text from the web, as text. Everything about it is somebody else's: it is marked
// as written outside, its redirects are judged like the address itself, and size, time and hops have limits.

import type http from "node:http";
import * as v from "valibot";
import { Fault } from "../../core/fault.ts";
import type { ToolResult } from "../../core/journal.ts";
import type { Tool } from "../../ports/tool.ts";
import { type Policy, judgeFetch, verdictOf } from "../danger/index.ts";
import { define, failed } from "../define.ts";
import { sizeText } from "../files/content.ts";
import { digest } from "../files/room.ts";
import { words } from "../input.ts";
import { bodyOf, textOf } from "./body.ts";
import { type Connecting, reasonOf, request } from "./connect.ts";
import { readPage } from "./page.ts";

export type Web = {
  readonly allowPrivate: boolean;
  readonly approvals: Policy;
  readonly limits?: WebLimits;
  readonly resolve?: NonNullable<Connecting["resolve"]>;
};
export type WebLimits = {
  readonly ms: number;
  readonly bytes: number;
  readonly hops: number;
  readonly characters: number;
};

const usual: WebLimits = { ms: 30_000, bytes: 5_000_000, hops: 5, characters: 200_000 };

export function fetchUrlTool(web: Web): Tool {
  const limits = web.limits ?? usual;
  return define({
    name: "fetch_url",
    description: "Fetches a public http(s) address and gives its text; pages come as text with links.",
    effect: "pure",
    timeoutMs: limits.ms + 10_000,
    face: { properties: { url: { type: "string" } }, required: ["url"] },
    schema: v.strictObject({ url: words(8_000) }),
    async vet({ url }, { outside }) {
      return verdictOf({
        policy: web.approvals,
        judgement: judgeFetch(url.trim()),
        effect: "pure",
        outside,
        what: `fetch_url ${url.trim()}`,
        subject: `fetch ${URL.canParse(url) ? new URL(url).host : url}`,
        bound: digest(["fetch_url", url]),
      });
    },
    async run({ url }, { signal }) {
      const late = AbortSignal.timeout(limits.ms);
      try {
        return await fetched(web, limits, url.trim(), AbortSignal.any([signal, late]));
      } catch (error) {
        signal.throwIfAborted();
        if (late.aborted) return failed(`${url} took longer than ${limits.ms / 1000} seconds.`);
        if (error instanceof Fault) throw error;
        return failed(`${url} could not be fetched: ${reasonOf(error)}.`);
      }
    },
  });
}

async function fetched(web: Web, limits: WebLimits, typed: string, signal: AbortSignal): Promise<ToolResult> {
  let url = addressOf(typed, null);
  for (let hop = 0; hop <= limits.hops; hop++) {
    const answer = await request(url, { ...web, signal });
    const to = answer.headers.location;
    const status = answer.statusCode ?? 0;
    if (![301, 302, 303, 307, 308].includes(status) || to === undefined) return readAnswer(answer, url, limits);
    answer.destroy();
    url = addressOf(to, url);
  }
  return failed(`${typed} leads on more than ${limits.hops} times; the last was to ${url.href}.`);
}

function addressOf(typed: string, from: URL | null): URL {
  const url = URL.parse(typed, from ?? undefined);
  if (url === null) throw new Fault("not-possible", `${typed.slice(0, 200)} is no address; give it as https://….`);
  const judged = judgeFetch(url.href);
  // What was asked for has been vetted; what a stranger's answer leads to has not.
  if (judged.level === "forbidden" || (from !== null && judged.level !== "plain")) {
    const whose = from === null ? url.href : `${from.href} leads to ${url.href}, which`;
    throw new Fault("not-possible", `${whose} is not fetched: ${judged.why}.`);
  }
  url.hash = "";
  return url;
}

async function readAnswer(answer: http.IncomingMessage, url: URL, limits: WebLimits): Promise<ToolResult> {
  const status = answer.statusCode ?? 0;
  const type = (answer.headers["content-type"] ?? "").toLowerCase();
  const isText =
    /^(?:text\/|application\/(?:[\w.+-]*\+)?(?:json|xml|javascript|yaml|x-yaml|toml|x-ndjson|ld\+json)|application\/xhtml)/.test(
      type,
    );
  const { bytes, cut } = await bodyOf(answer, limits.bytes);
  if (!isText && (type !== "" || bytes.includes(0))) {
    const size = `${cut ? "more than " : ""}${sizeText(bytes.length)}`;
    return failed(
      `${url.href} is not text: ${type === "" ? "binary" : type.slice(0, 100)}, ${size}. A command such as curl can save it as a file.`,
    );
  }
  const text = textOf(bytes, type);
  const isPage = /html/.test(type) || (type === "" && /^\s*<(?:!doctype html|html)/i.test(text));
  const page = isPage ? readPage(text, url) : { title: "", text: text.trim() };
  const whole = [page.title === "" ? "" : `# ${page.title}\n\n`, page.text].join("");
  const shown = whole.slice(0, limits.characters).toWellFormed();
  const notes = [cut || shown.length < whole.length ? "[the rest is left out: it is too long]" : ""].filter(Boolean);
  const body = [shown === "" ? "[it has no text]" : shown, ...notes].join("\n");
  if (status >= 400)
    return failed(
      `${url.href} answered ${status} ${answer.statusMessage ?? ""}:\n${body.slice(0, 1_000).toWellFormed()}`,
    );
  return { type: "ok", output: `${url.href}\n\n${body}`, outside: true };
}
