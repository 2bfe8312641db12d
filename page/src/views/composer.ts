// Where the user writes. Enter sends, Shift+Enter makes a line; text that is being composed by an input method is
// left alone. What was refused stands above, with its reason, and its text is back in the field.

import { type ComponentChild, h } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { App } from "../app.ts";
import { arrowUp, close } from "./icons.ts";

export function Composer({ app }: { readonly app: App }): ComponentChild {
  const { out, talk } = app;
  const text = out.composer.value;
  const away = talk.link.value.phase === "away";
  const field = useRef<HTMLTextAreaElement>(null);
  const ready = text.trim() !== "";

  const send = () => {
    if (!ready) return;
    out.send(wordsOf(text));
    out.write("");
    field.current?.focus();
  };
  useGrowth(field, text);
  useFocus(field, `${talk.chat.value} ${out.count.value}`);
  return h(
    "form",
    {
      class: "composer",
      onSubmit: (event: Event) => {
        event.preventDefault();
        send();
      },
    },
    h(RefusalNote, { app }),
    h(
      "div",
      { class: "field" },
      h("label", { class: "sr", for: "words" }, "Message"),
      h("textarea", {
        id: "words",
        ref: field,
        rows: 1,
        dir: "auto",
        value: text,
        placeholder: away ? "Write; it is sent when the gateway is back" : "Message Everturn",
        autocomplete: "off",
        enterkeyhint: "send",
        "aria-describedby": "keys",
        onInput: (event: Event) => out.write((event.currentTarget as HTMLTextAreaElement).value),
        onKeyDown: (event: KeyboardEvent) => {
          if (event.key !== "Enter" || event.shiftKey || isComposing(event)) return;
          event.preventDefault();
          send();
        },
      }),
      h("button", { type: "submit", class: "send", disabled: !ready, "aria-label": "Send" }, arrowUp()),
    ),
    h(
      "p",
      { class: "keys", id: "keys" },
      h("kbd", {}, "Enter"),
      " sends, ",
      h("kbd", {}, "Shift"),
      " ",
      h("kbd", {}, "Enter"),
      " makes a new line. Unsent text is kept.",
    ),
  );
}

function RefusalNote({ app }: { readonly app: App }): ComponentChild {
  const refusal = app.out.refusal.value;
  if (refusal === null || refusal.chat !== app.talk.chat.value) return null;
  return h(
    "div",
    { class: "refusal", role: "alert" },
    h(
      "p",
      {},
      h("strong", {}, "Not sent. "),
      refusal.reason,
      app.out.composer.value === "" ? "" : " Your text is back below.",
    ),
    h("button", { type: "button", class: "quiet", "aria-label": "Dismiss", onClick: () => app.out.dismiss() }, close()),
  );
}

/** Safari ends the composition before the key that ended it; there only the old code tells. */
function isComposing(event: KeyboardEvent): boolean {
  return event.isComposing || event.keyCode === 229;
}

/** Without empty lines around it; the indentation of its first line may mean something. */
export function wordsOf(text: string): string {
  return text.trimEnd().replace(/^(?:[ \t]*\r?\n)+/, "");
}

/** Browsers that know `field-sizing` do it by themselves. */
function useGrowth(field: { readonly current: HTMLTextAreaElement | null }, text: string): void {
  useLayoutEffect(() => {
    const box = field.current;
    if (box === null || CSS.supports("field-sizing", "content")) return;
    box.style.height = "auto";
    box.style.height = `${box.scrollHeight}px`;
  }, [text]);
}

/** Ready to write again after each step; a touch screen would throw its keyboard up instead. */
function useFocus(field: { readonly current: HTMLTextAreaElement | null }, step: string): void {
  useEffect(() => {
    if (!matchMedia("(pointer: coarse)").matches) field.current?.focus();
  }, [step]);
}
