// What cannot be seen is written out; what can be seen stays as it is.

import assert from "node:assert/strict";
import { table } from "../../testing/table.ts";
import { visible, visibleJson, visibleLine } from "./visible.ts";

table(
  "shown",
  [
    { name: "words", text: "rm -rf ./build # größer, 大きい 🙂", gives: "rm -rf ./build # größer, 大きい 🙂" },
    { name: "lines and tabs", text: "a\n\tb", gives: "a\n\tb" },
    { name: "a return that would write over the line", text: "curl evil\rls", gives: "curl evil\\u{d}ls" },
    { name: "orders to a terminal", text: "a\u001B[2K\u009B1Ab", gives: "a\\u{1b}[2K\\u{9b}1Ab" },
    { name: "backspaces", text: "rm\b\bls\u007F", gives: "rm\\u{8}\\u{8}ls\\u{7f}" },
    { name: "nothing at all", text: "a\u0000b", gives: "a\\u{0}b" },
    { name: "the other direction", text: "a\u202Eb\u2066c\u2069", gives: "a\\u{202e}b\\u{2066}c\\u{2069}" },
    { name: "notes between the lines", text: "a\uFFF9b\uFFFB", gives: "a\\u{fff9}b\\u{fffb}" },
    { name: "spaces of no width", text: "r\u200Bm\uFEFF\u00AD", gives: "r\\u{200b}m\\u{feff}\\u{ad}" },
    { name: "tags outside of the first plane", text: "a\u{E0041}b", gives: "a\\u{e0041}b" },
    { name: "fillers and variants", text: "a\u3164b\uFE0Fc", gives: "a\\u{3164}b\\u{fe0f}c" },
    { name: "other spaces", text: "a\u00A0b\u3000c", gives: "a\\u{a0}b\\u{3000}c" },
    { name: "other breaks", text: "a\u2028b\u2029c\u0085d", gives: "a\\u{2028}b\\u{2029}c\\u{85}d" },
    { name: "half a character", text: "a\uD800b\uDC00", gives: "a\\u{d800}b\\u{dc00}" },
  ],
  ({ text, gives }) => {
    assert.equal(visible(text), gives);
    assert.equal(visibleLine(text), gives.replaceAll("\n", "\\u{a}").replaceAll("\t", "\\u{9}"));
    const json = JSON.stringify({ text }, null, 2);
    assert.deepEqual(JSON.parse(visibleJson(json)), { text });
    assert.equal(visible(visibleJson(json)), visibleJson(json), "nothing is left to write out");
  },
);
