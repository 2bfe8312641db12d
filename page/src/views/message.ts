// One message of the timeline, with its time, its state, and the choices of a question.

import { type ComponentChild, h } from "preact";
import { useMemo } from "preact/hooks";
import type { App } from "../app.ts";
import { ApprovalCard } from "../asked/card.ts";
import { standingOf } from "../asked/fates.ts";
import { FilesView } from "../files/views.ts";
import type { Message } from "../net/wire.ts";
import type { Unsent } from "../outgoing.ts";
import { Body } from "./body.ts";
import { CopyButton } from "./code.ts";
import { check, clock } from "./icons.ts";
import { fullTime, timeOfDay } from "./words.ts";

type MessageProps = {
  readonly app: App;
  readonly message: Message;
  /** Its question still wants an answer. */
  readonly open: boolean;
  /** What was chosen, where that is known. */
  readonly chosen: string | null;
};

export function MessageView({ app, message, open, chosen }: MessageProps): ComponentChild {
  return useMemo(() => draw({ app, message, open, chosen }), [app, message, open, chosen]);
}

function draw({ app, message, open, chosen }: MessageProps): ComponentChild {
  const { role, text, question, files } = message;
  const who = { user: "You", assistant: "Everturn", notice: "Notice" }[role];
  return h(
    "article",
    { class: `message ${role}`, "aria-label": who, "data-n": message.n },
    question?.approval === true
      ? h(Approval, { app, text, question })
      : text !== "" && h("div", { class: "bubble" }, h(Body, { text, formatted: role !== "user" })),
    files !== undefined && h(FilesView, { app, files }),
    question?.approval === false && h(Choices, { app, question, open, chosen }),
    h(
      "footer",
      {},
      h("time", { dateTime: new Date(message.at).toISOString(), title: fullTime(message.at) }, timeOfDay(message.at)),
      role === "user" && h("span", { class: "state stored", title: "Stored by the gateway" }, check(), sr("Stored")),
      role === "assistant" && h(CopyButton, { text, label: "Copy this answer" }),
    ),
  );
}

/** Reads the signals itself, so that only the card is drawn again when something became of it. */
function Approval({ app, text, question }: Pick<ChoicesProps, "app" | "question"> & { readonly text: string }) {
  const given = app.out.unsent.value.find((one) => one.message.answer?.question === question.id)?.message.text;
  return h(ApprovalCard, { app, text, question, standing: standingOf(app.fates.known.value.get(question.id), given) });
}

type ChoicesProps = Pick<MessageProps, "app" | "open" | "chosen"> & {
  readonly question: NonNullable<Message["question"]>;
};

function Choices({ app, question, open, chosen }: ChoicesProps): ComponentChild {
  return h(
    "div",
    { class: "choices", role: "group", "aria-label": open ? "Choose an answer" : "Answered" },
    question.choices.map((choice) =>
      h(
        "button",
        {
          type: "button",
          class: choice === chosen ? "pill chosen" : "pill",
          disabled: !open,
          dir: "auto",
          "aria-pressed": choice === chosen,
          onClick: () => app.out.answer(question.id, choice),
        },
        choice,
      ),
    ),
  );
}

type UnsentProps = { readonly app: App; readonly unsent: Unsent; readonly away: boolean };

/** A message that is on its way. It is drawn where it will stand. */
export function UnsentView({ app, unsent, away }: UnsentProps): ComponentChild {
  const { message, state } = unsent;
  const [icon, words, kind]: [ComponentChild, string, string] =
    state === "stored"
      ? [check(), "Stored", "stored"]
      : away
        ? [clock(), "Waiting for the gateway. Kept in this browser.", "waiting"]
        : [clock(), "Waiting…", "soon"];
  return h(
    "article",
    { class: `message user unsent ${state}`, "aria-label": "You" },
    message.text !== "" && h("div", { class: "bubble" }, h(Body, { text: message.text, formatted: false })),
    message.files !== undefined && h(FilesView, { app, files: message.files }),
    h("footer", {}, h("span", { class: `state ${kind}` }, icon, h("span", {}, words))),
  );
}

/** Words for those who listen to the page. */
export function sr(words: string): ComponentChild {
  return h("span", { class: "sr" }, words);
}
