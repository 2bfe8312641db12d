// What is said of the built-in tools before they are loaded is what they say themselves.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { test } from "node:test";
import type { Archive } from "../../ports/store.ts";
import { openSandbox } from "../../sandbox/index.ts";
import { openFileWorkers } from "../../tools/files/workers.ts";
import { restartTool } from "../../tools/gateway/restart.ts";
import { builtinTools } from "../../tools/index.ts";
import { terminalTools } from "../../tools/terminal/index.ts";
import { openJobs } from "../../host/jobs/jobs.ts";
import { openBlobs } from "../../stores/blobs/index.ts";
import { echo } from "../../agents/echo/index.ts";
import type { Tool } from "../../ports/tool.ts";
import { builtIn, knownTool, offline } from "./effects.ts";

const never = () => Promise.reject(new Error("nobody asks for it"));

test("every built-in tool is known with its effect and its time limit, and no other", () => {
  const room = { workspace: "/w", home: "/h", userHome: null, notes: "/n", approvals: "dangerous" } as const;
  const sandbox = openSandbox({ choice: "off", isUnsafeAccepted: true, home: "/h", userHome: null, environment: {} });
  const terminal = { sandbox, hosts: [], network: false, outside: false, allowRoot: false };
  const workers = openFileWorkers({
    sandbox,
    workspaceFor: never,
    closed: [],
    allowRoot: false,
    spawn,
    environment: {},
  });
  const archive: Pick<Archive, "recall"> = { recall: never };
  const tools = [
    ...terminalTools({ ...room, ...terminal, jobs: openJobs({ folder: "/h/jobs" }), environment: {} }),
    ...builtinTools({ ...room, workers, closed: [], web: { allowPrivate: false }, blobs: openBlobs("/f"), archive }),
    restartTool({ approvals: "dangerous", restart: never }),
  ];
  assert.deepEqual(said(tools), builtIn);
});

test("so are those of the offline agent", () => {
  const restart = restartTool({ approvals: "never", restart: never });
  assert.deepEqual(said(echo({ workspace: "/w", stepMs: 0, toolMs: 0, restart }).tools), offline);
});

function said(tools: readonly Tool[]) {
  return Object.fromEntries(
    tools.map(({ name, effect, timeoutMs }) => [name, { effect, ...(timeoutMs === undefined ? {} : { timeoutMs }) }]),
  );
}

test("a tool of a server is taken for one that may run once only, and anything else is not known", () => {
  assert.deepEqual(knownTool("files__read"), { effect: "once" });
  assert.equal(knownTool("toString"), null);
  assert.equal(knownTool("nothing"), null);
});
