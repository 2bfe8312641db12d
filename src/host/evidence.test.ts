// How a silent death is explained: from what kernel, memory limit, machine and systemd say, and within its time.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Answer, Run } from "./command.ts";
import {
  type Investigation,
  gatherEvidence,
  kernelSentences,
  machineSentence,
  memoryEventsPath,
  memorySentences,
  systemdSentences,
} from "./evidence.ts";

const now = Date.parse("2026-03-04T06:00:00.000Z");
const death = { pid: 4242, startedAt: now - 600_000, lastBeatAt: now - 30_000, machineSame: true };

test("whether the machine went away is told by its uptime", () => {
  const other = { ...death, machineSame: false };
  assert.deepEqual(machineSentence(death, now, 100_000), []);
  assert.match(machineSentence(other, now, 20)[0] ?? "", /started again at about 2026-03-04T05:59:40.*power cut/);
  assert.match(machineSentence(other, now, 80)[0] ?? "", /started again/, "clocks differ a little");
  assert.match(machineSentence(other, now, 100_000)[0] ?? "", /another machine.*up since 2026-03-03T02:13:20/);
});

const oom = "Out of memory: Killed process 4242 (node) total-vm:1234kB, anon-rss:99kB";

test("what the kernel did to exactly this process, and in its time", () => {
  const rows: readonly (readonly [string, RegExp | null])[] = [
    [`[ 1000.123456] ${oom}`, /^The kernel killed it because memory ran out: "Out of memory: Killed process 4242 /],
    [`[ 1000.5] Memory cgroup out of memory: Killed process 4242 (node) x`, /memory ran out/],
    [`[ 1000.5] box kernel: ${oom}`, /memory ran out: "Out of memory/],
    [`[  999.0] ${oom}`, null],
    ["[ 1000.5] Out of memory: Killed process 42420 (node)", null],
    ["[ 1000.5] Out of memory: Killed process 424 (node)", null],
    [
      "[ 1000.5] node[4242]: segfault at 0 ip 00 sp 00 error 4 in node",
      /^It crashed in native code: "node\[4242\]: seg/,
    ],
    ["[ 1000.5] traps: node[4242] general protection fault ip:0", /native code/],
    ["[ 1000.5] node[4243]: segfault at 0", null],
    [`Out of memory: Killed process 4242 (node)`, null],
    ["", null],
  ];
  for (const [line, expected] of rows) {
    const said = kernelSentences(`[ 5.0] other\n${line}\n[ 2000.1] later`, 4_242, 1_000);
    if (expected === null) assert.deepEqual(said, [], line);
    else assert.match(said.join(), expected, line);
  }
});

test("the memory limit's own count, in both generations of cgroups", () => {
  const rows: readonly (readonly [string, string | null])[] = [
    ["0::/system.slice/everturn.service\n", "/sys/fs/cgroup/system.slice/everturn.service/memory.events"],
    ["0::/\n", "/sys/fs/cgroup/memory.events"],
    ["4:memory:/box/a\n0::/\n", "/sys/fs/cgroup/memory/box/a/memory.oom_control"],
    ["4:cpu,memory:/\n", "/sys/fs/cgroup/memory/memory.oom_control"],
    ["9:name=systemd:/\n", null],
    ["", null],
  ];
  for (const [text, path] of rows) assert.equal(memoryEventsPath(text), path, text);
  assert.deepEqual(memorySentences("low 0\noom 0\noom_kill 0\n"), []);
  assert.deepEqual(memorySentences(""), []);
  assert.match(memorySentences("oom_kill_disable 0\noom_kill 1")[0] ?? "", /killed one process so far/);
  assert.match(memorySentences("oom 7\noom_kill 3\noom_group_kill 0")[0] ?? "", /killed 3 processes so far/);
});

test("what systemd says about the end of the unit, and nothing that we wrote ourselves", () => {
  const journal = [
    "everturn.service: Main process exited, code=killed, status=9/KILL",
    "everturn.service: Failed with result 'signal'.",
    "everturn.service: Failed with result 'exit-code'.",
    "everturn.service: Scheduled restart job, restart counter is at 3.",
    "Started everturn.service.",
    '{"what":"everturn.service: Main process exited, code=killed, status=9/KILL"}',
    "everturn.service: Killing process 4243 (node) with signal SIGKILL.",
  ].join("\n");
  assert.deepEqual(systemdSentences(journal, 4_242), [
    'systemd says: "everturn.service: Main process exited, code=killed, status=9/KILL"',
    `systemd says: "everturn.service: Failed with result 'signal'."`,
  ]);
  for (const line of [
    "e.service: Watchdog timeout (limit 30s)!",
    "e.service: State 'stop-sigterm' timed out. Killing.",
    "e.service: Killing process 4242 (node) with signal SIGKILL.",
    "e.service: A process of this unit has been killed by the OOM killer.",
    "e.service: Failed with result 'oom-kill'.",
  ])
    assert.deepEqual(systemdSentences(line, 4_242), [`systemd says: "${line}"`]);
});

const noFile = Object.assign(new Error("ENOENT: no such file"), { code: "ENOENT" });

function investigation(
  files: Record<string, string>,
  answers: Record<string, Answer>,
): Investigation & { asked: string[][] } {
  const asked: string[][] = [];
  const run: Run = (program, words) => {
    asked.push([program, ...words]);
    return Promise.resolve(answers[program] ?? { code: null, out: "", err: `spawn ${program} ENOENT` });
  };
  const readFile = (path: string) => {
    const text = files[path];
    return text === undefined ? Promise.reject(noFile) : Promise.resolve(text);
  };
  return { ...death, now: () => now, uptimeSeconds: () => 2_000, platform: "linux", run, readFile, asked };
}

const cgroup = { "/proc/self/cgroup": "0::/system.slice/everturn.service\n" };
const ok = (out: string): Answer => ({ code: 0, out, err: "" });
const lastSign = "Its last sign of life (pid 4242) was at 2026-03-04T05:59:30.000Z.";

test("everything that is known is told together", async () => {
  const files = { ...cgroup, "/sys/fs/cgroup/system.slice/everturn.service/memory.events": "oom_kill 1\n" };
  const end = "everturn.service: Failed with result 'oom-kill'.";
  const case1 = investigation(files, { dmesg: ok(`[ 1990.0] ${oom}`), journalctl: ok(end) });
  assert.deepEqual(await gatherEvidence(case1), [
    lastSign,
    `The kernel killed it because memory ran out: "${oom}".`,
    "The memory limit of this service or container has killed one process so far; the gateway may have been among them.",
    `systemd says: "${end}"`,
  ]);
  assert.deepEqual(case1.asked, [
    ["dmesg"],
    [
      "journalctl",
      "--unit=everturn.service",
      `--since=@${(now - 600_000) / 1_000}`,
      "--output=cat",
      "--no-pager",
      "--quiet",
      "--lines=500",
    ],
  ]);
});

test("a line from before it was born accuses nobody", async () => {
  // Up for 2000 s, born 600 s ago: 1400, and a minute for clocks that differ.
  const early = investigation(cgroup, { dmesg: ok(`[ 1339.0] ${oom}`), journalctl: ok("") });
  assert.equal((await gatherEvidence(early)).length, 2);
  const late = investigation(cgroup, { dmesg: ok(`[ 1341.0] ${oom}`), journalctl: ok("") });
  assert.match((await gatherEvidence(late))[1] ?? "", /memory ran out/);
});

test("where nothing is known, that is what is said", async () => {
  const quiet = investigation(cgroup, { dmesg: ok("[ 1.0] hello"), journalctl: ok("") });
  const said = await gatherEvidence(quiet);
  assert.equal(said[0], lastSign);
  assert.match(said[1] ?? "", /Nothing on this machine says what ended it: a kill from outside/);
  assert.equal(said.length, 2);
});

test("a kernel log that only the journal shows, or that nobody shows", async () => {
  const refused = { code: 1, out: "", err: "dmesg: read kernel buffer failed: Operation not permitted\n" };
  const kept = investigation(
    { "/proc/self/cgroup": "0::/" },
    { dmesg: refused, journalctl: ok(`[ 1990.0] box kernel: ${oom}`) },
  );
  assert.match((await gatherEvidence(kept))[1] ?? "", /memory ran out/);
  assert.ok(kept.asked[1]?.includes("--output=short-monotonic"));
  const hidden = investigation({ "/proc/self/cgroup": "0::/" }, { dmesg: refused });
  assert.match(
    (await gatherEvidence(hidden))[1] ?? "",
    /not readable for this user \(dmesg: .*not permitted\).*not excluded/,
  );
});

test("after a restart of the machine its logs are not asked", async () => {
  const rebooted = { ...investigation(cgroup, {}), machineSame: false, uptimeSeconds: () => 10 };
  const said = await gatherEvidence(rebooted);
  assert.match(said[1] ?? "", /The machine was started again/);
  assert.equal(said.length, 2);
  assert.deepEqual(rebooted.asked, []);
  const mac = { ...investigation(cgroup, {}), platform: "darwin" } as const;
  assert.match((await gatherEvidence(mac))[1] ?? "", /Nothing on this machine says/);
  assert.deepEqual(mac.asked, []);
});

test("it never throws, and never lasts longer than its time", async () => {
  const broken: Investigation = {
    ...investigation(cgroup, {}),
    run: () => {
      throw new Error("no programs today");
    },
    readFile: () => Promise.reject(new Error("EACCES")),
  };
  const said = await gatherEvidence(broken);
  assert.match(said.join("\n"), /kernel's log could not be looked at \(no programs today\)/);
  assert.match(said.join("\n"), /memory limit could not be looked at \(EACCES\)/);
  const hung = { ...investigation(cgroup, {}), run: () => new Promise<Answer>(() => undefined), limitMs: 20 };
  assert.deepEqual((await gatherEvidence(hung))[0], lastSign);
});

test("on this machine, for real", async () => {
  const begun = performance.now();
  const said = await gatherEvidence({
    pid: 2 ** 22 + 1,
    startedAt: Date.now() - 60_000,
    lastBeatAt: Date.now(),
    machineSame: true,
  });
  assert.ok(said.length >= 2 && said.every((one) => one.length > 0));
  assert.doesNotMatch(said.join(), /could not be looked at/);
  assert.ok(performance.now() - begun < 30_000);
});
