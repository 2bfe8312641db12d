// What a supervisor is told: decided from its environment, said by a recording program, written to a real pipe.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { type NotifyPlan, notifyPlan, openNotifier } from "./notify.ts";

test("who wants to know what is read from the environment", () => {
  const nothing: NotifyPlan = { systemd: false, beatMs: null, readyFd: null };
  const socket = { NOTIFY_SOCKET: "/run/n" };
  const rows: readonly (readonly [Record<string, string>, Partial<NotifyPlan>])[] = [
    [{}, {}],
    [{ NOTIFY_SOCKET: "" }, {}],
    [socket, { systemd: true }],
    [
      { ...socket, WATCHDOG_USEC: "30000000" },
      { systemd: true, beatMs: 10_000 },
    ],
    [
      { ...socket, WATCHDOG_USEC: "30000000", WATCHDOG_PID: "42" },
      { systemd: true, beatMs: 10_000 },
    ],
    [{ ...socket, WATCHDOG_USEC: "30000000", WATCHDOG_PID: "7" }, { systemd: true }],
    [
      { ...socket, WATCHDOG_USEC: "1" },
      { systemd: true, beatMs: 1 },
    ],
    [{ ...socket, WATCHDOG_USEC: "0" }, { systemd: true }],
    [{ ...socket, WATCHDOG_USEC: "soon" }, { systemd: true }],
    [{ WATCHDOG_USEC: "30000000" }, {}],
    [{ EVERTURN_READY_FD: "3" }, { readyFd: 3 }],
    [{ EVERTURN_READY_FD: "2" }, {}],
    [{ EVERTURN_READY_FD: "-1" }, {}],
    [{ EVERTURN_READY_FD: "3x" }, {}],
  ];
  for (const [env, expected] of rows) assert.deepEqual(notifyPlan(env, 42), { ...nothing, ...expected });
});

type Recorder = {
  readonly program: string;
  readonly env: Record<string, string>;
  readonly logged: string[];
  readonly log: (level: string, what: string) => void;
  /** What was said, one line for each child. */
  readonly said: () => string[];
};

async function folder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "everturn-notify-"));
  t.after(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** Stands in for the program of systemd: it writes down its words, and where it would have sent them. */
async function recorder(t: TestContext, body = ""): Promise<Recorder> {
  const home = await folder(t);
  const program = join(home, "systemd-notify");
  const record = join(home, "said");
  await writeFile(
    program,
    `#!/bin/sh\n${body}\nprintf '%s|' "$NOTIFY_SOCKET" "$@" >>'${record}'; echo >>'${record}'\n`,
    {
      mode: 0o700,
    },
  );
  const logged: string[] = [];
  const lines = () => (existsSync(record) ? readFileSync(record, "utf8").split("\n").slice(0, -1) : []);
  const env = { NOTIFY_SOCKET: "/run/n", PATH: process.env["PATH"] ?? "" };
  return { program, env, logged, log: (_level, what) => logged.push(what), said: lines };
}

async function until(what: string, isTrue: () => boolean): Promise<void> {
  const patience = performance.now() + 60_000;
  while (!isTrue()) {
    assert.ok(performance.now() < patience, what);
    await pause(5);
  }
}

test("systemd hears ready once, status in one line, and stopping as a plain word", async (t) => {
  const on = await recorder(t);
  const notifier = openNotifier(on);
  notifier.ready("serving\nFORGED=1");
  await until("ready", () => on.said().length === 1);
  notifier.ready("degraded");
  await until("status", () => on.said().length === 2);
  notifier.stopping("draining 2 turns");
  await until("stopping", () => on.said().length === 3);
  notifier.close();
  assert.deepEqual(on.said(), [
    "/run/n|READY=1|STATUS=serving FORGED=1|",
    "/run/n|STATUS=degraded|",
    "/run/n|STOPPING=1|STATUS=draining 2 turns|",
  ]);
  assert.deepEqual(on.logged, []);
});

test("what is said quickly is said together, the last status wins, and ready is never lost", async (t) => {
  const on = await recorder(t);
  const notifier = openNotifier(on);
  notifier.status("loading");
  for (let i = 0; i < 50; i++) notifier.status(`turn ${i}`);
  notifier.ready("serving");
  notifier.status("last");
  await until("both children", () => on.said().length === 2);
  assert.deepEqual(on.said(), ["/run/n|STATUS=loading|", "/run/n|STATUS=last|READY=1|"]);
});

test("signs of life come from the event loop: none while it is blocked, none after the end", async (t) => {
  const on = await recorder(t);
  const notifier = openNotifier({ ...on, env: { ...on.env, WATCHDOG_USEC: "90000" } });
  t.after(() => notifier.close());
  await until("two beats", () => on.said().length >= 2);
  const before = on.said().length;
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600);
  // One child may have been under way when the loop was blocked; twenty beats would have been due.
  assert.ok(on.said().length <= before + 1, `${on.said().length - before} while blocked`);
  await until("it goes on", () => on.said().length > before + 1);
  notifier.close();
  assert.ok(on.said().every((line) => line === "/run/n|WATCHDOG=1|"));
});

