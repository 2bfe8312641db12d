// How much of the log is said aloud, by who listens.

import assert from "node:assert/strict";
import { table } from "../testing/table.ts";
import { spokenLevel } from "./parts.ts";

table(
  "what is said aloud beside the log file",
  [
    { name: "in a terminal", env: {}, level: "info" },
    { name: "under systemd, whose journal is kept short", env: { EVERTURN_SUPERVISOR: "systemd" }, level: "info" },
    { name: "under s6, for the log of the container", env: { EVERTURN_SUPERVISOR: "s6" }, level: "info" },
    { name: "under launchd, into a file that only grows", env: { EVERTURN_SUPERVISOR: "launchd" }, level: "error" },
    { name: "under the task scheduler, likewise", env: { EVERTURN_SUPERVISOR: "task" }, level: "error" },
    { name: "detached, into logs/gateway.out", env: { EVERTURN_DETACHED: "1" }, level: "error" },
  ] as const,
  ({ env, level }) => assert.equal(spokenLevel("info", env), level),
);
