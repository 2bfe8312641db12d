// The preview of an agent's work: what it has said in this turn, and the last of its tools.

import type { AgentJob } from "../../ports/agent.ts";
import { saidIn } from "./told/record.ts";
import { toolLines } from "./told/words.ts";
import type { Work } from "./work.ts";

/** Long texts are shown less often: each preview is the whole of it. */
export function drafts(job: AgentJob): (work: Work) => void {
  const before = saidIn(job.journal);
  let shownAt = Number.NEGATIVE_INFINITY;
  return ({ progress }) => {
    const length = before.length + progress.text.length;
    if (performance.now() - shownAt < length / 200) return;
    shownAt = performance.now();
    job.draft([before, progress.text, toolLines(progress.tools.values())].filter((part) => part !== "").join("\n\n"));
  };
}
