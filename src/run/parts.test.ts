// How much of the log is said aloud, by who listens.

import assert from "node:assert/strict";
import { table } from "../testing/table.ts";
import { spokenLevel } from "./parts.ts";

table(
  "what is said aloud beside the log file",
  [
    { name: "in a terminal", supervisor: undefined, level: "info" },
    { name: "under systemd, whose journal is kept short", supervisor: "systemd", level: "info" },
    { name: "under s6, for the log of the container", supervisor: "s6", level: "info" },
    { name: "under launchd, into a file that only grows", supervisor: "launchd", level: "error" },
    { name: "under the task scheduler, likewise", supervisor: "task", level: "error" },
  ] as const,
  ({ supervisor, level }) => assert.equal(spokenLevel("info", supervisor), level),
);
