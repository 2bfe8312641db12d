// An empty conversation: what Everturn is for, and a few things to try that need no model and no network.

import { type ComponentChild, h } from "preact";
import type { App } from "../app.ts";
import { mark } from "./icons.ts";

const suggestions = [
  {
    text: "count to 30 slowly",
    about:
      "Streams thirty steps. Kill the gateway in the middle and start it again: the count goes on, and arrives once.",
  },
  {
    text: "run a slow tool",
    about: "Calls tools of every kind. Each call is on record before it runs, so that none is silently repeated.",
  },
  {
    text: "ask me",
    about: "Asks a question with choices. It waits through any restart, and remembers what it wanted to know.",
  },
  {
    text: "ask before you act",
    about: "Asks for your approval first. Answer now or next week, here or in a terminal: it is done exactly once.",
  },
] as const;

export function Welcome({ app }: { readonly app: App }): ComponentChild {
  return h(
    "section",
    { class: "welcome", "aria-labelledby": "welcome" },
    mark(),
    h("h2", { id: "welcome" }, "Every turn gets its answer."),
    h("p", {}, "Stop it, restart it, kill it: the conversation goes on where it was. The offline agent can show you."),
    h(
      "ul",
      {},
      suggestions.map(({ text, about }) =>
        h(
          "li",
          {},
          h(
            "button",
            { type: "button", class: "suggestion", onClick: () => app.out.send(text) },
            h("strong", {}, text),
            h("span", {}, about),
          ),
        ),
      ),
    ),
  );
}
