// Which service belongs to a home, and what is said when a supervisor refuses: programs that fail as the real ones do
// stand in for those that are not on this machine.

import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { table } from "../testing/table.ts";
import type { Command } from "./kinds.ts";
import { type Here, carryOut, complaint, findService, passOn, placeOf, serviceToInstall, servicesOf } from "./verbs.ts";

const ann = { name: "ann", uid: 1000, home: "/home/ann" };
const root = { name: "root", uid: 0, home: "/var/admin" };
const usual: Here = {
  system: "linux",
  home: "/home/ann/.everturn",
  node: "/node",
  main: "/main.js",
  env: {},
  user: ann,
  owner: ann,
  exists: () => false,
};
const on = (...paths: readonly string[]): Pick<Here, "exists"> => ({ exists: (path) => paths.includes(path) });

table(
  "the installed service of a home",
  [
    { name: "none", all: usual, kind: undefined, label: undefined },
    {
      name: "of the user",
      all: { ...usual, ...on("/home/ann/.config/systemd/user/everturn.service") },
      kind: "systemd-user",
      label: "everturn.service",
    },
    {
      name: "of the user, where their configuration is elsewhere",
      all: { ...usual, env: { XDG_CONFIG_HOME: "/cfg" }, ...on("/cfg/systemd/user/everturn.service") },
      kind: "systemd-user",
      label: "everturn.service",
    },
    {
      name: "of the system, under a name that root and its owner give alike",
      all: { ...usual, ...on(systemPath({ ...usual, user: root })) },
      kind: "systemd-system",
      label: placeOf({ ...usual, user: root }, "system").name.concat(".service"),
    },
    {
      name: "root's own",
      all: {
        ...usual,
        user: root,
        owner: root,
        home: "/var/admin/.everturn",
        ...on("/etc/systemd/system/everturn.service"),
      },
      kind: "systemd-system",
      label: "everturn.service",
    },
    {
      name: "the other home's service is not this one's",
      all: { ...usual, home: "/srv/bot", ...on("/etc/systemd/system/everturn.service") },
      kind: undefined,
      label: undefined,
    },
    { name: "s6", all: { ...usual, ...on("/run/service/everturn/run") }, kind: "s6", label: "/run/service/everturn" },
    {
      name: "s6 elsewhere",
      all: { ...usual, env: { EVERTURN_S6_SCAN: "/scan" }, ...on("/scan/everturn/run") },
      kind: "s6",
      label: "/scan/everturn",
    },
    {
      name: "macOS",
      all: { ...usual, system: "darwin", ...on("/home/ann/Library/LaunchAgents/dev.everturn.gateway.plist") },
      kind: "launchd",
      label: "dev.everturn.gateway",
    },
    {
      name: "a system without any",
      all: { ...usual, system: "freebsd", exists: () => true },
      kind: undefined,
      label: undefined,
    },
  ] as const,
  ({ all, kind, label }) => {
    assert.equal(findService(all)?.kind, kind);
    assert.equal(findService(all)?.label, label);
  },
);

function systemPath(all: Here): string {
  return (
    servicesOf(all)
      .find((one) => one.kind === "systemd-system")
      ?.files({ drainSeconds: 0 })[0]?.path ?? assert.fail()
  );
}

table(
  "the service to install",
  [
    { name: "systemd", more: on("/run/systemd/system"), scope: "user", isTrial: false, gives: "systemd-user" },
    {
      name: "for the system, by root",
      more: { ...on("/run/systemd/system"), user: root },
      scope: "system",
      isTrial: false,
      gives: "systemd-system",
    },
    {
      name: "root has no session of its own",
      more: { ...on("/run/systemd/system"), user: root },
      scope: "user",
      isTrial: false,
      gives: "systemd-system",
    },
    {
      name: "for the system, by somebody else",
      more: on("/run/systemd/system"),
      scope: "system",
      isTrial: false,
      gives: /sudo everturn gateway install --system --home \/home\/ann\/\.everturn/,
    },
    { name: "… on trial", more: on("/run/systemd/system"), scope: "system", isTrial: true, gives: "systemd-system" },
    { name: "s6", more: on("/run/service/.s6-svscan"), scope: "user", isTrial: false, gives: "s6" },
    {
      name: "no supervisor",
      more: {},
      scope: "user",
      isTrial: false,
      gives: /neither systemd nor s6 runs here.*everturn gateway start/,
    },
    { name: "no supervisor, on trial", more: {}, scope: "user", isTrial: true, gives: "systemd-user" },
    {
      name: "Windows",
      more: { system: "win32", user: { ...ann, uid: null } },
      scope: "system",
      isTrial: false,
      gives: "windows",
    },
    { name: "macOS", more: { system: "darwin" }, scope: "user", isTrial: false, gives: "launchd" },
    {
      name: "macOS, for the system",
      more: { system: "darwin", user: root },
      scope: "system",
      isTrial: false,
      gives: "launchd-system",
    },
    {
      name: "another system",
      more: { system: "freebsd" },
      scope: "user",
      isTrial: true,
      gives: /there is none for freebsd yet/,
    },
  ] as const,
  ({ more, scope, isTrial, gives }) => {
    const choose = () => serviceToInstall({ ...usual, ...more }, scope, isTrial);
    if (typeof gives === "string") assert.equal(choose().kind, gives);
    else assert.throws(choose, gives);
  },
);

