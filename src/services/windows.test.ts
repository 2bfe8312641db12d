// The scheduled task: its texts, its commands, and the order of a stop, with a stand-in for schtasks and taskkill that
// writes down what it was given. Task Scheduler itself is not here; test/windows runs the script for real.

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { Run } from "../host/command.ts";
import type { Ended, Lookout } from "../host/ending.ts";
import type { ProcessIdentity } from "../host/identity.ts";
import { newMarker, readMarker, writeMarker } from "../host/markers.ts";
import { table } from "../testing/table.ts";
import { type Ending, endServed } from "./ending.ts";
import type { Command, Place } from "./kinds.ts";
import { type StopStep, decideStop, stopTask, taskScript, taskState, taskXml, windowsService } from "./windows.ts";

const place: Place = {
  home: "C:\\Users\\Ärger & <Söhne>\\.everturn",
  name: "everturn",
  node: "C:\\Program Files (x86)\\Everturn\\node.exe",
  main: "C:\\Program Files (x86)\\Everturn\\100%\\main.js",
  passOn: { NODE_EXTRA_CA_CERTS: "C:\\ca & more.pem", PATH: "C:\\Windows;%USERPROFILE%\\bin" },
  user: { name: "DESK\\ärger", uid: null, home: "C:\\Users\\Ärger & <Söhne>" },
};

// ------------------------------------------------------------------------------------------------------- the texts

type Element = { readonly tag: string; readonly inside: (Element | string)[] };