test("without a supervisor nothing is started and nothing is said", async (t) => {
  const on = await recorder(t);
  const notifier = openNotifier({ ...on, env: { WATCHDOG_USEC: "1000" } });
  notifier.ready("a");
  notifier.status("b");
  notifier.stopping("c");
  notifier.close();
  assert.deepEqual(
    process.getActiveResourcesInfo().filter((one) => one === "ProcessWrap"),
    [],
  );
  assert.deepEqual(on.said(), []);
});

test("a program that is missing is told once, and costs nothing more", async (t) => {
  const on = await recorder(t);
  const notifier = openNotifier({ ...on, program: `${on.program}-missing` });
  notifier.ready("a");
  await until("it is told", () => on.logged.length === 1);
  notifier.status("b");
  notifier.stopping("c");
  await pause(1);
  assert.equal(on.logged.length, 1);
  assert.match(on.logged[0] ?? "", /did not start \(.*ENOENT.*install it/);
});

const module = JSON.stringify(new URL("notify.ts", import.meta.url).href);

test("a child that hangs holds nobody back", async (t) => {
  const on = await recorder(t, "sleep 600");
  const program = `
    import { openNotifier } from ${module};
    const notifier = openNotifier({ env: { ...${JSON.stringify(on.env)}, WATCHDOG_USEC: "3000" },
      program: ${JSON.stringify(on.program)}, log: console.log, limitMs: 3_600_000 });
    notifier.ready("a");
    notifier.stopping("b");`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: "ignore", detached: true });
  t.after(() => process.kill(-(child.pid ?? 0), "SIGKILL"));
  const [code] = await once(child, "exit");
  assert.equal(code, 0);
});

/** A process that says ready: what came out of its descriptor 3, and what it logged. */
async function readyOn(
  third: "a pipe" | "a file" | "nothing",
  fd = "3",
  file = "",
): Promise<{ written: string; logged: string }> {
  const program = `
    import { openNotifier } from ${module};
    const notifier = openNotifier({ env: { EVERTURN_READY_FD: "${fd}" }, log: (_level, what) => console.log(what) });
    notifier.ready("a");
    notifier.ready("b");
    console.log("end");`;
  // A shell makes a plain pipe, as s6 does; Node would give its child a socket.
  const given = {
    "a pipe": `"$@" 3>&1 1>&2 | od -An -c`,
    "a file": `"$@" 3>>'${file}' 1>&2`,
    nothing: `"$@" 3>&- 1>&2`,
  };
  const script = given[third];
  const words = ["-c", script, "sh", process.execPath, "--input-type=module", "-e", program];
  const { stdout, stderr } = spawn("/bin/sh", words, { stdio: ["ignore", "pipe", "pipe"] });
  const [written, logged] = await Promise.all([text(stdout), text(stderr)]);
  return { written, logged };
}

test("s6 gets one newline on its pipe", async () => {
  const { written, logged } = await readyOn("a pipe");
  assert.equal(written.trim(), "\\n");
  assert.equal(logged, "end\n");
});

test("a descriptor that was not given is left alone", async (t) => {
  const { logged } = await readyOn("nothing");
  assert.match(
    logged,
    /^(?:Descriptor 3 is not the supervisor's|Readiness could not be told on descriptor 3)[^\n]*\nend\n$/,
  );
  const file = join(await folder(t), "state");
  const other = await readyOn("a file", "3", file);
  assert.equal(readFileSync(file, "utf8"), "", "whatever file has that number is not written to");
  assert.match(other.logged, /^Descriptor 3 is not the supervisor's/);
  const high = await readyOn("nothing", "999");
  assert.match(high.logged, /EBADF.*\nend\n$/);
});
