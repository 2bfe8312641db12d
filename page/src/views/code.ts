// A block of code: its language, a button that copies it, and its own horizontal scroll.

import { type ComponentChild, h } from "preact";
import { useState } from "preact/hooks";
import { check, copy } from "./icons.ts";

export function CodeBlock({ text, language }: { readonly text: string; readonly language: string }): ComponentChild {
  return h(
    "figure",
    { class: "code" },
    h("figcaption", {}, h("span", {}, language), h(CopyButton, { text, label: "Copy" })),
    // A region that scrolls by itself must be reachable by keyboard.
    h("pre", { tabIndex: 0, dir: "ltr" }, h("code", {}, text)),
  );
}

export function CopyButton({ text, label }: { readonly text: string; readonly label: string }): ComponentChild {
  const [copied, setCopied] = useState(false);
  const act = async () => {
    setCopied(await toClipboard(text));
    setTimeout(() => setCopied(false), 1_600);
  };
  return h(
    "button",
    { type: "button", class: "quiet copy", "aria-label": copied ? "Copied" : label, onClick: () => void act() },
    copied ? check() : copy(),
    h("span", {}, copied ? "Copied" : "Copy"),
  );
}

/** The modern way exists only on secure or local addresses; the old one works elsewhere. */
async function toClipboard(text: string): Promise<boolean> {
  try {
    if (navigator.clipboard !== undefined) {
      await navigator.clipboard.writeText(text);
      return true;
    }
  } catch (error) {
    console.debug("The clipboard refused; trying by selection.", error);
  }
  const field = document.createElement("textarea");
  field.value = text;
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  return done;
}
