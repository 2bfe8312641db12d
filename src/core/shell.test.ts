// Paths with signs that a shell would obey, as they must be typed.

import assert from "node:assert/strict";
import { table } from "../testing/table.ts";
import { shellWord } from "./shell.ts";

table(
  "a word for a shell",
  [
    { name: "plain", text: "/home/ann/.everturn", typed: "/home/ann/.everturn" },
    { name: "a space", text: "/home/ann/my bot", typed: "'/home/ann/my bot'" },
    { name: "signs", text: "/a/$(x)`y`;z", typed: "'/a/$(x)`y`;z'" },
    { name: "a quote", text: "/a/it's", typed: "'/a/it'\\''s'" },
    { name: "nothing", text: "", typed: "''" },
  ],
  ({ text, typed }) => assert.equal(shellWord(text), typed),
);
