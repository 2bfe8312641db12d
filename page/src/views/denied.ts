// What is shown in a browser that is not signed in: why, how to get in, and nothing else.

import { type ComponentChild, h } from "preact";
import type { App } from "../app.ts";
import type { Denial } from "../net/credential.ts";
import { CodeBlock } from "./code.ts";
import { mark } from "./icons.ts";

const texts: { readonly [why in Denial]: readonly [title: string, reason: string] } = {
  "no-link": ["Open this page with a link.", "This browser is not signed in yet."],
  "signed-out": ["This browser was signed out.", "To use it again, it needs a new link."],
  "used-link": ["This link no longer works.", "A link works once, within 10 minutes."],
  "old-link": ["This bookmark is out of date.", "Addresses with a token are no longer accepted."],
};

export function Denied({ app, why }: { readonly app: App; readonly why: Denial }): ComponentChild {
  const [title, reason] = texts[why];
  return h(
    "main",
    { class: "denied" },
    mark(),
    h("h1", {}, title),
    h("p", {}, `${reason} Run this where the gateway runs, then open the link in this browser:`),
    h(CodeBlock, { text: "everturn link", language: "terminal" }),
    h("p", { class: "aside" }, "What you wrote is kept in this browser until then."),
    h("button", { type: "button", class: "pill", onClick: () => app.retry() }, "Try again"),
  );
}
