// Commands that outlive a service of systemd, which ends everything in its control group with it: in a scope of their own
// they are found again by the next life; where systemd refuses that, what became of them is told as not known.

import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { ToolResult } from "../../src/core/journal.ts";
import { linesIn } from "../lines.ts";
import { root, until } from "../process/stage.ts";
import { type Container, bootSystemd, newFolder } from "./container.ts";

const command = "echo begun >>count; while [ ! -e go ]; do sleep 0.1; done; echo done";

const uid = 4711;
/** Where everybody may read the project, wherever it lies. */
const seenAt = "/srv/everturn";
const seen = (path: string) => (path.startsWith(`${root}/`) ? path.replace(root, seenAt) : path);

/** As a service of the machine, or of a user's own systemd. */
async function serving(t: TestContext, settings: string, whose: "system" | "user" = "system", before = "") {
  const folder = newFolder(t, "jobs");
  const home = join(folder, "home");
  mkdirSync(join(home, "workspace"), { recursive: true });
  for (const path of [folder, home, join(home, "workspace")]) chmodSync(path, 0o777);
  const unit = [
    "[Service]",
    `ExecStart=:${seen(process.execPath)} ${seenAt}/test/services/jobs-life.ts ${home} "${before}${command}"`,
    "KillMode=mixed",
    "Restart=always",
    "RestartSec=100ms",
    settings,
  ];
  writeFileSync(join(folder, "jobs-life.service"), `${unit.join("\n")}\n`);
  const machine = await bootSystemd(t, [folder], [`--bind-ro=${root}:${seenAt}`]);
  const systemctl =
    whose === "user" ? await asAnn(machine) : (...words: string[]) => machine.must(["systemctl", ...words]);
  const place = whose === "user" ? "/etc/systemd/user" : "/etc/systemd/system";
  await machine.must(["cp", join(folder, "jobs-life.service"), place]);
  await systemctl("daemon-reload");
  await systemctl("start", "jobs-life");
  const lines = (name: string) => linesIn(join(home, name));
  const lives = () => lines("lives").map((line) => JSON.parse(line) as { pid: number; dwelling: { type: string } });
  const begun = () => lines("workspace/count").length;
  await until(begun, (n) => n === 1, "the command runs");
  const resultFile = join(home, "result.json");
  return {
    systemctl,
    lives,
    begun,
    stops: () => lines("stops"),
    scopes: () => systemctl("list-units", "--all", "--plain", "--no-legend", "everturn-*"),
    finish: () => writeFileSync(join(home, "workspace", "go"), ""),
    another: (n: number) => until(lives, (all) => all.length >= n, `life ${n} begins`),
    async result(): Promise<ToolResult> {
      await until(
        () => existsSync(resultFile) && readFileSync(resultFile, "utf8") !== "",
        Boolean,
        "there is a result",
      );
      return JSON.parse(readFileSync(resultFile, "utf8")) as ToolResult;
    },
  };
}

/** Her own systemd, which lingers without a session. */
async function asAnn(machine: Container) {
  await machine.must(["useradd", "--no-create-home", "--uid", String(uid), "ann"]);
  await machine.must(["loginctl", "enable-linger", "ann"]);
  await until(
    async () => (await machine.run(["systemctl", "is-active", `user@${uid}.service`])).out.trim(),
    (state) => state === "active",
    "the user's own systemd is up",
  );
  const words = ["setpriv", `--reuid=${uid}`, `--regid=${uid}`, "--init-groups", "--", "systemctl", "--user"];
  const env = { XDG_RUNTIME_DIR: `/run/user/${uid}`, USER: "ann" };
  return (...more: string[]) => machine.must([...words, ...more], env);
}

for (const whose of ["system", "user"] as const)
  test(`a command survives \`systemctl restart\` and the death of its ${whose} service, and the next life gets its result`, async (t) => {
    const one = await serving(t, "", whose);
    assert.equal(one.lives()[0]?.dwelling.type, "scope");
    await one.systemctl("restart", "jobs-life");
    await one.another(2);
    await one.systemctl("kill", "--signal=KILL", "--kill-who=main", "jobs-life");
    await one.another(3);
    assert.deepEqual(one.stops(), ["0"], "it saw that it comes back");
    one.finish();
    const result = await one.result();
    assert.ok(result.type === "ok", JSON.stringify(result));
    assert.match(String(result.output), /^\[exit code 0 .*\ndone$/s);
    assert.equal(one.begun(), 1);
    assert.equal(await one.scopes(), "", "nothing is left of its scope");
  });

test("`systemctl stop` ends it, and the next start is told so", async (t) => {
  const one = await serving(t, "");
  await one.systemctl("stop", "jobs-life");
  assert.deepEqual(one.stops(), ["1"]);
  assert.equal(await one.scopes(), "", "nothing of it is left");
  await one.systemctl("start", "jobs-life");
  const result = await one.result();
  assert.ok(result.type === "ok", JSON.stringify(result));
  assert.match(String(result.output), /^\[killed .* \(the gateway was stopped\)/);
  assert.equal(one.begun(), 1);
});

test("a daemon that shed its group, its environment and its parent at once is found by its scope", async (t) => {
  const one = await serving(t, "", "system", "(env -i setsid sleep 333 >/dev/null 2>&1 &); ");
  one.finish();
  assert.equal((await one.result()).type, "ok");
  assert.match(await one.scopes(), /everturn-job-\S+\.scope/, "it outlives its command");
  await one.systemctl("stop", "jobs-life");
  assert.deepEqual(one.stops(), ["1"], "the stop has ended it");
  assert.equal(await one.scopes(), "", "nothing of it is left");
});

test("where systemd refuses a scope it runs inside: a restart ends it and says so, a death leaves it not known", async (t) => {
  const one = await serving(t, "User=nobody");
  assert.equal(one.lives()[0]?.dwelling.type, "inside");
  await one.systemctl("restart", "jobs-life");
  const result = await one.result();
  assert.ok(result.type === "ok", JSON.stringify(result));
  assert.match(String(result.output), /^\[killed .* \(its service was restarted/);
  assert.equal(one.begun(), 1);

  const other = await serving(t, "User=nobody");
  await other.systemctl("kill", "--signal=KILL", "--kill-who=main", "jobs-life");
  const lost = await other.result();
  assert.ok(lost.type === "unknown", JSON.stringify(lost));
  assert.match(lost.why, /not known/);
  assert.equal(other.begun(), 1);
});
