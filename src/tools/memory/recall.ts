// recall: what was remembered, and what was said before, in the conversations of the same people and no others.

import * as v from "valibot";
import { memoryScope, outsideScope } from "../../core/memory.ts";
import type { Archive } from "../../ports/store.ts";
import type { Tool } from "../../ports/tool.ts";
import { define, ok } from "../define.ts";
import { maybe, whole, words } from "../input.ts";

const countMax = 50;
const countUsual = 10;
const textMax = 1_000;

export function recallTool(archive: Pick<Archive, "recall">): Tool {
  return define({
    name: "recall",
    description:
      "Searches memories and earlier conversations for words; all of them must occur. Also finds what was remembered from text of strangers, which is not listed among your memories.",
    effect: "pure",
    face: {
      properties: { query: { type: "string" }, limit: { type: "integer" } },
      required: ["query"],
    },
    schema: v.strictObject({ query: words(500), limit: maybe(whole(1, countMax)) }),
    async run({ query, limit = countUsual }, { address }) {
      const own = memoryScope(address);
      const [mine, brought] = [
        await archive.recall(own, query, limit),
        await archive.recall(outsideScope(own), query, limit),
      ];
      const found = [...mine, ...brought].slice(0, limit);
      if (found.length === 0) return ok("Nothing found; fewer or other words may find more.");
      const lines = found.map(({ from, id, text, at }) => {
        const source = from === "memory" ? `memory ${id}` : "said";
        return `[${source}, ${new Date(at).toISOString().slice(0, 16)}Z] ${clipped(text)}`;
      });
      const isStrange = found.some((one) => one.outside === true || brought.includes(one));
      return { type: "ok", output: lines.join("\n"), ...(isStrange ? { outside: true } : {}) };
    },
  });
}

function clipped(text: string): string {
  return text.length <= textMax ? text : `${text.slice(0, textMax).toWellFormed()}…`;
}
