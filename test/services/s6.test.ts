// A container with s6 as process 1, started as the image of deploy/s6 starts it: its stop and start, kills, planned stops
// that last, and ends that s6 must not mend.

import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type Client, client } from "../process/client.ts";
import { type Started, root, until, within } from "../process/stage.ts";
import { type Container, bootContainer, newFolder } from "./container.ts";
import { answerTo, counted, freePort, slowly } from "./talk.ts";

type StateFile = { readonly gateway_state: string; readonly desired_state: string; readonly pid: number };

/** An image with its volume: it may be booted many times, one after another. */
async function newImage(t: TestContext) {
  const folder = newFolder(t, "s6");
  const [home, bin, scan] = ["home", "bin", "scan"].map((name) => join(folder, name)) as [string, string, string];
  for (const one of [home, bin]) mkdirSync(one, { mode: 0o700 });
  writeFileSync(join(bin, "everturn"), `#!/bin/sh\nexec '${process.execPath}' '${root}/src/main.ts' "$@"\n`);
  chmodSync(join(bin, "everturn"), 0o755);
  const port = await freePort();
  const env = {
    PATH: `${bin}:${process.env["PATH"]}`,
    EVERTURN_HOME: home,
    EVERTURN_S6_SCAN: scan,
    EVERTURN_CONTROL__PORT: String(port),
  };
  return {
    home,
    state: () => JSON.parse(readFileSync(join(home, "gateway_state.json"), "utf8")) as StateFile,
    ask: (): Client =>
      client({ url: `http://127.0.0.1:${port}`, token: readFileSync(join(home, "control.token"), "utf8").trim() }),
    ready: async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).status,
    async boot() {
      // Outside of the volume nothing is left of the container before.
      rmSync(scan, { recursive: true, force: true });
      const box = await bootContainer(t, [join(root, "deploy", "s6", "start")], env);
      await until(
        async () => (await box.run(["s6-svscanctl", scan], env)).code,
        (code) => code === 0,
        () => `s6 is up, which said ${box.said()}`,
      );
      // The name follows from the home, which is not the usual one.
      const label = join(scan, readdirSync(scan).find((name) => name.startsWith("everturn")) ?? assert.fail());
      return {
        box,
        everturn: (...words: readonly string[]) => box.run(["everturn", "gateway", ...words], env),
        svc: (...words: readonly string[]) => box.must(["s6-svc", ...words, label], env),
        /** Whether it is up, and whether s6 wants it to be. */
        stat: async () =>
          (await box.must(["s6-svstat", "-o", "up,wantedup", label], env))
            .replaceAll("true", "yes")
            .replaceAll("false", "no"),
        exitCode: async () => Number(await box.must(["s6-svstat", "-o", "exitcode", label], env)),
        deaths: () => box.must(["s6-svdt", label], env),
        whenReady: () => box.must(["s6-svwait", "-U", "-t", "120000", label], env),
        whenDown: () => box.must(["s6-svwait", "-D", "-t", "120000", label], env),
      };
    },
  };
}

/** As `docker stop` does. */
async function stopContainer(box: Container & { readonly cell: Started }): Promise<void> {
  process.kill(box.leader, "SIGTERM");
  await within(box.gone, `the container did not end: ${box.said()}`);
}

test("S33 a stopped container leaves both states running; its next start starts the gateway, and its turn goes on", async (t) => {
  const image = await newImage(t);
  const first = await image.boot();
  await first.whenReady();
  assert.equal(await image.ready(), 200, "what s6 calls ready answers");
  await image.ask().send("c1", "m1", slowly);
  await stopContainer(first.box);
  const { gateway_state, desired_state } = image.state();
  assert.deepEqual([gateway_state, desired_state], ["running", "running"], "nobody announced that signal");
  const second = await image.boot();
  await second.whenReady();
  assert.match(await answerTo(image.ask(), "c1"), counted);
  await stopContainer(second.box);
});

test("S33 a planned stop stays down, also in the next container; `gateway start` ends that", async (t) => {
  const image = await newImage(t);
  const first = await image.boot();
  await first.whenReady();
  const stopped = await first.everturn("stop");
  assert.equal(stopped.code, 0, stopped.err);
  assert.equal(await first.stat(), "no no");
  assert.deepEqual([image.state().gateway_state, image.state().desired_state], ["stopped", "stopped"]);
  await first.box.kill();

  const second = await image.boot();
  assert.equal(await second.stat(), "no no");
  const started = await second.everturn("start");
  assert.equal(started.code, 0, started.err);
  assert.equal(await image.ready(), 200);
  assert.equal(image.state().desired_state, "running");
  // A container that dies in the middle of everything.
  await second.box.kill();
  const third = await image.boot();
  await third.whenReady();
  await stopContainer(third.box);
});

test("S115 SIGINT is a planned stop: its 0 stays down although s6 was not told", async (t) => {
  const image = await newImage(t);
  const one = await image.boot();
  await one.whenReady();
  await one.svc("-i");
  await one.whenDown();
  assert.equal(await one.exitCode(), 0);
  assert.equal(await one.stat(), "no no");
  assert.equal(image.state().desired_state, "stopped");
});

test("a wrong configuration ends with 78 and stays down; mended, it starts", async (t) => {
  const image = await newImage(t);
  writeFileSync(join(image.home, "config.yaml"), "gateway: { drainSeconds: soon }\n");
  const one = await image.boot();
  // Before its first end there is no code or 0, and it counts as down.
  const code = await until(one.exitCode, (ended) => ended > 0, "it ended");
  assert.equal(code, 78);
  await one.whenDown();
  assert.equal(await one.stat(), "no no");
  assert.match(one.box.said(), /gateway\.drainSeconds/);
  rmSync(join(image.home, "config.yaml"));
  const started = await one.everturn("start");
  assert.equal(started.code, 0, started.err);
  assert.equal(await image.ready(), 200);
});

test("a kill and a restart come back: the one at once, the other by its 75; turns go on", async (t) => {
  const image = await newImage(t);
  const one = await image.boot();
  await one.whenReady();
  const before = image.state().pid;
  await image.ask().send("killed", "m1", slowly);
  await one.svc("-k");
  await until(
    () => image.ready().catch(() => 0),
    (status) => status === 200 && image.state().pid !== before,
    "it is back after a kill",
  );
  assert.match(await answerTo(image.ask(), "killed"), counted);
  await image.ask().send("restarted", "m2", slowly);
  const restarted = await one.everturn("restart");
  assert.equal(restarted.code, 0, restarted.err);
  assert.match(await answerTo(image.ask(), "restarted"), counted);
  assert.match(await one.deaths(), /signal SIGKILL\n.* exitcode 75$/);
});
