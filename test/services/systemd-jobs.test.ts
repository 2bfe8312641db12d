// Commands that outlive a service of systemd, which ends everything in its control group with it: in a scope of their own
// they are found again by the next life; where systemd refuses that, what became of them is told as not known.

import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { ToolResult } from "../../src/core/journal.ts";
import { root, until } from "../process/stage.ts";
import { bootSystemd, newFolder } from "./container.ts";

const command = "echo begun >>count; while [ ! -e go ]; do sleep 0.1; done; echo done";

async function serving(t: TestContext, settings: string) {
  const folder = newFolder(t, "jobs");
  const home = join(folder, "home");
  mkdirSync(join(home, "workspace"), { recursive: true });
  for (const path of [folder, home, join(home, "workspace")]) chmodSync(path, 0o777);
  const main = join(root, "test", "services", "jobs-life.ts");
  const unit = [
    "[Service]",
    `ExecStart=:${process.execPath} ${main} ${home} "${command}"`,
    "KillMode=mixed",
    "Restart=always",
    "RestartSec=100ms",
    settings,
  ];
  writeFileSync(join(folder, "jobs-life.service"), `${unit.join("\n")}\n`);
  const machine = await bootSystemd(t, [folder]);
  await machine.must(["cp", join(folder, "jobs-life.service"), "/etc/systemd/system/jobs-life.service"]);
  await machine.must(["systemctl", "daemon-reload"]);
  await machine.must(["systemctl", "start", "jobs-life"]);
  const lines = (name: string) =>
    existsSync(join(home, name)) ? readFileSync(join(home, name), "utf8").split("\n").filter(Boolean) : [];
  const lives = () => lines("lives").map((line) => JSON.parse(line) as { pid: number; dwelling: { type: string } });
  const begun = () => lines("workspace/count").length;
  await until(begun, (n) => n === 1, "the command runs");
  return {
    machine,
    lives,
    begun,
    stops: () => lines("stops"),
    finish: () => writeFileSync(join(home, "workspace", "go"), ""),
    another: (n: number) => until(lives, (all) => all.length >= n, `life ${n} begins`),
    result: () =>
      until(
        () =>
          existsSync(join(home, "result.json"))
            ? (JSON.parse(readFileSync(join(home, "result.json"), "utf8")) as ToolResult)
            : null,
        (found) => found !== null,
        "there is a result",
      ),
  };
}

test("a command survives `systemctl restart` and the death of its service, and the next life gets its result", async (t) => {
  const one = await serving(t, "");
  assert.equal(one.lives()[0]?.dwelling.type, "scope");
  await one.machine.must(["systemctl", "restart", "jobs-life"]);
  await one.another(2);
  await one.machine.must(["systemctl", "kill", "--signal=KILL", "--kill-who=main", "jobs-life"]);
  await one.another(3);
  assert.deepEqual(one.stops(), ["0"], "it saw that it comes back");
  one.finish();
  const result = await one.result();
  assert.ok(result?.type === "ok", JSON.stringify(result));
  assert.match(String(result.output), /^\[exit code 0 .*\ndone$/s);
  assert.equal(one.begun(), 1);
  const scopes = await one.machine.must(["systemctl", "list-units", "--all", "--plain", "--no-legend", "everturn-*"]);
  assert.equal(scopes, "", "nothing is left of its scope");
});

test("`systemctl stop` ends it, and the next start is told so", async (t) => {
  const one = await serving(t, "");
  await one.machine.must(["systemctl", "stop", "jobs-life"]);
  assert.deepEqual(one.stops(), ["1"]);
  const scopes = await one.machine.must(["systemctl", "list-units", "--all", "--plain", "--no-legend", "everturn-*"]);
  assert.equal(scopes, "", "nothing of it is left");
  await one.machine.must(["systemctl", "start", "jobs-life"]);
  const result = await one.result();
  assert.ok(result?.type === "ok", JSON.stringify(result));
  assert.match(String(result.output), /^\[killed .* \(the gateway was stopped\)/);
  assert.equal(one.begun(), 1);
});

test("where systemd refuses a scope it runs inside: a restart ends it and says so, a death leaves it not known", async (t) => {
  const one = await serving(t, "User=nobody");
  assert.equal(one.lives()[0]?.dwelling.type, "inside");
  await one.machine.must(["systemctl", "restart", "jobs-life"]);
  const result = await one.result();
  assert.ok(result?.type === "ok", JSON.stringify(result));
  assert.match(String(result.output), /^\[killed .* \(its service was restarted/);
  assert.equal(one.begun(), 1);

  const other = await serving(t, "User=nobody");
  await other.machine.must(["systemctl", "kill", "--signal=KILL", "--kill-who=main", "jobs-life"]);
  const lost = await other.result();
  assert.ok(lost?.type === "unknown", JSON.stringify(lost));
  assert.match(lost.why, /not known/);
  assert.equal(other.begun(), 1);
});
