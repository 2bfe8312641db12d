// The unit under real systemd as process 1. First the unit alone, with a few lines of shell in the gateway's place that
// end as they are told; then the real gateway, installed, killed, blocked, stopped and restarted.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Place } from "../../src/services/kinds.ts";
import { systemdUnit } from "../../src/services/systemd.ts";
import { root, until } from "../process/stage.ts";
import { type Container, bootSystemd, newFolder } from "./container.ts";

function placeIn(folder: string): Place {
  return {
    home: join(folder, "home"),
    name: "everturn",
    node: process.execPath,
    main: join(root, "src", "main.ts"),
    passOn: {},
    user: { name: "root", uid: 0, home: folder },
  };
}

/** What systemd itself has to say about a unit; it ends with 0 even for settings that it does not know. */
function verify(file: string, runtime: string, scope: "user" | "system"): Promise<string> {
  const words = [`--${scope}`, "verify", "--man=no", file];
  const env = { ...process.env, XDG_RUNTIME_DIR: runtime };
  return new Promise((done) =>
    execFile("systemd-analyze", words, { env }, (error, out, err) => done(`${error?.message ?? ""}${out}${err}`)),
  );
}

for (const scope of ["user", "system"] as const)
  test(`systemd has nothing to say against the ${scope} unit, whatever is in its paths`, async (t) => {
    const folder = newFolder(t, "verify");
    const odd = join(folder, `it's "odd" %h $HOME \\x41 süß`);
    mkdirSync(odd);
    for (const name of ["node", "main.js"]) symlinkSync("/bin/true", join(odd, name));
    const plain = placeIn(folder);
    const places = [
      plain,
      { ...plain, home: odd, node: join(odd, "node"), main: join(odd, "main.js"), passOn: { X: odd } },
    ];
    const file = join(folder, "everturn.service");
    for (const place of places) {
      writeFileSync(file, systemdUnit(place, scope, 0));
      assert.equal(await verify(file, folder, scope), "");
    }
    writeFileSync(file, systemdUnit(plain, scope, 0).replace("KillMode=mixed", "KilMode=mixed"));
    assert.match(await verify(file, folder, scope), /Unknown key.*'KilMode'/, "a mistake would have been told");
  });

type Facts = Readonly<Record<string, string>>;

async function show(machine: Container, unit = "everturn.service"): Promise<Facts> {
  const properties =
    "ActiveState,SubState,Result,ExecMainStatus,ExecMainCode,MainPID,NRestarts,StatusText,TimeoutStopUSec";
  const out = await machine.must(["systemctl", "show", `--property=${properties}`, unit]);
  return Object.fromEntries(out.split("\n").map((line) => line.split(/=(.*)/s, 2) as [string, string]));
}

/** Shell in the place of Node: says that it is ready, then ends with the number that it finds, once. */
const actor = `
trap 'exit "$(cat "$EVERTURN_HOME/at-term")"' TERM
systemd-notify --ready --status="acting $*"
while [ ! -e "$EVERTURN_HOME/end" ]; do sleep 0.05; done
code=$(cat "$EVERTURN_HOME/end")
rm "$EVERTURN_HOME/end"
exit "$code"
`;

async function actingMachine(t: TestContext) {
  const folder = newFolder(t, "actor");
  const home = join(folder, "home");
  const main = join(folder, "actor.sh");
  mkdirSync(home);
  writeFileSync(main, actor);
  writeFileSync(join(home, "at-term"), "1");
  const unit = systemdUnit({ ...placeIn(folder), node: "/bin/sh", main }, "system", 0);
  const machine = await bootSystemd(t, [folder]);
  const unitFile = join(folder, "everturn.service");
  writeFileSync(unitFile, unit);
  chmodSync(unitFile, 0o644);
  await machine.must(["cp", unitFile, "/etc/systemd/system/everturn.service"]);
  await machine.must(["systemctl", "daemon-reload"]);
  await machine.must(["systemctl", "start", "everturn"]);
  return { machine, end: (code: number) => writeFileSync(join(home, "end"), String(code)) };
}

test("the unit starts again after every end but 78 and 79, and a stop that ends with 1 is no failure", async (t) => {
  const { machine, end } = await actingMachine(t);
  const first = await show(machine);
  assert.equal(first["StatusText"], "acting gateway run");
  assert.equal(first["TimeoutStopUSec"], "1min 30s");
  let restarts = 0;
  for (const code of [0, 1, 70, 75]) {
    end(code);
    restarts += 1;
    const back = await until(
      () => show(machine),
      (now) => now["ActiveState"] === "active" && now["NRestarts"] === String(restarts),
      `it is back after ${code}`,
    );
    assert.equal(back["Result"], "success", `after ${code}`);
  }
  await machine.must(["systemctl", "kill", "--signal=KILL", "everturn"]);
  restarts += 1;
  await until(
    () => show(machine),
    (now) => now["ActiveState"] === "active" && now["NRestarts"] === String(restarts),
    "it is back after a kill",
  );
  await machine.must(["systemctl", "stop", "everturn"]);
  assert.equal((await show(machine))["ActiveState"], "inactive", "asked to stop it ended with 1, which is no failure");

  for (const [code, state] of [
    [78, "failed"],
    [79, "inactive"],
  ] as const) {
    await machine.must(["systemctl", "start", "everturn"]);
    end(code);
    const down = await until(
      () => show(machine),
      (now) => now["ActiveState"] === state,
      `it is down after ${code}`,
    );
    // systemd forgets about a unit that is down without a failure.
    if (state === "failed") assert.equal(down["ExecMainStatus"], String(code));
    // Twice the pause before a new start.
    await machine.must(["sleep", "1.2"]);
    const still = await show(machine);
    assert.deepEqual([still["ActiveState"], still["MainPID"]], [state, "0"], `it stays down after ${code}`);
  }
});
