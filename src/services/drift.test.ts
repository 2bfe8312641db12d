// When an installed service is told to differ, and what is said.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { table } from "../testing/table.ts";
import { differences, driftOf, patienceIn, unitDrift } from "./drift.ts";
import { launchdList } from "./launchd.ts";
import { systemdUnit } from "./systemd.ts";
import { type Here, findService, isAttended, servicesOf } from "./verbs.ts";

const user = { name: "ann", uid: 1000, home: "/home/ann" };
const place = { home: "/h", name: "everturn", node: "/node", main: "/main.js", passOn: {}, user };
const unit = systemdUnit(place, "user", { drainSeconds: 0 });

table(
  "in which settings two texts differ",
  [
    { name: "none", before: unit, names: [] },
    {
      name: "comments and empty lines do not count",
      before: `# mine\n\n${unit.replaceAll(/^#.*\n/gm, "")}`,
      names: [],
    },
    { name: "a value", before: unit.replace("RestartSec=500ms", "RestartSec=100ms"), names: ["RestartSec"] },
    { name: "a missing one", before: unit.replace("OOMPolicy=continue\n", ""), names: ["OOMPolicy"] },
    { name: "one too many", before: `${unit}Alias=bot.service\n`, names: ["Alias"] },
    {
      name: "a variable, by its own name",
      before: unit.replace("EVERTURN_SUPERVISOR=systemd", "EVERTURN_SUPERVISOR=none"),
      names: ["EVERTURN_SUPERVISOR"],
    },
    { name: "another Node", before: unit.replace('"/node"', '"/old/node"'), names: ["ExecStart"] },
  ],
  ({ before, names }) => assert.deepEqual(differences(before, unit), names),
);

test("a key of a property list is told by its name", () => {
  const list = (drain: number) => launchdList(place, "user", drain);
  assert.deepEqual(differences(list(0), list(0)), []);
  assert.deepEqual(differences(list(0), list(100)), ["ExitTimeOut"]);
  assert.equal(patienceIn(list(100), "/a.plist"), 130);
  assert.equal(patienceIn("90000\n", "/s/timeout-kill"), 90);
  assert.equal(patienceIn("3\n", "/s/notification-fd"), null);
  assert.equal(patienceIn(unit, "/u/x.service"), 90);
  assert.equal(patienceIn("TimeoutStopSec=infinity\n", "/u/x.service"), null);
});

test("S32 a unit that would cut a stop off suggests `everturn gateway install --force`, or a smaller gateway.drainSeconds", () => {
  const wanted = systemdUnit(place, "user", { drainSeconds: 300 });
  const told = driftOf({ title: "the service x" }, "/u/x.service", { installed: unit, wanted }, 300) ?? "";
  assert.match(told, /^The service x \(\/u\/x\.service\) is not what this version would write: TimeoutStopSec\./);
  assert.match(told, /kills a stop after 90 s, and gateway\.drainSeconds 300 needs 330 s/);
  assert.match(told, /`everturn gateway install --force`, or set a smaller `gateway\.drainSeconds`\.$/);
});

test("S32 a unit that differs otherwise suggests `everturn gateway install --force` alone", () => {
  const installed = unit.replace("KillMode=mixed", "KillMode=process");
  const told = driftOf({ title: "the service x" }, "/u/x.service", { installed, wanted: unit }, 0) ?? "";
  assert.match(told, /KillMode\. Repair it with `everturn gateway install --force`\.$/);
  const generous = systemdUnit(place, "user", { drainSeconds: 300 });
  const longer = driftOf({ title: "the service x" }, "/u/x.service", { installed: generous, wanted: unit }, 0) ?? "";
  assert.doesNotMatch(longer, /drainSeconds/, "one that waits longer than it must cuts nothing off");
  assert.equal(driftOf({ title: "x" }, "/u", { installed: unit, wanted: unit }, 0), null);
});

function machine(t: TestContext, env: Here["env"]): Here {
  const folder = mkdtempSync(join(tmpdir(), "everturn-drift-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const own = { ...user, home: folder };
  const all: Here = {
    system: "linux",
    home: join(folder, ".everturn"),
    node: "/node",
    main: "/main.js",
    env,
    user: own,
    owner: own,
    exists: (path) => path.startsWith(folder),
  };
  const [file] = servicesOf(all)[0]?.files({ drainSeconds: 0 }) ?? [];
  assert.ok(file !== undefined);
  mkdirSync(dirname(file.path), { recursive: true });
  writeFileSync(file.path, file.text);
  return all;
}

test("S32 at a start under a supervisor the unit on the disk is compared with what would be written now", async (t) => {
  const all = machine(t, { EVERTURN_SUPERVISOR: "systemd" });
  assert.equal(findService(all)?.kind, "systemd-user");
  assert.equal(await unitDrift(all, { drainSeconds: 0 }), null);
  assert.match((await unitDrift(all, { drainSeconds: 120 })) ?? "", /needs 150 s.*install --force.*smaller/);
  assert.match(
    (await unitDrift({ ...all, node: "/new/node" }, { drainSeconds: 0 })) ?? "",
    /ExecStart.*install --force/,
  );
});

test("without a supervisor nobody is told: what is installed was not used", async (t) => {
  assert.equal(await unitDrift(machine(t, {}), { drainSeconds: 120 }), null);
});

test("a folder that was prepared for an s6 that does not run is in nobody's charge", async (t) => {
  const all = machine(t, { PATH: "/nowhere" });
  const [unitOfUser, , s6] = servicesOf(all);
  assert.ok(unitOfUser !== undefined && s6?.kind === "s6");
  assert.equal(await isAttended(s6, all), false);
  assert.equal(
    await isAttended({ ...s6, check: [{ program: process.execPath, words: ["-v"], what: "x" }] }, all),
    true,
  );
  assert.equal(await isAttended(unitOfUser, all), true, "others tell by themselves that they do not answer");
});
