// Which folder is the home, and what every file below it is called.

import assert from "node:assert/strict";
import { test } from "node:test";
import { findHome, pathsIn } from "./paths.ts";

const hints = { env: {}, userHome: "/home/ann", cwd: "/somewhere" };

test("the home folder is the chosen one, else EVERTURN_HOME, else ~/.everturn", () => {
  const rows: readonly (readonly [Partial<Parameters<typeof findHome>[0]>, string])[] = [
    [{}, "/home/ann/.everturn"],
    [{ env: { EVERTURN_HOME: "" } }, "/home/ann/.everturn"],
    [{ env: { EVERTURN_HOME: "/srv/everturn/" } }, "/srv/everturn"],
    [{ env: { EVERTURN_HOME: "here/../there" } }, "/somewhere/there"],
    [{ env: { EVERTURN_HOME: "~/data" } }, "/home/ann/data"],
    [{ env: { EVERTURN_HOME: "~" } }, "/home/ann"],
    [{ env: { EVERTURN_HOME: "~other/x" } }, "/somewhere/~other/x"],
    [{ env: { EVERTURN_HOME: "/srv/a" }, home: "/srv/b" }, "/srv/b"],
    [{ env: { EVERTURN_HOME: "/srv/a" }, userHome: null }, "/srv/a"],
  ];
  for (const [given, home] of rows) assert.equal(findHome({ ...hints, ...given }), home);
});

test("a user without a home folder is told which variable to set", () => {
  assert.throws(() => findHome({ ...hints, userHome: null }), { code: "home-unusable", message: /set EVERTURN_HOME/ });
});

test("every file has its fixed name below the home folder", () => {
  assert.deepEqual(pathsIn("/h"), {
    home: "/h",
    config: "/h/config.yaml",
    env: "/h/.env",
    store: "/h/state.db",
    lock: "/h/gateway.lock",
    state: "/h/gateway_state.json",
    plannedStop: "/h/.gateway-planned-stop.json",
    takeOver: "/h/.gateway-takeover.json",
    restartPending: "/h/.restart_pending.json",
    failureCounts: "/h/.restart_failure_counts",
    token: "/h/control.token",
    files: "/h/files",
    workspace: "/h/workspace",
    workspaces: "/h/workspaces",
    attachments: "/h/attachments",
    jobs: "/h/jobs",
    peers: "/h/peers",
    notes: "/h/notes",
    logs: "/h/logs",
  });
});
