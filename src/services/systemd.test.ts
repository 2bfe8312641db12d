// The unit as text; that systemd itself takes it and acts on it is proved in test/services.

import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { Config } from "../config/schema.ts";
import { table } from "../testing/table.ts";
import { needsPrivileges, serviceNeeds } from "./hardening.ts";
import type { Place } from "./kinds.ts";
import { systemdService, systemdState, systemdUnit } from "./systemd.ts";

const place: Place = {
  home: "/home/ann/.everturn",
  name: "everturn",
  node: "/opt/node/bin/node",
  main: "/opt/everturn/dist/main.js",
  passOn: { NODE_EXTRA_CA_CERTS: "/etc/ssl/ours.pem" },
  user: { name: "ann", uid: 1000, home: "/home/ann" },
};

/** Every setting with its values, by section. */
function settings(unit: string): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  let section = "";
  for (const line of unit.split("\n")) {
    if (/^(#|$)/.test(line)) continue;
    const heading = /^\[(.+)\]$/.exec(line)?.[1];
    if (heading !== undefined) {
      section = heading;
      continue;
    }
    const [key = "", ...rest] = line.split("=");
    const name = `${section}.${key}`;
    found.set(name, [...(found.get(name) ?? []), rest.join("=")]);
  }
  return found;
}

table(
  "S31 the unit gives a stop 90 s at drain 0, in general max(60, drain) + 30",
  [
    { name: "S31 drain 0", drain: 0, seconds: "90" },
    { name: "S31 drain 45", drain: 45, seconds: "90" },
    { name: "S31 drain 180", drain: 180, seconds: "210" },
  ].flatMap((one) => (["user", "system"] as const).map((scope) => ({ ...one, name: `${one.name}, ${scope}`, scope }))),
  ({ drain, seconds, scope }) => {
    assert.deepEqual(settings(systemdUnit(place, scope, { drainSeconds: drain })).get("Service.TimeoutStopSec"), [
      seconds,
    ]);
  },
);

test("what both units say about ends, starts and readiness", () => {
  for (const scope of ["user", "system"] as const) {
    const unit = settings(systemdUnit(place, scope, { drainSeconds: 0 }));
    const expected: Readonly<Record<string, string>> = {
      "Unit.StartLimitIntervalSec": "0",
      "Service.Type": "notify",
      "Service.NotifyAccess": "all",
      "Service.ExecStart": ':"/opt/node/bin/node" "/opt/everturn/dist/main.js" gateway run',
      "Service.ExecReload": "/bin/kill -USR1 $MAINPID",
      "Service.Restart": "always",
      "Service.RestartForceExitStatus": "75",
      "Service.SuccessExitStatus": "1 75 79",
      "Service.RestartPreventExitStatus": "78 79",
      "Service.KillMode": "mixed",
      "Service.KillSignal": "SIGTERM",
      "Service.WatchdogSec": "60",
      "Service.OOMPolicy": "continue",
      "Service.LimitCORE": "0",
      "Install.WantedBy": scope === "user" ? "default.target" : "multi-user.target",
    };
    for (const [name, value] of Object.entries(expected)) assert.deepEqual(unit.get(name), [value], `${scope} ${name}`);
    assert.deepEqual(unit.get("Service.Environment"), [
      '"EVERTURN_HOME=/home/ann/.everturn"',
      '"EVERTURN_SUPERVISOR=systemd"',
      '"NODE_EXTRA_CA_CERTS=/etc/ssl/ours.pem"',
    ]);
    assert.deepEqual(unit.get("Service.User"), scope === "system" ? ["ann"] : undefined);
    // Each of these would take something that the sandbox, the people or V8 need.
    const harmful =
      /ProtectClock|ProtectKernelTunables|ProtectKernelLogs|ProtectProc|ProtectHo|Private|RestrictNamespaces|MemoryDeny|SystemCallFilter/;
    assert.deepEqual(
      [...unit.keys()].filter((name) => harmful.test(name)),
      [],
    );
  }
});

const hardened = /^Service\.(?:NoNew|Restrict[AR]|RestrictSUID|Lock|SystemCallArch|Protect|Capability)/;
const rising = { NoNewPrivileges: "yes", SystemCallArchitectures: "native", LockPersonality: "yes" };

table(
  "what a unit takes away",
  [
    { name: "of a user", scope: "user", uid: 1000, count: 6 },
    { name: "of the system", scope: "system", uid: 1000, count: 10 },
    { name: "of root, which keeps its capabilities", scope: "system", uid: 0, count: 9 },
  ] as const,
  ({ scope, uid, count }) => {
    const of = { ...place, user: { ...place.user, uid } };
    const unit = settings(systemdUnit(of, scope, { drainSeconds: 0 }));
    assert.equal([...unit.keys()].filter((name) => hardened.test(name)).length, count);
    for (const [name, value] of Object.entries(rising)) assert.deepEqual(unit.get(`Service.${name}`), [value]);
    const open = settings(systemdUnit(of, scope, { drainSeconds: 0, needsPrivileges: true }));
    assert.deepEqual(
      [...open.keys()].filter((name) => hardened.test(name)),
      [],
    );
  },
);

table(
  "which settings need privileges",
  [
    { name: "as it comes", terminal: { sandbox: "auto", outside: false }, isNeeded: false },
    { name: "docker", terminal: { sandbox: "docker", outside: false }, isNeeded: false },
    {
      name: "podman maps users by a program with setuid",
      terminal: { sandbox: "podman", outside: false },
      isNeeded: true,
    },
    { name: "sudo outside", terminal: { sandbox: "auto", outside: true }, isNeeded: true },
    { name: "no sandbox", terminal: { sandbox: "off", outside: false }, isNeeded: true },
  ],
  ({ terminal, isNeeded }) => assert.equal(needsPrivileges(terminal), isNeeded),
);

table(
  "bubblewrap that is setuid needs privileges",
  [
    { name: "auto", mode: 0o4755, sandbox: "auto", isNeeded: true },
    { name: "bwrap", mode: 0o4755, sandbox: "bwrap", isNeeded: true },
    { name: "docker does not use it", mode: 0o4755, sandbox: "docker", isNeeded: false },
    { name: "a plain one", mode: 0o755, sandbox: "auto", isNeeded: false },
  ],
  ({ mode, sandbox, isNeeded }) => {
    const folder = mkdtempSync(join(tmpdir(), "everturn-bwrap-"));
    try {
      writeFileSync(join(folder, "bwrap"), "");
      chmodSync(join(folder, "bwrap"), mode);
      const config = { gateway: { drainSeconds: 0 }, agent: { tools: { terminal: { sandbox, outside: false } } } };
      const PATH = `relative:/no/such/folder:${folder}:/usr/bin`;
      const needs = serviceNeeds(config as unknown as Config, { PATH });
      assert.equal(needs.needsPrivileges, isNeeded);
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);

table(
  "folders that stay writable",
  [
    { name: "the home", home: "/usr/e", workspace: undefined, paths: '-"/usr/e"' },
    { name: "a workspace in it", home: "/usr/e", workspace: "work", paths: '-"/usr/e"' },
    { name: "a workspace elsewhere", home: "/usr/e", workspace: "/etc/w x", paths: '-"/usr/e" -"/etc/w x"' },
    { name: "a neighbor", home: "/usr/e", workspace: "../e2", paths: '-"/usr/e" -"/usr/e2"' },
    { name: "signs", home: '/usr/a"b\\c%d', workspace: undefined, paths: '-"/usr/a\\"b\\\\c%%d"' },
    { name: "a line break is left out", home: "/e", workspace: "/w\nUser=root", paths: '-"/e"' },
  ],
  ({ home, workspace, paths }) => {
    const needs = { drainSeconds: 0, ...(workspace === undefined ? {} : { workspace }) };
    const unit = (scope: "user" | "system") => settings(systemdUnit({ ...place, home }, scope, needs));
    assert.deepEqual(unit("system").get("Service.ReadWritePaths"), [paths]);
    assert.equal(unit("user").get("Service.ReadWritePaths"), undefined, "a user's systemd protects no folders");
  },
);

table(
  "paths with signs that mean something to systemd",
  [
    { name: "a space", path: "/my node", start: '"/my node"', variable: "/my node" },
    { name: "a percent sign", path: "/100%h", start: '"/100%%h"', variable: "/100%%h" },
    { name: "a dollar stays one", path: "/$HOME", start: '"/$HOME"', variable: "/$HOME" },
    { name: "quotes", path: '/a"b', start: '/usr/bin/env "/a\\"b"', variable: '/a\\"b' },
    { name: "a backslash", path: "/a\\x41", start: '/usr/bin/env "/a\\\\x41"', variable: "/a\\\\x41" },
    { name: "other scripts", path: "/süß/家", start: '"/süß/家"', variable: "/süß/家" },
  ],
  ({ path, start, variable }) => {
    const unit = settings(systemdUnit({ ...place, node: path, home: path }, "system", { drainSeconds: 0 }));
    assert.equal(unit.get("Service.ExecStart")?.[0], `:${start} "/opt/everturn/dist/main.js" gateway run`);
    assert.equal(unit.get("Service.Environment")?.[0], `"EVERTURN_HOME=${variable}"`);
    assert.equal(unit.get("Unit.RequiresMountsFor")?.[0], `"${variable}"`);
  },
);

test("commands name the unit, and the user's own systemd where it is the user's", () => {
  const user = systemdService(place, "user", "/home/ann/.config/systemd/user");
  const system = systemdService(place, "system", "/etc/systemd/system");
  const typed = (one: typeof user, verb: "install" | "start" | "stop" | "restart" | "uninstall") =>
    one[verb].map(({ program, words }) => [program, ...words].join(" "));
  assert.equal(user.files({ drainSeconds: 0 })[0]?.path, "/home/ann/.config/systemd/user/everturn.service");
  assert.deepEqual(typed(user, "install"), [
    "systemctl --user daemon-reload",
    "systemctl --user enable everturn.service",
    "systemctl --user start everturn.service",
  ]);
  assert.deepEqual(typed(user, "stop"), ["systemctl --user stop everturn.service"]);
  assert.deepEqual(typed(system, "stop"), ["systemctl stop everturn.service"]);
  assert.deepEqual(typed(system, "restart"), ["systemctl reload-or-restart everturn.service"]);
  assert.deepEqual(typed(system, "uninstall"), ["systemctl disable --now everturn.service"]);
});

table(
  "what systemctl show means",
  [
    { name: "runs", out: "LoadState=loaded\nActiveState=active\n", code: 0, state: "running" },
    { name: "starts", out: "LoadState=loaded\nActiveState=activating\n", code: 0, state: "running" },
    { name: "reloads", out: "LoadState=loaded\nActiveState=reloading\n", code: 0, state: "running" },
    { name: "is down", out: "LoadState=loaded\nActiveState=inactive\n", code: 0, state: "stopped" },
    { name: "failed", out: "LoadState=loaded\nActiveState=failed\n", code: 0, state: "failed" },
    { name: "unknown to it", out: "LoadState=not-found\nActiveState=inactive\n", code: 0, state: "missing" },
    { name: "no answer", out: "", code: 1, state: "unknown" },
  ] as const,
  ({ out, code, state }) => assert.equal(systemdState({ code, out, err: "" }), state),
);
