// Who starts us again, as a table; and what systemd is asked for the short way to a restart.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import type { SupervisorKind } from "../core/lifecycle.ts";
import type { Answer, Run } from "./command.ts";
import { type SupervisorHints, launchRestartShortcut, supervisorOf, unitFromCgroup } from "./supervised.ts";

const hints: SupervisorHints = { env: {}, pid: 42, ppid: 7, parentName: "bash", platform: "linux" };

test("only proof of being started by it makes a supervisor", () => {
  const rows: readonly (readonly [what: string, Partial<SupervisorHints>, SupervisorKind | null])[] = [
    ["a shell", {}, null],
    ["systemd started exactly us", { env: { SYSTEMD_EXEC_PID: "42" } }, "systemd"],
    ["systemd started our parent", { env: { SYSTEMD_EXEC_PID: "7", INVOCATION_ID: "a" } }, null],
    ["an inherited id", { env: { INVOCATION_ID: "a", EVERTURN_SUPERVISOR: "systemd" }, ppid: 1 }, null],
    ["a variable of systemd elsewhere", { env: { SYSTEMD_EXEC_PID: "42" }, platform: "darwin" }, null],
    ["s6", { parentName: "s6-supervise" }, "s6"],
    ["s6 as it is inherited", { env: { EVERTURN_SUPERVISOR: "s6" } }, null],
    [
      "launchd by its label",
      { platform: "darwin", ppid: 1, env: { XPC_SERVICE_NAME: "dev.everturn.gateway" } },
      "launchd",
    ],
    [
      "launchd, another home",
      { platform: "darwin", ppid: 1, env: { XPC_SERVICE_NAME: "dev.everturn.gateway.a1" } },
      "launchd",
    ],
    ["launchd by our word", { platform: "darwin", ppid: 1, env: { EVERTURN_SUPERVISOR: "launchd" } }, "launchd"],
    ["inherited from a terminal", { platform: "darwin", env: { XPC_SERVICE_NAME: "dev.everturn.gateway" } }, null],
    [
      "somebody else's label",
      { platform: "darwin", ppid: 1, env: { XPC_SERVICE_NAME: "dev.everturn.gatewayx" } },
      null,
    ],
    ["an orphan on macOS", { platform: "darwin", ppid: 1, env: { XPC_SERVICE_NAME: "0" } }, null],
    ["the task of Windows", { platform: "win32", env: { EVERTURN_SUPERVISOR: "task" } }, "task"],
    ["a prompt on Windows", { platform: "win32", env: { EVERTURN_SUPERVISOR: "systemd" } }, null],
    ["a parent that is not told", { parentName: null }, null],
  ];
  for (const [what, given, expected] of rows) assert.equal(supervisorOf({ ...hints, ...given }), expected, what);
});

test("the unit of a process is read from its cgroup", () => {
  const rows: readonly (readonly [string, ReturnType<typeof unitFromCgroup>])[] = [
    ["0::/system.slice/everturn.service\n", { name: "everturn.service", scope: "system" }],
    ["0::/system.slice/everturn.service/inner", { name: "everturn.service", scope: "system" }],
    [
      "0::/user.slice/user-1000.slice/user@1000.service/app.slice/everturn-a1.service",
      { name: "everturn-a1.service", scope: "user" },
    ],
    ["0::/user.slice/user-1000.slice/user@1000.service/init.scope", null],
    ["0::/user.slice/user-1000.slice/user@1000.service", null],
    ["0::/user.slice/user-1000.slice/session-3.scope", null],
    [
      "5:memory:/system.slice/other.service\n1:name=systemd:/system.slice/a@b.service\n0::/",
      { name: "a@b.service", scope: "system" },
    ],
    ["4:memory:/system.slice/other.service\n0::/\n", null],
    ["0::/system.slice/it's.service", null],
    ["0::/docker/abc", null],
    ["nonsense", null],
    ["", null],
  ];
  for (const [text, unit] of rows) assert.deepEqual(unitFromCgroup(text), unit, text);
});

const self = { pid: 42, startTime: 1_230 };
const ok = (out = ""): Answer => ({ code: 0, out, err: "" });

/** A runner that answers in turn and writes down what it was asked. */
function runner(...answers: readonly Answer[]): { run: Run; asked: string[][] } {
  const asked: string[][] = [];
  const run: Run = (program, words) => {
    asked.push([program, ...words]);
    return Promise.resolve(answers[asked.length - 1] ?? { code: null, out: "", err: "nothing left to say" });
  };
  return { run, asked };
}

const script = (systemctl: string) =>
  "while kill -0 42 2>/dev/null; do sleep 0.05; done; " +
  `while ${systemctl} show --property=MainPID 'everturn.service' | grep -qx MainPID=42; do sleep 0.05; done; ` +
  `${systemctl} reset-failed 'everturn.service' 2>/dev/null; ${systemctl} start 'everturn.service'`;

test("the short way waits for our end, then resets and starts our unit, in the right systemd", async () => {
  const rows = [
    ["0::/system.slice/everturn.service", []],
    ["0::/user.slice/user-1.slice/user@1.service/app.slice/everturn.service", ["--user"]],
  ] as const;
  for (const [cgroup, scope] of rows) {
    const { run, asked } = runner(ok("42\n"), ok());
    assert.deepEqual(await launchRestartShortcut({ self, cgroup, run }), {
      type: "launched",
      unit: "everturn.service",
    });
    assert.deepEqual(asked, [
      ["systemctl", ...scope, "show", "--property=MainPID", "--value", "everturn.service"],
      [
        "systemd-run",
        ...scope,
        "--quiet",
        "--collect",
        "--unit=everturn-restart-42-1230",
        "--description=Starts everturn.service again",
        "--property=RuntimeMaxSec=1h",
        "/bin/sh",
        "-c",
        script(["systemctl", ...scope].join(" ")),
      ],
    ]);
    assert.doesNotMatch(asked[1]?.at(-1) ?? "", /[$%]/, "nothing that systemd would replace");
    execFileSync("/bin/sh", ["-n", "-c", asked[1]?.at(-1) ?? ""]);
  }
});

test("the short way is not taken without proof, and says why", async () => {
  const cgroup = "0::/system.slice/everturn.service";
  const rows: readonly (readonly [string, readonly Answer[], why: RegExp, asked: number])[] = [
    ["0::/", [], /in no service of systemd/, 0],
    [cgroup, [ok("7\n")], /main process of everturn\.service is 7, not 42/, 1],
    [cgroup, [ok("0\n")], /is 0, not 42/, 1],
    [cgroup, [ok("")], /is unknown, not 42/, 1],
    [cgroup, [{ code: 1, out: "42", err: "no bus\n" }], /could not show everturn\.service \(no bus\)$/, 1],
    [cgroup, [{ code: null, out: "", err: "" }], /could not show everturn\.service$/, 1],
    [cgroup, [ok("42"), { code: 1, out: "", err: "access denied" }], /systemd-run was refused \(access denied\)/, 2],
  ];
  for (const [text, answers, why, times] of rows) {
    const { run, asked } = runner(...answers);
    const shortcut = await launchRestartShortcut({ self, cgroup: text, run });
    assert.ok(shortcut.type === "not-launched", String(why));
    assert.match(shortcut.why, why);
    assert.equal(asked.length, times);
  }
});
