// The strangers at the side of the page, each with what is known of them and two buttons. Nothing is drawn while nobody waits.

import { type ComponentChild, h } from "preact";
import type { App } from "../app.ts";
import type { Choice, Stranger } from "./people.ts";

export function Strangers({ app }: { readonly app: App }): ComponentChild {
  const { waiting, trouble } = app.people;
  const { length: count } = waiting.value;
  if (count === 0) return null;
  return h(
    "section",
    { class: "strangers", "aria-label": "People who ask to be let in" },
    h("h2", {}, count === 1 ? "Asking to be let in" : `${count} are asking to be let in`),
    // Before the buttons, because it is worth nothing after a press.
    h(
      "p",
      { class: "hint" },
      "Anybody can choose a name. To be certain, ask for their code and send /pair approve with it.",
    ),
    h("p", { class: "standing", role: "status" }, trouble.value),
    h(
      "div",
      { class: "waiting" },
      waiting.value.map((one) => h(Card, { key: one.id, app, one })),
    ),
  );
}

function Card({ app, one }: { readonly app: App; readonly one: Stranger }): ComponentChild {
  const button = (choice: Choice, words: string, title: string) =>
    h(
      "button",
      {
        type: "button",
        class: `pill ${choice}`,
        title,
        disabled: app.people.pressed.value.has(one.id),
        "aria-label": `${words}: ${one.name}`,
        onClick: () => void app.people.decide(one.id, choice),
      },
      words,
    );
  return h(
    "article",
    { class: "approval open", "aria-label": `${one.name} at ${one.platform}` },
    h("p", { class: "name", dir: "auto", title: one.name }, one.name),
    h("p", { class: "hint" }, h("bdi", {}, one.sender), ` at ${one.platform}`),
    h(
      "div",
      { class: "choices", role: "group" },
      button("approve", "Let in", "They may write from now on, and are told so"),
      button("deny", "Turn down", "They hear nothing, and cannot ask again for a while"),
    ),
  );
}
