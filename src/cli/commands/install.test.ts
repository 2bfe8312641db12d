// Installing and removing a service with programs that answer and fail as the real ones do: what is written, what is
// asked, and what is said. Real supervisors are in test/services.

import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { ownIdentity } from "../../host/identity.ts";
import type { Here } from "../../services/verbs.ts";
import type { Context, Doors } from "../context.ts";
import { autostart, install, uninstall } from "./install.ts";

type Flags = Readonly<Record<string, string | boolean>>;
type Verb = typeof install;

/** A user's machine with systemd, in a folder of its own. */
function machine(t: TestContext, systemctl: string | null) {
  const folder = mkdtempSync(join(tmpdir(), "everturn-install-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const programs = join(folder, "bin");
  mkdirSync(programs);
  const record = join(folder, "asked");
  writeFileSync(record, "");
  if (systemctl !== null) {
    writeFileSync(join(programs, "systemctl"), `#!/bin/sh\necho "$*" >>'${record}'\n${systemctl}\n`);
    chmodSync(join(programs, "systemctl"), 0o755);
  }
  const user = { name: "ann", uid: 1000, home: join(folder, "ann") };
  const all: Here = {
    system: "linux",
    home: join(user.home, ".everturn"),
    node: "/opt/node",
    main: "/opt/main.js",
    env: { PATH: programs },
    user,
    owner: user,
    exists: (path) => path === "/run/systemd/system" || (path.startsWith(folder) && existsSync(path)),
  };
  const unit = join(user.home, ".config", "systemd", "user", "everturn.service");
  return {
    all,
    unit,
    asked: () => readFileSync(record, "utf8").trim().split("\n"),
    text: () => readFileSync(unit, "utf8"),
    async type(verb: Verb, flags: Flags = {}, here: Here = all) {
      const said = { out: "", err: "" };
      const output = {
        out: (text: string) => void (said.out += `${text}\n`),
        err: (text: string) => void (said.err += `${text}\n`),
        columns: 80,
        tty: false,
        colour: false,
      };
      const doors = { version: "0" } as Doors;
      const context: Context = { flags, given: [], output, doors, now: () => Date.now() };
      const code = await verb(context, here);
      return { code, ...said };
    },
  };
}

const active = 'case "$*" in *show*ActiveState*) printf "LoadState=loaded\\nActiveState=active\\n" ;; esac';
const inactive = active.replace("ActiveState=active", "ActiveState=inactive");

test("install writes the unit for its user, has it started, and says what it did and how to keep it", async (t) => {
  const one = machine(t, inactive);
  const { code, out } = await one.type(install);
  assert.equal(code, 0);
  assert.match(out, new RegExp(`^Wrote ${one.unit}\\.\nThe systemd user service everturn\\.service runs\\.\n`));
  assert.match(out, /ends when ann logs out.*sudo loginctl enable-linger ann/);
  assert.equal(statSync(one.unit).mode & 0o777, 0o644);
  assert.match(one.text(), /^ExecStart=:"\/opt\/node" "\/opt\/main\.js" gateway run$/m);
  assert.deepEqual(one.asked(), [
    "--user show --property=Version",
    "--user show --property=LoadState,ActiveState everturn.service",
    "--user daemon-reload",
    "--user enable everturn.service",
    "--user start everturn.service",
  ]);
  assert.deepEqual(readdirSync(join(one.unit, "..")), ["everturn.service"], "no half file is left");
  assert.equal(statSync(one.all.home).mode & 0o777, 0o700, "a home that is made is its user's alone");
});

test("a second install changes nothing and makes sure that it runs", async (t) => {
  const one = machine(t, inactive);
  await one.type(install);
  const { code, out } = await one.type(install, { json: true });
  assert.equal(code, 0);
  const facts = JSON.parse(out) as { written: string[]; restarted: boolean; service: { kind: string } };
  assert.deepEqual([facts.written, facts.restarted, facts.service.kind], [[], false, "systemd-user"]);
  assert.ok(!one.asked().includes("--user reload-or-restart everturn.service"));
});

test("a unit that differs is not replaced without --force; with it the running gateway is asked to restart", async (t) => {
  const one = machine(t, active);
  await one.type(install);
  writeFileSync(one.unit, one.text().replace("KillMode=mixed", "KillMode=process"));
  await assert.rejects(
    one.type(install),
    /is there already and differs.*\(KillMode\)\. `everturn gateway install --force` replaces it/,
  );
  assert.match(one.text(), /KillMode=process/);
  const { out } = await one.type(install, { force: true });
  assert.match(one.text(), /KillMode=mixed/);
  assert.match(out, /Asked the systemd user service everturn\.service to restart/);
  assert.equal(one.asked().at(-1), "--user reload-or-restart everturn.service");
});

test("--dry-run prints every file and command, and does nothing", async (t) => {
  const one = machine(t, null);
  const { code, out } = await one.type(install, { "dry-run": true });
  assert.equal(code, 0);
  assert.match(out, new RegExp(`^# write ${one.unit} \\(mode 644\\)\n`));
  assert.match(out, /TimeoutStopSec=90\n[\s\S]*# run\nsystemctl --user daemon-reload\nsystemctl --user enable/);
  assert.ok(!existsSync(one.unit) && !existsSync(one.all.home));
  const json = await one.type(install, { "dry-run": true, json: true });
  const plan = JSON.parse(json.out) as { write: { path: string; text: string }[]; run: string[][] };
  assert.equal(plan.write[0]?.path, one.unit);
  assert.deepEqual(plan.run[0], ["systemctl", "--user", "daemon-reload"]);
});

test("the drain of the configuration decides how long a stop may take", async (t) => {
  const one = machine(t, inactive);
  mkdirSync(one.all.home, { recursive: true });
  writeFileSync(join(one.all.home, "config.yaml"), "gateway: { drainSeconds: 200 }\n");
  assert.match((await one.type(install, { "dry-run": true })).out, /^TimeoutStopSec=230$/m);
  writeFileSync(join(one.all.home, "config.yaml"), "gateway: { drainSeconds: soon }\n");
  await assert.rejects(one.type(install), { code: "config-wrong" });
  assert.ok(!existsSync(one.unit));
});

const refusals = [
  {
    name: "systemctl is missing",
    systemctl: null,
    says: /the program systemctl is not on this machine.*gateway start/,
  },
  {
    name: "there is no user bus",
    systemctl: 'echo "Failed to connect to bus: No medium found" >&2; exit 1',
    says: /no session of ann that systemd knows.*enable-linger ann.*--system --home/,
  },
  {
    name: "there is no permission",
    systemctl: 'echo "Failed to get properties: Access denied" >&2; exit 1',
    says: /Access denied\. ann may not do that; run the same command with sudo/,
  },
];
for (const { name, systemctl, says } of refusals)
  test(`${name}: it is said, with what to do, and nothing is written`, async (t) => {
    const one = machine(t, systemctl);
    await assert.rejects(one.type(install), says);
    assert.ok(!existsSync(one.unit));
  });

test("a folder that may not be written is named, with what to do", async (t) => {
  const one = machine(t, inactive);
  // A file in the way stands for a right that is missing: root, as which tests may run, has every right.
  mkdirSync(one.all.user.home, { recursive: true });
  writeFileSync(join(one.all.user.home, ".config"), "");
  await assert.rejects(one.type(install), /everturn\.service could not be (?:written|read) \(.*\)\. Mend that/);
});

test("a system without a supervisor, and one for which there is none yet, say what works instead", async (t) => {
  const one = machine(t, inactive);
  const bare = { ...one.all, exists: () => false };
  await assert.rejects(one.type(install, {}, bare), /neither systemd nor s6 runs here.*`everturn gateway start`/);
  await assert.rejects(one.type(install, {}, { ...bare, system: "aix" }), /there is none for aix yet/);
});

test("a gateway that runs outside of the service is not fought with", async (t) => {
  const one = machine(t, inactive);
  mkdirSync(one.all.home, { recursive: true });
  const { pid, startTime } = ownIdentity();
  writeFileSync(join(one.all.home, "gateway_state.json"), JSON.stringify({ pid, start_time: startTime }));
  await assert.rejects(one.type(install), new RegExp(`A gateway \\(pid ${pid}\\) serves .*everturn gateway stop`));
  assert.ok(!existsSync(one.unit));
});

test("two services for one home are refused", async (t) => {
  const one = machine(t, inactive);
  const crowded = { ...one.all, exists: (path: string) => path === "/run/systemd/system" || path.startsWith("/etc/") };
  await assert.rejects(one.type(install, {}, crowded), /has a service already.*everturn gateway uninstall --system/);
});

test("under sudo it must be said whose home is meant", async (t) => {
  const one = machine(t, inactive);
  const sudo = { ...one.all, env: { ...one.all.env, SUDO_USER: "ann" } };
  await assert.rejects(one.type(install, {}, sudo), /--home ~ann\/\.everturn/);
  assert.equal((await one.type(install, { home: one.all.home }, sudo)).code, 0);
});

test("a service that would run as root is refused, unless it is wanted or there already", async (t) => {
  const one = machine(t, inactive);
  const root = { ...one.all.user, name: "root", uid: 0 };
  const units = new Set<string>();
  const exists = (path: string) => path === "/run/systemd/system" || units.has(path);
  const asRoot: Here = { ...one.all, user: root, owner: root, exists };
  const refusal = /would run as root\. Give it a user of its own:\n {2}useradd --system .*--allow-root/s;
  await assert.rejects(one.type(install, { "dry-run": true }, asRoot), refusal);
  const plan = await one.type(install, { "dry-run": true, "allow-root": true }, asRoot);
  assert.match(plan.out, /^User=root$/m);
  units.add(/# write (\S+)/.exec(plan.out)?.[1] ?? "");
  assert.match((await one.type(install, { "dry-run": true }, asRoot)).out, /^User=root$/m, "it is there already");
  const owned: Here = { ...one.all, user: root, exists: (path) => path === "/run/systemd/system" };
  assert.match((await one.type(install, { "dry-run": true }, owned)).out, /^User=ann$/m, "the owner of the home");
});

test("uninstall stops, removes what was written, and leaves the home alone", async (t) => {
  const one = machine(t, inactive);
  await one.type(install);
  const plan = await one.type(uninstall, { "dry-run": true });
  assert.match(plan.out, new RegExp(`# remove ${one.unit}\n# run\nsystemctl --user disable --now everturn\\.service`));
  assert.ok(existsSync(one.unit));
  const { out } = await one.type(uninstall);
  assert.match(out, new RegExp(`^Removed ${one.unit}\\.\nStopped and removed .*${one.all.home} is untouched\\.`));
  assert.ok(!existsSync(one.unit) && existsSync(one.all.home));
  assert.deepEqual(one.asked().slice(-4), [
    "--user stop everturn.service",
    "--user disable --now everturn.service",
    "--user daemon-reload",
    "--user reset-failed everturn.service",
  ]);
  assert.match((await one.type(uninstall)).out, /No service is installed for /);
});

test("autostart prepares the folder of s6: down unless it was wanted, up on its very first start if that is said", async (t) => {
  const one = machine(t, null);
  const scan = join(one.all.user.home, "scan");
  const down = join(scan, "everturn", "down");
  const state = join(one.all.home, "gateway_state.json");
  const start = async (flags: Flags = {}) => (await one.type(autostart, { s6: scan, json: true, ...flags })).out;
  assert.match(await start(), /"starts":false/);
  assert.ok(existsSync(down));
  assert.match(await start({ first: true }), /"starts":true,"first":true/);
  assert.ok(!existsSync(down));
  mkdirSync(one.all.home, { recursive: true });
  writeFileSync(state, '{"desired_state":"stopped","gateway_state":"stopped"}');
  assert.match(await start({ first: true }), /"starts":false/, "it was served before, and then stopped");
  writeFileSync(state, '{"desired_state":"running","gateway_state":"stopped"}');
  assert.match(await start(), /"starts":true/);
  assert.ok(!existsSync(down) && existsSync(join(scan, "everturn", "run")));
});
