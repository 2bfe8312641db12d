// Where the user writes. Enter sends, Shift+Enter makes a line; text that is being composed by an input method is
// left alone. What was refused stands above, with its reason, and its text is back in the field.

import { type ComponentChild, h, type RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { App } from "../app.ts";
import { Chips } from "../files/views.ts";
import { arrowUp, clip, close, square } from "./icons.ts";
import { directionOf, sizeOf } from "./words.ts";

/** Longer texts are laid out by browsers so slowly that every key would take seconds. */
const fieldMax = 50_000;

export function Composer({ app }: { readonly app: App }): ComponentChild {
  const { out, talk } = app;
  const text = out.composer.value;
  const field = useRef<HTMLElement>(null);
  const [anyway, setAnyway] = useState(false);
  const attached = app.files.list.value.map((one) => one.state.type);
  const ready = (text.trim() !== "" || attached.includes("ready")) && !attached.includes("sending");
  const held = text.length > fieldMax && !anyway;
  const working = app.working.value && talk.link.value.phase !== "away";

  // What is in the field now, not what it was when it was drawn last: Enter may come before the next drawing.
  const send = () => {
    const written = out.composer.value;
    const states = app.files.list.value.map((one) => one.state.type);
    if (states.includes("sending") || (written.trim() === "" && !states.includes("ready"))) return;
    out.send(wordsOf(written), app.files.take());
    out.write("");
    setAnyway(false);
  };
  useFocus(field, `${talk.chat.value} ${out.count.value} ${held}`);
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
    h(Chips, { app }),
    h(
      "div",
      { class: "field" },
      h(AttachButton, { app }),
      held ? h(Held, { app, field, send, edit: () => setAnyway(true) }) : h(Field, { app, field, send }),
      working && h(StopButton, { app }),
      // In its place while there is nothing to send, so that nothing moves.
      (ready || !working) &&
        h("button", { type: "submit", class: "send", disabled: !ready, "aria-label": "Send" }, arrowUp()),
    ),
    h(Foot, { app }),
  );
}

function AttachButton({ app }: { readonly app: App }): ComponentChild {
  const input = useRef<HTMLInputElement>(null);
  return [
    h("input", {
      ref: input,
      type: "file",
      multiple: true,
      class: "sr",
      tabIndex: -1,
      "aria-hidden": "true",
      onChange: (event: Event) => {
        const box = event.currentTarget as HTMLInputElement;
        app.files.add([...(box.files ?? [])]);
        // The same file may be chosen again.
        box.value = "";
      },
    }),
    h(
      "button",
      {
        type: "button",
        class: "quiet attach",
        "aria-label": "Attach files",
        title: "Attach files; they can also be dropped or pasted",
        onClick: () => input.current?.click(),
      },
      clip(),
    ),
  ];
}

function StopButton({ app }: { readonly app: App }): ComponentChild {
  const stop = () => app.out.send("/stop");
  const words = { "aria-label": "Stop", title: "Stop what it is doing" };
  return h("button", { type: "button", class: "send stop", ...words, onClick: stop }, square());
}

function Foot({ app }: { readonly app: App }): ComponentChild {
  return h(
    "div",
    { class: "foot" },
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
    app.used.value !== "" &&
      h("p", { class: "used", title: "The model of this conversation, and what it has used" }, app.used.value),
  );
}

type FieldProps = { readonly app: App; readonly field: RefObject<HTMLElement | null>; readonly send: () => void };

function Field({ app, field, send }: FieldProps): ComponentChild {
  const { out, talk } = app;
  const text = out.composer.value;
  const away = talk.link.value.phase === "away";
  useGrowth(field, text);
  return [
    h("label", { class: "sr", for: "words" }, "Message"),
    h("textarea", {
      id: "words",
      ref: field as RefObject<HTMLTextAreaElement | null>,
      rows: 1,
      dir: directionOf(text),
      value: text,
      placeholder: away ? "Write; it is sent when the gateway is back" : "Message Everturn",
      autocomplete: "off",
      enterkeyhint: "send",
      "aria-describedby": "keys",
      onInput: (event: Event) => out.write((event.currentTarget as HTMLTextAreaElement).value),
      onPaste: (event: ClipboardEvent) => {
        const files = [...(event.clipboardData?.files ?? [])];
        if (files.length > 0) {
          // Some programs put a picture and its words on the clipboard; the picture is meant.
          event.preventDefault();
          app.files.add(files);
          return;
        }
        // Taken over before the field would have to lay it out.
        const pasted = event.clipboardData?.getData("text/plain") ?? "";
        if (pasted.length <= fieldMax) return;
        event.preventDefault();
        const { selectionStart, selectionEnd } = event.currentTarget as HTMLTextAreaElement;
        out.write(text.slice(0, selectionStart) + pasted + text.slice(selectionEnd));
      },
      onKeyDown: (event: KeyboardEvent) => {
        if (event.key !== "Enter" || event.shiftKey || isComposing(event)) return;
        event.preventDefault();
        send();
      },
    }),
  ];
}

/** A text too long for a field: its beginning, its size, and what can be done with it. */
function Held({ app, field, send, edit }: FieldProps & { readonly edit: () => void }): ComponentChild {
  const text = app.out.composer.value;
  return h(
    "div",
    {
      id: "words",
      class: "held-text",
      ref: field as RefObject<HTMLDivElement | null>,
      tabIndex: 0,
      role: "group",
      "aria-label": `A long message of ${sizeOf(text.length)}, not sent yet`,
      onKeyDown: (event: KeyboardEvent) => {
        if (event.key !== "Enter" || event.target !== event.currentTarget) return;
        event.preventDefault();
        send();
      },
    },
    h("p", { class: "beginning", dir: "auto" }, text.slice(0, 400)),
    h(
      "p",
      { class: "facts" },
      h("span", {}, sizeOf(text.length)),
      h("button", { type: "button", class: "quiet", onClick: edit }, "Edit"),
      h("button", { type: "button", class: "quiet", onClick: () => app.out.write("") }, "Remove"),
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
function useGrowth(field: RefObject<HTMLElement | null>, text: string): void {
  useLayoutEffect(() => {
    const box = field.current;
    if (box === null || CSS.supports("field-sizing", "content")) return;
    box.style.height = "auto";
    box.style.height = `${box.scrollHeight}px`;
  }, [text]);
}

/** Ready to write again after each step; a touch screen would throw its keyboard up instead. */
function useFocus(field: RefObject<HTMLElement | null>, step: string): void {
  useEffect(() => {
    if (!matchMedia("(pointer: coarse)").matches) field.current?.focus();
  }, [step]);
}
