// What somebody sees whom the gateway does not know: how to get in, and nothing else.

import { type ComponentChild, h } from "preact";
import type { App } from "../app.ts";
import { CodeBlock } from "./code.ts";
import { mark } from "./icons.ts";

export function Denied({ app }: { readonly app: App }): ComponentChild {
  return h(
    "main",
    { class: "denied" },
    mark(),
    h("h1", {}, "This page needs its access link."),
    h("p", {}, "Run this where the gateway runs to see the link, then open it in this browser:"),
    h(CodeBlock, { text: "everturn gateway status", language: "terminal" }),
    h("p", { class: "aside" }, "What you wrote is kept in this browser until then."),
    h("button", { type: "button", class: "pill", onClick: () => app.retry() }, "Try again"),
  );
}
