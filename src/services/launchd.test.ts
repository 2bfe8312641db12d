// The property list as text, with a table of what launchd knows: nothing else can check its keys.
// That it is well formed is checked by a real parser in test/services.

import assert from "node:assert/strict";
import { test } from "node:test";
import { table } from "../testing/table.ts";
import type { Place } from "./kinds.ts";
import { launchdLabel, launchdList, launchdService, launchdState } from "./launchd.ts";

const place: Place = {
  home: "/Users/ann/.everturn",
  name: "everturn",
  node: "/opt/node/bin/node",
  main: "/opt/everturn/dist/main.js",
  passOn: { NODE_OPTIONS: "--use-system-ca" },
  user: { name: "ann", uid: 501, home: "/Users/ann" },
};

/** The keys of launchd.plist(5) that are used, and the kind of value each must have. */
const known: Readonly<Record<string, RegExp>> = {
  Label: /^<string>/,
  ProgramArguments: /^<array>/,
  EnvironmentVariables: /^<dict>/,
  RunAtLoad: /^<(true|false)\/>/,
  KeepAlive: /^<dict>\s*<key>SuccessfulExit<\/key>\s*<false\/>/,
  ThrottleInterval: /^<integer>/,
  ExitTimeOut: /^<integer>/,
  StandardOutPath: /^<string>/,
  StandardErrorPath: /^<string>/,
  Umask: /^<integer>/,
  UserName: /^<string>/,
};

test("every key is one that launchd knows, with a value of its kind, for agents and daemons", () => {
  for (const scope of ["user", "system"] as const) {
    const list = launchdList(place, scope, 0);
    const keys = [...list.matchAll(/^ {2}<key>(\w+)<\/key>\s*/gm)];
    const expected = Object.keys(known).filter((key) => scope === "system" || key !== "UserName");
    assert.deepEqual(new Set(keys.map((found) => found[1])), new Set(expected));
    for (const found of keys) assert.match(list.slice(found.index + found[0].length), known[found[1] ?? ""] ?? /^$/);
  }
});

test("it is started by its own Node, knows its supervisor, and gets the time of a stop", () => {
  const list = launchdList(place, "user", 120).replaceAll(/\s*\n\s*/g, "");
  assert.match(
    list,
    /<string>\/opt\/node\/bin\/node<\/string><string>\/opt\/everturn\/dist\/main\.js<\/string><string>gateway<\/string><string>run<\/string>/,
  );
  assert.match(list, /<key>EVERTURN_SUPERVISOR<\/key><string>launchd<\/string>/);
  assert.match(list, /<key>NODE_OPTIONS<\/key><string>--use-system-ca<\/string>/);
  assert.match(list, /<key>ExitTimeOut<\/key><integer>150<\/integer>/);
  assert.match(list, /<key>StandardErrorPath<\/key><string>\/Users\/ann\/\.everturn\/logs\/launchd\.log<\/string>/);
});

test("signs of XML in a path are written so that they stay what they are", () => {
  const list = launchdList({ ...place, home: '/a & <b> ]]> "c"' }, "user", 0);
  assert.match(list, /<string>\/a &amp; &lt;b&gt; \]\]&gt; "c"<\/string>/);
});

test("labels and commands", () => {
  assert.equal(launchdLabel("everturn"), "dev.everturn.gateway");
  assert.equal(launchdLabel("everturn-bot-12345678"), "dev.everturn.gateway.bot-12345678");
  const agent = launchdService(place, "user", "/Users/ann/Library/LaunchAgents");
  const typed = (commands: typeof agent.install) => commands.map(({ program, words }) => [program, ...words].join(" "));
  const path = "/Users/ann/Library/LaunchAgents/dev.everturn.gateway.plist";
  assert.equal(agent.files({ drainSeconds: 0 })[0]?.path, path);
  assert.deepEqual(typed(agent.install), [
    "launchctl bootout gui/501/dev.everturn.gateway",
    "launchctl enable gui/501/dev.everturn.gateway",
    `launchctl bootstrap gui/501 ${path}`,
  ]);
  assert.equal(agent.install[0]?.mayFail, true, "there may be nothing to unload");
  assert.deepEqual(typed(agent.stop), ["launchctl bootout gui/501/dev.everturn.gateway"]);
  assert.deepEqual(typed(agent.restart), ["launchctl kill SIGUSR1 gui/501/dev.everturn.gateway"]);
  const daemon = launchdService(place, "system", "/Library/LaunchDaemons");
  assert.deepEqual(typed(daemon.stop), ["launchctl bootout system/dev.everturn.gateway"]);
});

table(
  "what launchctl print means",
  [
    { name: "runs", code: 0, out: "gui/501/x = {\n\tactive count = 1\n\tstate = running\n}", state: "running" },
    { name: "is down", code: 0, out: "x = {\n\tstate = not running\n}", state: "stopped" },
    { name: "is not loaded", code: 113, out: "", state: "missing" },
    { name: "no answer", code: 1, out: "", state: "unknown" },
  ] as const,
  ({ code, out, state }) => assert.equal(launchdState({ code, out, err: "" }), state),
);
