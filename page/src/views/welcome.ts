// An empty conversation: what Everturn is for, and a few things to try; those of the offline agent need no model and no
// network.

import { type ComponentChild, h } from "preact";
import type { App } from "../app.ts";
import { mark } from "./icons.ts";

type Suggestion = { readonly text: string; readonly about: string };

const online: readonly Suggestion[] = [
  { text: "What can you do here?", about: "Which tools it has, where it works, and what it will ask you about first." },
  {
    text: "Look around in your workspace and tell me what is there.",
    about: "Works in its workspace by itself; anything beyond that waits for your word.",
  },
  {
    text: "Remind me in 10 minutes to stretch.",
    about: "Kept where the conversation is kept: a restart does not forget it.",
  },
  {
    text: "Write a haiku about persistence into a file and send it to me.",
    about: "Files go both ways: attach yours with the button, by dropping or by pasting them.",
  },
];

const offline: readonly Suggestion[] = [
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
];

export function Welcome({ app }: { readonly app: App }): ComponentChild {
  const isOffline = app.talk.feed.value.offline;
  return h(
    "section",
    { class: "welcome", "aria-labelledby": "welcome" },
    mark(),
    h("h2", { id: "welcome" }, "Every turn gets its answer."),
    h(
      "p",
      {},
      "Stop it, restart it, kill it: the conversation goes on where it was.",
      isOffline ? " The offline agent can show you." : "",
    ),
    h(
      "ul",
      {},
      (isOffline ? offline : online).map(({ text, about }) =>
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
