// A process that runs commands through the terminal tool as a gateway does, to be killed: a call under a key, or what
// became of one. It says what it does in lines of JSON.

import { join } from "node:path";
import { jobId, writeJob } from "../../src/host/jobs/folder.ts";
import { openJobs } from "../../src/host/jobs/jobs.ts";
import { context, stageTools } from "./jobs-stage.ts";

const [home = "", mode = "", key = "", command = "", dieAfterMs = ""] = process.argv.slice(2);
const say = (what: unknown) => process.stdout.write(`${JSON.stringify(what)}\n`);
const jobs = openJobs({ folder: join(home, "jobs") });
const { terminal } = stageTools(home, jobs, { choice: process.env["DRIVER_SANDBOX"] === "bwrap" ? "bwrap" : "off" });

if (mode === "folder") {
  // The moment between the folder and the holder.
  const id = jobId(key);
  const shell = { program: "/bin/sh", words: ["-c", command], cwd: home };
  const rest = { place: "web/main/c1", title: command, limitMs: 60_000, background: false, startedAt: Date.now() };
  await writeJob(join(home, "jobs", id), { id, key, ...shell, ...rest });
  say({ ready: id });
  process.stdin.resume();
} else {
  say({ ready: process.pid });
  if (dieAfterMs !== "") setTimeout(() => process.kill(process.pid, "SIGKILL"), Number(dieAfterMs));
  const checked = mode === "check" ? await terminal.check?.({ command }, context(key)) : null;
  say({ checked: checked?.type ?? null });
  say({ result: checked ?? (await terminal.run({ command }, context(key))) });
}
