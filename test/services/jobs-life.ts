// A life of a gateway that does nothing but one command through the terminal tool: it asks what became of it, runs it when
// it did not happen, writes down what it got, and stays. Stopped, it ends its commands, unless it comes back.

import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openHolders } from "../../src/host/jobs/holder.ts";
import { openJobs } from "../../src/host/jobs/jobs.ts";
import { withJobs } from "../../src/host/jobs/together.ts";
import { openProcesses } from "../../src/host/processes.ts";
import { context, stageTools } from "../agent/jobs-stage.ts";

const [home = "", command = ""] = process.argv.slice(2);
const holders = openHolders();
const { terminal } = stageTools(home, openJobs({ folder: join(home, "jobs"), holders }));
const dwelling = await holders.dwelling();
appendFileSync(join(home, "lives"), `${JSON.stringify({ pid: process.pid, dwelling })}\n`);
process.on("SIGTERM", () => {
  // As a gateway does that was stopped by a signal nobody announced.
  void withJobs(openProcesses(), join(home, "jobs"))
    .killAll("all")
    .then((killed) => appendFileSync(join(home, "stops"), `${killed}\n`))
    .then(() => process.exit(1));
});
const input = { command, timeoutSeconds: 600 };
const result = (await terminal.check?.(input, context("k1"))) ?? (await terminal.run(input, context("k1")));
writeFileSync(join(home, "result.json"), JSON.stringify(result));
process.stdin.resume();
setInterval(() => undefined, 60_000);