test("variables of the user's shell are passed on where they are set, PATH without npm's own folders", () => {
  assert.deepEqual(passOn({}), {});
  assert.deepEqual(passOn({ NODE_EXTRA_CA_CERTS: "/ca.pem", NODE_OPTIONS: "", LANG: "C" }), {
    NODE_EXTRA_CA_CERTS: "/ca.pem",
  });
  const path = "/p/node_modules/.bin:/usr/bin:relative::/home/ann/bin:/usr/bin";
  assert.deepEqual(passOn({ PATH: path }), { PATH: "/usr/bin:/home/ann/bin" });
});

/** A folder of programs that say what the real ones say and fail as they do; the path to what they were asked. */
function standIn(t: TestContext, programs: Readonly<Record<string, string>>): { readonly all: Here; asked(): string } {
  const folder = mkdtempSync(join(tmpdir(), "everturn-programs-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const record = join(folder, "asked");
  writeFileSync(record, "");
  for (const [name, body] of Object.entries(programs)) {
    writeFileSync(join(folder, name), `#!/bin/sh\necho "${name} $*" >>'${record}'\n${body}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  const all = { ...usual, env: { PATH: folder } };
  return { all, asked: () => readFileSync(record, "utf8") };
}

const systemctl = (...words: readonly string[]): Command => ({
  program: "systemctl",
  words,
  what: "start the service",
});

test("a program that is missing is named, with what works without it", async (t) => {
  const { all } = standIn(t, {});
  await assert.rejects(
    carryOut([systemctl("--user", "start", "everturn.service")], all),
    /^Fault: Cannot start the service: the program systemctl is not on this machine\. `everturn gateway start` runs/,
  );
});

/** What the programs really say, word for word. */
const refusals = [
  {
    name: "no user bus",
    command: systemctl("--user", "daemon-reload"),
    says: "Failed to connect to bus: No medium found",
    told: /no session of ann that systemd knows.*loginctl enable-linger ann.*--system --home \/home\/ann\/\.everturn/,
  },
  {
    name: "no user bus, said differently",
    command: systemctl("--user", "daemon-reload"),
    says: "Failed to connect to bus: $DBUS_SESSION_BUS_ADDRESS and $XDG_RUNTIME_DIR not defined (consider using --machine=<user>@.host --user to connect to bus of other user)",
    told: /no session of ann that systemd knows/,
  },
  {
    name: "no systemd",
    command: systemctl("daemon-reload"),
    says: "System has not been booted with systemd as init system (PID 1). Can't operate.\nFailed to connect to bus: Host is down",
    told: /systemd does not answer on this machine/,
  },
  {
    name: "no permission, systemd",
    command: systemctl("start", "everturn.service"),
    says: "Failed to start everturn.service: Access denied",
    told: /ann may not do that; run the same command with sudo/,
  },
  {
    name: "no permission, polkit",
    command: systemctl("enable", "everturn.service"),
    says: "Failed to enable unit: Interactive authentication required.",
    told: /ann may not do that/,
  },
  {
    name: "no permission, launchd",
    command: { program: "launchctl", words: ["bootstrap", "system", "/x.plist"], what: "start the service" },
    says: "Bootstrap failed: 1: Operation not permitted",
    told: /ann may not do that/,
  },
  {
    name: "no permission, Windows, whatever it is called there",
    command: { program: "schtasks", words: ["/Create", "/TN", "everturn"], what: "register the task" },
    says: "FEHLER: Zugriff verweigert",
    told: /open a terminal as administrator and try again/,
  },
  {
    name: "a gateway that does not start",
    command: systemctl("--user", "start", "everturn.service"),
    says: "Job for everturn.service failed because the control process exited with error code.",
    told: /`journalctl --user -u everturn\.service -n 50` shows what the gateway said/,
  },
  {
    name: "nothing said",
    command: systemctl("daemon-reload"),
    says: "",
    told: /^Cannot start the service: `systemctl daemon-reload` said: it ended with 1\.$/,
  },
] as const;

table("what is said when a command is refused", refusals, ({ command, says, told }) => {
  const words = complaint(command, { code: 1, out: "", err: says }, usual);
  assert.match(words, told);
  if (says !== "") assert.ok(words.includes(says.slice(0, 30)), "the program's own words are kept");
});

test("a command that may fail does not end the rest, another one does", async (t) => {
  const { all, asked } = standIn(t, {
    systemctl: 'case "$*" in *reset-failed*) exit 1 ;; *enable*) echo "Access denied" >&2; exit 1 ;; esac',
  });
  const commands = [
    { ...systemctl("reset-failed", "x"), mayFail: true },
    systemctl("daemon-reload"),
    systemctl("enable", "x"),
    systemctl("start", "x"),
  ];
  await assert.rejects(carryOut(commands, all), /Access denied\. ann may not do that/);
  assert.equal(asked(), "systemctl reset-failed x\nsystemctl daemon-reload\nsystemctl enable x\n");
});
