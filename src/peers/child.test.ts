import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type Bounds, type Peer, flood, openPeer, splitter } from "./child.ts";

test("what comes in is cut into lines, wherever the pieces end", () => {
  const text = 'one\n{"zwei":"👋"}\n\nlast';
  for (let size = 1; size < 12; size++) {
    const split = splitter(100);
    const bytes = Buffer.from(text);
    const lines: string[] = [];
    for (let at = 0; at < bytes.length; at += size)
      lines.push(...(split(bytes.subarray(at, at + size)) ?? ["too long"]));
    assert.deepEqual(lines, ["one", '{"zwei":"👋"}', ""], `pieces of ${size}`);
  }
});

test("a line may be as long as it may be, and no longer", () => {
  const fits = splitter(10);
  assert.deepEqual(fits(Buffer.from("0123456789")), []);
  assert.deepEqual(fits(Buffer.from("\nx")), ["0123456789"]);
  assert.equal(fits(Buffer.from("0123456789")), null);
});

test("too many in a second are a flood; the same in two are not", () => {
  let now = 0;
  const tooMany = flood(3, () => now);
  assert.deepEqual([tooMany(), tooMany(), tooMany(), tooMany()], [false, false, false, true]);
  now = 1_001;
  assert.deepEqual([tooMany(), tooMany(), tooMany(), tooMany()], [false, false, false, true]);
});

type Run = { readonly peer: Peer; readonly lines: string[]; readonly ended: Promise<string> };

function run(code: string, bounds: Partial<Bounds> = {}): Run {
  const lines: string[] = [];
  const { promise, resolve } = Promise.withResolvers<string>();
  const peer = openPeer({
    spawn: (program, words, options) => spawn(program, [...words], { ...options, detached: true }),
    command: [process.execPath, "-e", code],
    env: { A: "1" },
    line: (text) => void lines.push(text),
    ended: resolve,
    bounds,
  });
  return { peer, lines, ended: promise };
}

test("lines go to and fro, and the end says how it ended and what was said last", async () => {
  const { peer, lines, ended } = run(
    'process.stdin.once("data", (d) => { process.stdout.write(`${process.env.A} ${d}`); console.error("alas"); process.exitCode = 4; process.stdin.destroy() })',
  );
  await peer.send("hello");
  assert.equal(await ended, "it ended with exit code 4");
  await peer.end("again");
  assert.deepEqual(lines, ["1 hello"]);
  assert.equal(peer.lastWords(), "alas");
  await assert.rejects(peer.send("late"), /exit code 4/);
});

test("a program that does not exist, dies by a signal, or is ended by us, says so once", async () => {
  assert.match(await run("process.kill(process.pid, 'SIGKILL')").ended, /by SIGKILL/);
  const { peer, ended } = run("process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)", { graceMs: 50 });
  await peer.end("enough");
  assert.equal(await ended, "enough");
  assert.throws(() => process.kill(peer.pid ?? 0, 0), /ESRCH/);
  const { promise, resolve } = Promise.withResolvers<string>();
  openPeer({
    spawn: (program, words, options) => spawn(program, [...words], { ...options, detached: true }),
    command: ["/no/such/program"],
    env: {},
    line: () => undefined,
    ended: resolve,
  });
  assert.match(await promise, /cannot be started: .no.such.program was not found/);
});

test("whoever speaks to one that does not listen is told why, and not how the pipe broke", async () => {
  const { peer, lines } = run(
    'require("fs").closeSync(0); console.log("deaf"); process.on("SIGTERM", () => process.exit(5)); setInterval(() => {}, 1000)',
    { graceMs: 50 },
  );
  while (lines.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  await assert.rejects(peer.send("hello"), /^Error: it does not listen any more$/);
});

test("one that does not read what it is told is let go before we grow", async () => {
  const { peer, ended } = run("setInterval(() => {}, 1000)", { unreadBytes: 1e6 });
  const line = "x".repeat(500_000);
  const sends = Array.from({ length: 10 }, () => peer.send(line).catch((error: unknown) => String(error)));
  assert.equal(await ended, "it does not read what it is told");
  assert.match(String((await Promise.all(sends)).at(-1)), /does not read/);
});

test("it does not outlive us, whatever it thinks of signals and of the end of its input", async () => {
  const stubborn = `process.on("SIGTERM", () => {}); setInterval(() => {}, 1000); console.log(process.pid)`;
  const driver = `
    import { spawn } from "node:child_process";
    import { openPeer } from ${JSON.stringify(import.meta.resolve("./child.ts"))};
    openPeer({
      spawn: (program, words, options) => spawn(program, [...words], { ...options, detached: true }),
      command: [process.execPath, "-e", ${JSON.stringify(stubborn)}],
      env: {},
      line: (text) => console.log(text),
      ended: () => {},
    });`;
  const gateway = spawn(process.execPath, ["--input-type=module", "-e", driver], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [said] = (await once(gateway.stdout, "data")) as [Buffer];
  const pid = Number(said.toString());
  assert.equal(process.kill(pid, 0), true);
  gateway.kill("SIGKILL");
  while (isAlive(pid)) await sleep(20);
});

function isAlive(pid: number): boolean {
  try {
    // The dead whom nobody collects are still there.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch (error) {
    if (error instanceof Error) return false;
    throw error;
  }
}
