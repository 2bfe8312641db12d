// What programs of tools see of the gateway's environment.

import assert from "node:assert/strict";
import { test } from "node:test";
import { toolEnvironment } from "./environment.ts";

const harmless = {
  PATH: "/bin",
  HOME: "/home/ann",
  LANG: "C",
  LC_ALL: "C.UTF-8",
  TZ: "UTC",
  XDG_RUNTIME_DIR: "/run/user/1000",
  EVERTURN_INSIDE: "/home/ann/.everturn",
  https_proxy: "http://proxy:3128",
};

test("what a shell needs is there, and nobody is asked anything", () => {
  const seen = toolEnvironment({ ...harmless, TERM: "xterm", PAGER: "less" });
  for (const [name, value] of Object.entries(harmless)) assert.equal(seen[name], value, name);
  assert.equal(seen["TERM"], "dumb");
  assert.equal(seen["PAGER"], "cat");
  assert.equal(seen["GIT_TERMINAL_PROMPT"], "0");
});

test("nothing of the gateway is, and nothing that may be secret", () => {
  const secret = {
    OPENAI_API_KEY: "x",
    ANTHROPIC_API_KEY: "x",
    GEMINI_API_KEY: "x",
    AWS_SECRET_ACCESS_KEY: "x",
    GITHUB_TOKEN: "x",
    EVERTURN_HOME: "x",
    EVERTURN_CONTROL__TOKEN: "x",
    NOTIFY_SOCKET: "x",
    WATCHDOG_USEC: "x",
    WATCHDOG_PID: "x",
    INVOCATION_ID: "x",
    JOURNAL_STREAM: "x",
    SYSTEMD_EXEC_PID: "x",
    NODE_OPTIONS: "x",
    NODE_CHANNEL_FD: "x",
    LD_PRELOAD: "x",
    SSH_AUTH_SOCK: "x",
    DATABASE_URL: "x",
    HTTPS_PROXY: "http://ann:password@proxy:3128",
  };
  const seen = toolEnvironment({ ...harmless, ...secret });
  for (const name of Object.keys(secret)) assert.equal(seen[name], undefined, name);
});

test("what is added wins, and what is not set is not there", () => {
  assert.deepEqual(Object.keys(toolEnvironment({ HOME: undefined, USER: "ann" })).includes("HOME"), false);
  assert.equal(toolEnvironment({ LANG: "C" }, { LANG: "de_DE", KEY: "of its own" })["LANG"], "de_DE");
  assert.equal(toolEnvironment({}, { KEY: "of its own" })["KEY"], "of its own");
});

test("programs of Windows find their system, however its names are written", () => {
  const seen = toolEnvironment({
    SystemRoot: "C:\\Windows",
    Path: "C:\\bin",
    ComSpec: "cmd",
    "ProgramFiles(x86)": "C:\\P",
  });
  assert.deepEqual(
    [seen["SystemRoot"], seen["Path"], seen["ComSpec"], seen["ProgramFiles(x86)"]],
    ["C:\\Windows", "C:\\bin", "cmd", "C:\\P"],
  );
});
