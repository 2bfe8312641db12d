// One message of the timeline, with its time, its state, and the choices of a question.

import { type ComponentChild, h } from "preact";
import { useMemo } from "preact/hooks";
import type { App } from "../app.ts";
import { ApprovalCard } from "../asked/card.ts";
import { choiceStanding, standingOf } from "../asked/fates.ts";
import { pressedWords } from "../asked/given.ts";
import { FilesView } from "../files/views.ts";
import type { Message } from "../net/wire.ts";
import type { Unsent } from "../outgoing.ts";
import { Ending } from "../steps/view.ts";
import { Body } from "./body.ts";
import { CopyButton } from "./code.ts";
import { check, clock } from "./icons.ts";
import { fullTime, timeOfDay } from "./words.ts";

type MessageProps = {
  readonly app: App;
  readonly message: Message;
  /** Nothing is said in its turn after it. */
  readonly ends: boolean;
  /** Its question is the one that whatever is said next will answer. */
  readonly newest: boolean;
  /** What was said to it. */
  readonly said?: string | undefined;
};

export function MessageView({ app, message, ends, newest, said }: MessageProps): ComponentChild {
  return useMemo(() => draw({ app, message, ends, newest, said }), [app, message, ends, newest, said]);
}

function draw({ app, message, ends, newest, said }: MessageProps): ComponentChild {
  const { role, text, question, files } = message;
  const who = { user: "You", assistant: "Everturn", notice: "Notice" }[role];
  return h(
    "article",
    { class: `message ${role}`, "aria-label": who, "data-n": message.n },
    question?.approval === true
      ? h(Approval, { app, text, question })
      : text !== "" && h("div", { class: "bubble" }, h(Body, { text, formatted: role !== "user" })),
    files !== undefined && h(FilesView, { app, files }),
    question?.approval === false && h(Choices, { app, question, newest, said }),
    footerOf(app, message, ends && question === undefined),
  );
}

function footerOf(app: App, { role, text, at, turn }: Message, ends: boolean): ComponentChild {
  const stored = h("span", { class: "state stored", title: "Stored by the gateway" }, check(), sr("Stored"));
  if (role !== "assistant") return h("footer", {}, time(at), role === "user" && stored);
  const copy = h(CopyButton, { text, label: "Copy this answer" });
  if (!ends || turn === undefined) return h("footer", {}, time(at), copy);
  return h(Ending, { app, turn, before: time(at), after: copy });
}

function time(at: number): ComponentChild {
  return h("time", { dateTime: new Date(at).toISOString(), title: fullTime(at) }, timeOfDay(at));
}

/** An answer that was pressed: the card above says what it was about. */
export function GivenView({ words, at }: { readonly words: string; readonly at: number }): ComponentChild {
  return h(
    "article",
    { class: "message user given", "aria-label": "You" },
    h("p", {}, check(), h("span", {}, words)),
    h("footer", {}, time(at)),
  );
}

/** Reads the signals itself, so that only the card is drawn again when something became of it. */
function Approval({ app, text, question }: Pick<ChoicesProps, "app" | "question"> & { readonly text: string }) {
  const given = app.out.unsent.value.find((one) => one.message.answer?.question === question.id)?.message.text;
  return h(ApprovalCard, { app, text, question, standing: standingOf(app.fates.known.value.get(question.id), given) });
}

type ChoicesProps = Pick<MessageProps, "app" | "newest" | "said"> & {
  readonly question: NonNullable<Message["question"]>;
};

/** Like an approval it reads the signals itself. */
function Choices({ app, question, newest, said }: ChoicesProps): ComponentChild {
  const given = app.out.unsent.value.find((one) => one.message.answer?.question === question.id)?.message.text;
  const { open, chosen, words } = choiceStanding(
    question.choices,
    app.fates.known.value.get(question.id),
    given ?? said,
    newest,
  );
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
    h("span", { class: "standing", role: "status" }, words),
  );
}

type UnsentProps = { readonly app: App; readonly unsent: Unsent; readonly away: boolean };

/** A message that is on its way. It is drawn where it will stand. */
export function UnsentView({ app, unsent, away }: UnsentProps): ComponentChild {
  const { message, state } = unsent;
  const { answer } = message;
  const pressed = answer && pressedWords(answer.question, answer.choice, app.talk.feed.value.messages);
  const [icon, words, kind]: [ComponentChild, string, string] =
    state === "stored"
      ? [check(), "Stored", "stored"]
      : away
        ? [clock(), "Waiting for the gateway. Kept in this browser.", "waiting"]
        : [clock(), "Waiting…", "soon"];
  return h(
    "article",
    { class: `message user unsent ${state}${pressed ? " given" : ""}`, "aria-label": "You" },
    pressed && h("p", {}, check(), h("span", {}, pressed)),
    !pressed && message.text !== "" && h("div", { class: "bubble" }, h(Body, { text: message.text, formatted: false })),
    message.files !== undefined && h(FilesView, { app, files: message.files }),
    h("footer", {}, h("span", { class: `state ${kind}` }, icon, h("span", {}, words))),
  );
}

/** Words for those who listen to the page. */
export function sr(words: string): ComponentChild {
  return h("span", { class: "sr" }, words);
}
