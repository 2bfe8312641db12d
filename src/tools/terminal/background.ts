// What goes on at a place beside its turns: the commands that were started there in the background and still run. For
// people who ask what there is, and who want it to end.

import { visibleLine } from "../../core/asked/visible.ts";
import { type Address, formatAddress } from "../../core/message.ts";
import type { Agent } from "../../ports/agent.ts";
import type { Job, Jobs } from "../../ports/jobs.ts";
import { seconds } from "./words.ts";

const titleMax = 80;

export function background(
  jobs: Jobs,
  now: () => number = Date.now,
): Required<Pick<Agent, "activity" | "stopActivity">> {
  const isRunning = async ({ id }: Job): Promise<boolean> => (await jobs.state(id)).type === "running";

  async function runningAt(address: Address): Promise<readonly Job[]> {
    const all = await jobs.list((job) => job.background && job.place === formatAddress(address));
    const runs = await Promise.all(all.map(isRunning));
    return all.filter((_job, at) => runs[at]);
  }

  return {
    async activity(address) {
      return (await runningAt(address)).map((job) => `${titleOf(job)} (for ${seconds(now() - job.startedAt)})`);
    },
    async stopActivity(address) {
      const ended = await Promise.all(
        (await runningAt(address)).map(async (job) => {
          const { type } = await jobs.kill(job.id, "its user stopped it");
          return type === "running" ? [] : [titleOf(job)];
        }),
      );
      return ended.flat();
    },
  };
}

function titleOf({ title }: Job): string {
  const line = visibleLine(title.replaceAll(/\s+/g, " ").trim());
  return line.length > titleMax ? `${line.slice(0, titleMax - 1).toWellFormed()}…` : line;
}