/** A strict reading of the XML that tasks are made of; what it does not know is a fault. */
function parseXml(text: string): Element {
  const top: Element = { tag: "", inside: [] };
  const open = [top];
  const rest = text.replace(/^\ufeff<\?xml version="1\.0" encoding="UTF-16"\?>\r\n/, "");
  assert.notEqual(rest, text, "it begins with its mark and its encoding");
  for (const [all, tag, end, words] of rest.matchAll(/<([A-Z]\w*)(?: \w+="[^"<&]*")*>|<\/([A-Z]\w*)>|([^<]+)|</g)) {
    const now = open.at(-1) ?? top;
    if (tag !== undefined) {
      const made: Element = { tag, inside: [] };
      now.inside.push(made);
      open.push(made);
    } else if (end !== undefined) {
      assert.equal(end, open.pop()?.tag, "every element is closed where it was opened");
    } else {
      assert.ok(words !== undefined, `a stray ${all}`);
      assert.doesNotMatch(words, /&(?!(?:amp|lt|gt|quot);)|>/, "signs are written as entities");
      if (words.trim() !== "") now.inside.push(unescape(words));
    }
  }
  assert.equal(open.length, 1, "everything is closed");
  const [root] = top.inside;
  assert.ok(top.inside.length === 1 && typeof root === "object", "there is one element that holds all");
  return root;
}

function unescape(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&amp;", "&");
}

/** What an element holds, by its path; undefined where there is none. */
function at(root: Element, ...path: readonly string[]): string | undefined {
  let now: Element | undefined = root;
  for (const tag of path) now = now?.inside.find((one): one is Element => typeof one === "object" && one.tag === tag);
  const [only] = now?.inside ?? [];
  return typeof only === "string" ? only : undefined;
}

test("the task is XML that starts the gateway at boot, for ever, as its user, and again after a failure", () => {
  const task = parseXml(taskXml(place, "C:\\Users\\Ärger & <Söhne>\\.everturn\\task\\gateway.cmd"));
  assert.equal(task.tag, "Task");
  const rows: readonly (readonly [readonly string[], string])[] = [
    [["Triggers", "BootTrigger", "Enabled"], "true"],
    [["Principals", "Principal", "UserId"], "DESK\\ärger"],
    [["Principals", "Principal", "LogonType"], "S4U"],
    [["Principals", "Principal", "RunLevel"], "LeastPrivilege"],
    [["Settings", "ExecutionTimeLimit"], "PT0S"],
    [["Settings", "MultipleInstancesPolicy"], "IgnoreNew"],
    [["Settings", "RestartOnFailure", "Interval"], "PT1M"],
    [["Settings", "RestartOnFailure", "Count"], "999"],
    [["Settings", "StopIfGoingOnBatteries"], "false"],
    [["Settings", "DisallowStartIfOnBatteries"], "false"],
    [["Settings", "IdleSettings", "StopOnIdleEnd"], "false"],
    [["Settings", "Priority"], "5"],
    [["Actions", "Exec", "Command"], "%SystemRoot%\\System32\\cmd.exe"],
    [["Actions", "Exec", "Arguments"], '/d /s /c ""C:\\Users\\Ärger & <Söhne>\\.everturn\\task\\gateway.cmd""'],
    [["Actions", "Exec", "WorkingDirectory"], "C:\\Users\\Ärger & <Söhne>\\.everturn\\task"],
  ];
  for (const [path, value] of rows) assert.equal(at(task, ...path), value, path.join("/"));
});

test("the reading of XML finds what is not XML", () => {
  const whole = taskXml(place, "C:\\x.cmd");
  for (const [from, to] of [
    ["</Settings>", "</Setting>"],
    ["<Triggers>", "<Triggers"],
    ["&amp;", "&"],
    ["</Task>", ""],
    ["\ufeff", ""],
    ["</Task>", "</Task><Task></Task>"],
  ] as const)
    assert.throws(() => parseXml(whole.replace(from, to)), Error, `${from} → ${to}`);
});

test("the script gives the gateway its home and its supervisor, and runs Node itself", () => {
  const text = taskScript(place);
  assert.ok(
    text.split("\r\n").every((line) => !line.includes("\n")),
    "lines end as Windows ends them",
  );
  const has = (line: string) => assert.ok(text.split("\r\n").includes(line), `${line} is missing in\n${text}`);
  has('for %%h in ("%~dp0..") do set "EVERTURN_HOME=%%~fh"');
  has('set "EVERTURN_SUPERVISOR=task"');
  has('set "NODE_EXTRA_CA_CERTS=C:\\ca & more.pem"');
  has('set "PATH=C:\\Windows;%%USERPROFILE%%\\bin"');
  has(
    '  "C:\\Program Files (x86)\\Everturn\\node.exe" "C:\\Program Files (x86)\\Everturn\\100%%\\main.js" gateway run >"%~dp0task.log" 2>&1 <nul',
  );
  assert.doesNotMatch(taskScript({ ...place, passOn: { A: "b\r\ndel *" } }), /^del/m, "nothing gets a line of its own");
});

const spoken = ({ program, words }: Command) => [program, ...words].join(" ");

test("the commands of the task, word by word", () => {
  const service = windowsService(place);
  const folder = "C:\\Users\\Ärger & <Söhne>\\.everturn\\task";
  assert.deepEqual(
    service.files({ drainSeconds: 0 }).map(({ path, encoding }) => [path, encoding]),
    [
      [`${folder}\\task.xml`, "utf16le"],
      [`${folder}\\gateway.cmd`, undefined],
    ],
  );
  assert.deepEqual(service.install.map(spoken), [
    `schtasks /Create /TN everturn /XML ${folder}\\task.xml /F`,
    "schtasks /Run /TN everturn",
  ]);
  assert.deepEqual(service.start.map(spoken), ["schtasks /Run /TN everturn"]);
  assert.deepEqual(service.stop.map(spoken), ["schtasks /End /TN everturn"]);
  assert.deepEqual(service.uninstall.map(spoken), ["schtasks /End /TN everturn", "schtasks /Delete /TN everturn /F"]);
  assert.equal(spoken(service.status), "schtasks /Query /TN everturn /V /FO CSV /NH");
  assert.deepEqual(service.restart, []);
  assert.equal(
    service.files({ drainSeconds: 0 })[0]?.text,
    service.files({ drainSeconds: 3_600 })[0]?.text,
    "the drain is waited for outside of the task",
  );
});

const row = (status: string, result: string) =>
  `"DESK","\\everturn","N/A","${status}","Interactive/Background","11/15/2026 9:00:00 AM","${result}","DESK\\x, ""y""","cmd"\r\n`;

table<{ name: string; code: number; out: string; state: ReturnType<typeof taskState> }>(
  "what the scheduler says about the task",
  [
    { name: "it runs", code: 0, out: row("Running", "267009"), state: "running" },
    { name: "it runs, in another language", code: 0, out: row("Wird ausgeführt", "267009"), state: "running" },
    { name: "it ended well", code: 0, out: row("Ready", "0"), state: "stopped" },
    { name: "it never ran", code: 0, out: row("Bereit", "267011"), state: "stopped" },
    { name: "somebody ended it", code: 0, out: row("Ready", "267014"), state: "stopped" },
    { name: "it failed", code: 0, out: row("Ready", "1"), state: "failed" },
    { name: "it crashed", code: 0, out: row("Ready", "-1073741819"), state: "failed" },
    { name: "with an empty line before it", code: 0, out: `\r\n${row("Running", "267009")}`, state: "running" },
    { name: "nobody knows it", code: 1, out: "", state: "missing" },
    { name: "an answer without numbers", code: 0, out: '"a","b","c","d","e","f","","h"\r\n', state: "unknown" },
    { name: "no answer", code: 0, out: "", state: "unknown" },
    { name: "the scheduler does not answer", code: 5, out: "", state: "unknown" },
  ],
  ({ code, out, state }) => assert.equal(taskState({ code, out, err: "" }), state),
);

// -------------------------------------------------------------------------------------------------- the way it stops

table<{ name: string; waited: Ended["type"]; steps: readonly StopStep[] }>(
  "what follows the wait",
  [
    { name: "S101 it ended by itself: no force", waited: "ended", steps: ["end-task", "sweep"] },
    { name: "S102 it outlived the wait: the whole tree", waited: "survived", steps: ["end-task", "kill-tree"] },
    { name: "S103 there was nobody to wait for", waited: "absent", steps: ["end-task"] },
    { name: "who has handed over is left to the next attempt", waited: "moved", steps: [] },
    { name: "who needed force once needs it again", waited: "forced", steps: ["end-task", "kill-tree"] },
  ],
  ({ waited, steps }) => assert.deepEqual(decideStop(waited), steps),
);

const target: ProcessIdentity = { pid: 4711, startTime: null };

/** Windows with one gateway, which ends at a moment of its own; force ends it, by the tree or alone. */
function windows(endsAtMs: number, refused: readonly string[] = []) {
  const list: string[] = [];
  let now = 0;
  let end = endsAtMs;
  const run: Run = async (program, words) => {
    const typed = [program, ...words].join(" ");
    list.push(`${typed} at ${now}`);
    if (refused.some((one) => typed.startsWith(one))) return { code: 1, out: "", err: "ERROR: refused" };
    if (words.includes("/F")) end = now;
    return { code: 0, out: "", err: "" };
  };
  const lookout: Lookout = {
    isAlive: () => now < end,
    now: () => now,
    sleep: async (ms) => void (now += ms),
  };
  const stop = (own: Partial<Ending> = {}) => ({
    label: "everturn",
    target,
    drainSeconds: 0,
    writeMarker: async () => void list.push(`marker at ${now}`),
    onTrouble: (what: string) => void list.push(what),
    ...own,
  });
  return { list, run, lookout, stop };
}

const endAt = (ms: number) => `schtasks /End /TN everturn at ${ms}`;
const sweepAt = (ms: number) => `taskkill /T /FI PID eq 4711 /FI IMAGENAME eq node.exe at ${ms}`;

type StopCase = {
  readonly name: string;
  readonly endsAtMs: number;
  readonly own?: Partial<Ending>;
  readonly refused?: readonly string[];
  readonly ended: Ended;
  readonly list: readonly string[];
};

const cases: readonly StopCase[] = [
  {
    name: "S100 S101 the marker is written before anything that kills; after a clean end nothing is forced",
    endsAtMs: 700,
    ended: { type: "ended", waitedMs: 700 },
    list: ["marker at 0", endAt(700), sweepAt(700)],
  },
  {
    name: "S100 S102 after the whole patience the tree is killed by force, and the task cannot start the next one",
    endsAtMs: Number.POSITIVE_INFINITY,
    ended: { type: "forced", waitedMs: 30_000 },
    list: ["marker at 0", endAt(30_000), "taskkill /T /F /PID 4711 at 30000"],
  },
  {
    name: "S102 a system without tree kills: the process alone",
    endsAtMs: Number.POSITIVE_INFINITY,
    refused: ["taskkill /T /F"],
    ended: { type: "forced", waitedMs: 30_000 },
    list: ["marker at 0", endAt(30_000), "taskkill /T /F /PID 4711 at 30000", "taskkill /F /PID 4711 at 30000"],
  },
  {
    name: "S108 the patience follows the drain",
    endsAtMs: Number.POSITIVE_INFINITY,
    own: { drainSeconds: 60 },
    ended: { type: "forced", waitedMs: 70_000 },
    list: ["marker at 0", endAt(70_000), "taskkill /T /F /PID 4711 at 70000"],
  },
  {
    name: "S103 no gateway runs: no marker, no wait",
    endsAtMs: Number.POSITIVE_INFINITY,
    own: { target: null },
    ended: { type: "absent" },
    list: [endAt(0)],
  },
  {
    name: "S103 the one that ran is gone",
    endsAtMs: 0,
    ended: { type: "absent" },
    list: [endAt(0)],
  },
  {
    name: "S104 a number that is none is neither waited for nor killed",
    endsAtMs: Number.POSITIVE_INFINITY,
    own: { target: { pid: -1, startTime: null } },
    ended: { type: "absent" },
    list: [endAt(0)],
  },
  {
    name: "S107 a marker that cannot be written is told, and the wait goes on",
    endsAtMs: 9_000,
    own: {
      writeMarker: async () => {
        throw new Error("EACCES");
      },
    },
    ended: { type: "ended", waitedMs: 9_000 },
    list: ["the marker for the gateway with pid 4711 could not be written (EACCES)", endAt(9_000), sweepAt(9_000)],
  },
  {
    name: "what the scheduler refuses does not keep the gateway alive",
    endsAtMs: Number.POSITIVE_INFINITY,
    refused: ["schtasks"],
    ended: { type: "forced", waitedMs: 30_000 },
    list: ["marker at 0", endAt(30_000), "taskkill /T /F /PID 4711 at 30000"],
  },
  {
    name: "a gateway that may not be killed is said to have survived",
    endsAtMs: Number.POSITIVE_INFINITY,
    refused: ["taskkill"],
    ended: { type: "survived", waitedMs: 30_000 },
    list: [
      "marker at 0",
      endAt(30_000),
      "taskkill /T /F /PID 4711 at 30000",
      "taskkill /F /PID 4711 at 30000",
      "taskkill: ERROR: refused",
    ],
  },
];

table("stopping the task", cases, async ({ endsAtMs, own, refused, ended, list }) => {
  const it = windows(endsAtMs, refused);
  assert.deepEqual(await stopTask(it.stop(own), it.run, it.lookout), ended);
  assert.deepEqual(it.list, list);
});

test("S100 the marker that a stop of the task writes names the gateway before anything kills it", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "everturn-task-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, "marker.json");
  const it = windows(500);
  const seen: string[] = [];
  const run: Run = async (program, words, limitMs) => {
    const found = await readMarker(file);
    seen.push(found.type === "found" ? String(found.marker.target_pid) : found.type);
    return it.run(program, words, limitMs);
  };
  const stop = it.stop({ writeMarker: () => writeMarker(file, newMarker("plannedStop", target, process.pid, 0)) });
  assert.equal((await stopTask(stop, run, it.lookout)).type, "ended");
  assert.deepEqual(seen, ["4711", "4711"]);
});

