// An approval: what would be done and why, and the few answers there are. It keeps its place and size when it is answered.

import { type ComponentChild, h } from "preact";
import type { App } from "../app.ts";
import type { Question } from "../net/wire.ts";
import { Body } from "../views/body.ts";
import { cardText, type Standing } from "./fates.ts";

const labels: Readonly<Record<string, string>> = { approve: "Approve", always: "Always allow", deny: "Deny" };
const hints: Readonly<Record<string, string>> = {
  approve: "Do it, this once",
  always: "Do it, and from now on whatever is said above without asking; everturn approvals rules lists it",
  deny: "Do not do it",
};

type CardProps = {
  readonly app: App;
  readonly text: string;
  readonly question: Question;
  readonly standing: Standing;
};

export function ApprovalCard({ app, text, question, standing }: CardProps): ComponentChild {
  const { open, chosen, words } = standing;
  return h(
    "section",
    { class: open ? "approval open" : "approval", "aria-label": open ? "Approval wanted" : "Approval" },
    h(Body, { text: cardText(text), formatted: true }),
    h(
      "div",
      { class: "choices", role: "group", "aria-label": open ? "Choose an answer" : "Answered" },
      question.choices.map((choice) =>
        h(
          "button",
          {
            type: "button",
            key: choice,
            class: `pill ${choice === "approve" || choice === "deny" ? choice : ""}${choice === chosen ? " chosen" : ""}`,
            disabled: !open,
            title: hints[choice],
            "aria-pressed": choice === chosen,
            onClick: () => app.out.answer(question.id, choice),
          },
          labels[choice] ?? choice,
        ),
      ),
      h("span", { class: "standing", role: "status" }, words),
    ),
  );
}
