// The words of a message: markdown for ours, as typed for the user's. Long texts are folded, very long ones drawn
// in pieces that the browser lays out only when they come into view.

import { type ComponentChild, h } from "preact";
import { useMemo, useState } from "preact/hooks";
import { markdown, plain } from "../markdown.ts";
import {
  foldAnswersOver,
  foldTypedOver,
  formattedMax,
  piecesOf,
  previewOf,
  splitPreview,
  type ToolLine,
} from "../pieces.ts";
import { CodeBlock } from "./code.ts";
import { sizeOf } from "./words.ts";

type BodyProps = { readonly text: string; readonly formatted: boolean };

export function Body({ text, formatted }: BodyProps): ComponentChild {
  const [all, setAll] = useState(false);
  const foldOver = formatted ? foldAnswersOver : foldTypedOver;
  const long = text.length > foldOver;
  const shown = useMemo(() => (long && !all ? previewOf(text, foldOver) : text), [text, long, all, foldOver]);
  return h(
    "div",
    { class: "body" },
    h(Pieces, { text: shown, formatted: formatted && shown.length <= formattedMax }),
    long &&
      h(
        "p",
        { class: "fold" },
        h(
          "button",
          { type: "button", class: "pill", "aria-expanded": all, onClick: () => setAll(!all) },
          all ? "Show less" : `Show all, ${sizeOf(text.length)}`,
        ),
      ),
  );
}

/** The answer so far. Of a very long one only the end is interesting while it grows. */
export function Growing({ text }: { readonly text: string }): ComponentChild {
  const { words, tools } = splitPreview(text);
  const isLong = words.length > foldAnswersOver;
  return h(
    "div",
    { class: "body" },
    isLong ? plain(`…${words.slice(-4_000)}`) : words !== "" && h(Pieces, { text: words, formatted: true }),
    tools.length > 0 &&
      h(
        "ul",
        { class: "tools", "aria-label": "What is done" },
        tools.map((one) => toolLine(one)),
      ),
  );
}

/** One quiet line; `more` stands at its end. What has ended steps back. */
export function toolLine({ mark, name, input, told }: ToolLine, more = ""): ComponentChild {
  return h(
    "li",
    { class: mark === "" ? "" : mark === "✗" ? "ended failed" : "ended" },
    h(
      "code",
      { title: input === "" ? undefined : input },
      h("span", { class: "how" }, mark === "" ? "…" : mark),
      name !== "" && h("b", {}, name),
      input === "" ? "" : ` ${input}`,
    ),
    more !== "" && h("span", { class: "took" }, more),
    told !== "" && h("code", { class: "told" }, told),
  );
}

function Pieces({ text, formatted }: BodyProps): ComponentChild {
  const pieces = useMemo(() => piecesOf(text), [text]);
  const lazy = pieces.length > 3 ? "piece lazy" : "piece";
  return h(
    "div",
    {},
    pieces.map((piece, i) => h("div", { class: lazy, key: i }, h(Piece, { text: piece, formatted }))),
  );
}

/** The same words give the same nodes, so that drawing the page again costs nothing for them. */
function Piece({ text, formatted }: BodyProps): ComponentChild {
  return useMemo(() => h("div", {}, formatted ? markdown(text, codeBlock) : plain(text)), [text, formatted]);
}

function codeBlock(text: string, language: string): ComponentChild {
  return h(CodeBlock, { text, language });
}