test("every supervisor is told in its own way: a task afterwards, others at once, nobody means a signal", async () => {
  const asked: string[] = [];
  const carryOut = async (commands: readonly Command[]) => void asked.push(...commands.map(spoken));
  const task = windows(300);
  const tools = { system: "win32", carryOut, run: task.run, lookout: task.lookout } as const;
  assert.equal((await endServed(windowsService(place), task.stop(), tools)).type, "ended");
  assert.deepEqual(task.list, ["marker at 0", endAt(300), sweepAt(300)]);
  assert.deepEqual(asked, []);

  const unit = {
    ...windowsService(place),
    kind: "s6",
    stop: [{ program: "s6-svc", words: ["-d"], what: "stop" }],
  } as const;
  const linux = windows(300);
  const there = { ...tools, system: "linux", run: linux.run, lookout: linux.lookout } as const;
  assert.equal((await endServed(unit, linux.stop(), there)).type, "ended");
  assert.deepEqual([linux.list, asked], [["marker at 0"], ["s6-svc -d"]]);
  // One that waits to start it again must hear of it, too.
  assert.equal((await endServed(unit, linux.stop({ target: null }), there)).type, "absent");
  assert.deepEqual(asked, ["s6-svc -d", "s6-svc -d"]);

  const alone = windows(300);
  assert.deepEqual(await endServed(null, alone.stop({ target: null }), there), { type: "absent" });
  const bare = { ...tools, run: alone.run, lookout: alone.lookout };
  assert.equal((await endServed(null, alone.stop(), bare)).type, "ended");
  assert.deepEqual(alone.list, ["marker at 0"], "without a task the marker alone asks on Windows");
});
