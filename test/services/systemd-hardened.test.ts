// The hardened unit under real systemd, with a model whose tools run in bubblewrap inside of it: sandboxed commands, a job that
// outlives a killed gateway, a restart and a stop all work, and what the unit takes away is gone.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemdUnit } from "../../src/services/systemd.ts";
import { answerTo, doing, terminal } from "../agent/stage.ts";
import { fakeModels, follow } from "../fakes/models/index.ts";
import { client } from "../process/client.ts";
import { atEnd, patienceMs, root, until } from "../process/stage.ts";
import { bootSystemd, newFolder } from "./container.ts";
import { freePort } from "./talk.ts";

const uid = 4711;
/** Where the unit makes everything read-only but the home; with signs that mean something in a unit. */
const belowUsr = "/usr/local/share/everturn 100%h";
/** Where everybody may read the project, wherever it lies. */
const seenAt = "/srv/everturn";
const unitName = "everturn.service";

function unitIn(folder: string, scope: "user" | "system", needsPrivileges = false): string {
  const node = process.execPath.startsWith(`${root}/`) ? process.execPath.replace(root, seenAt) : process.execPath;
  const user = { name: "ann", uid, home: folder };
  const place = { home: join(folder, "home"), name: "everturn", node, main: join(seenAt, "src", "main.ts"), user };
  return systemdUnit({ ...place, passOn: {} }, scope, { drainSeconds: 0, needsPrivileges });
}

for (const scope of ["user", "system"] as const)
  test(`systemd judges the hardened ${scope} unit to be less exposed`, (t) => {
    const folder = newFolder(t, "exposure");
    const exposure = (needsPrivileges: boolean): number => {
      const file = join(folder, unitName);
      writeFileSync(file, unitIn(folder, scope, needsPrivileges));
      const words = ["security", "--offline=true", "--no-pager", file];
      const said = execFileSync("systemd-analyze", words, {
        encoding: "utf8",
        env: { ...process.env, LANG: "C.UTF-8" },
      });
      return Number(/exposure level for \S+: ([\d.]+)/.exec(said)?.[1] ?? assert.fail(said));
    };
    const [open, hardened] = [exposure(true), exposure(false)];
    t.diagnostic(`exposure of the ${scope} unit: ${open} without, ${hardened} with`);
    assert.ok(hardened < open - 1, `${hardened} instead of ${open}`);
  });

async function serving(t: TestContext, scope: "user" | "system") {
  // As on a machine: a container of nspawn would hide parts of /proc, and then no sandbox can have its own.
  process.env["SYSTEMD_NSPAWN_API_VFS_WRITABLE"] = "yes";
  const fake = await fakeModels(({ seen }) => follow(seen));
  atEnd(t, () => fake.close());
  const folder = newFolder(t, "hardened");
  const seen = scope === "system" ? belowUsr : folder;
  const home = join(folder, "home");
  const workspace = join(home, "workspace");
  mkdirSync(workspace, { recursive: true, mode: 0o700 });
  const port = await freePort();
  const agent = `  model: openai/fake-model\n  baseUrl: ${fake.baseUrl("openai")}\n  apiKey: planted-provider-key-4711`;
  writeFileSync(join(home, "config.yaml"), `control: { port: ${port} }\nagent:\n${agent}\n`);
  writeFileSync(join(folder, unitName), unitIn(seen, scope));
  for (const path of [folder, home, workspace, join(home, "config.yaml")]) chownSync(path, uid, uid);
  chmodSync(join(folder, unitName), 0o644);
  const machine = await bootSystemd(t, [folder], [`--bind-ro=${root}:${seenAt}`, `--bind=${folder}:${seen}`]);
  await machine.must(["useradd", "--no-create-home", "--home-dir", seen, "--uid", String(uid), "ann"]);
  const systemctl = (...words: readonly string[]) => {
    if (scope === "system") return machine.must(["systemctl", ...words]);
    const asAnn = ["setpriv", `--reuid=${uid}`, `--regid=${uid}`, "--init-groups", "--"];
    const env = { XDG_RUNTIME_DIR: `/run/user/${uid}`, USER: "ann" };
    return machine.must([...asAnn, "systemctl", "--user", ...words], env);
  };
  if (scope === "user") {
    await machine.must(["loginctl", "enable-linger", "ann"]);
    await until(
      async () => (await machine.run(["systemctl", "is-active", `user@${uid}.service`])).out.trim(),
      (state) => state === "active",
      "the user's own systemd is up",
    );
  }
  await machine.must(["cp", join(folder, unitName), `/etc/systemd/${scope}/${unitName}`]);
  await systemctl("daemon-reload");
  await systemctl("start", unitName);
  const ask = client({
    url: `http://127.0.0.1:${port}`,
    token: readFileSync(join(home, "control.token"), "utf8").trim(),
  });
  return {
    machine,
    folder,
    workspace,
    ask,
    systemctl: (verb: string) => systemctl(verb, unitName),
    mainPid: async () => (await systemctl("show", "--property=MainPID", "--value", unitName)).trim(),
    async answer(id: string, command: string) {
      await ask.send("c1", id, doing(terminal(command)));
      return answerTo(ask, "c1", id);
    },
  };
}

for (const scope of ["system", "user"] as const)
  test(`sandboxed tools, jobs and restarts work under the hardened ${scope} unit`, {
    timeout: 4 * patienceMs,
  }, async (t) => {
    const one = await serving(t, scope);
    const first = await one.answer("m1", "echo made >made.txt && cat made.txt && id -u && ls /proc/1");
    assert.match(first, /^done 1: [^]*made/);
    assert.equal(readFileSync(join(one.workspace, "made.txt"), "utf8"), "made\n");

    const { sandbox } = await one.ask.get<{ sandbox: { type: string; kind?: string } }>("/api/status");
    assert.deepEqual([sandbox.type, sandbox.kind], ["on", "bubblewrap"]);

    // What the unit takes away, seen from the gateway itself.
    const status = await one.machine.must(["cat", `/proc/${await one.mainPid()}/status`]);
    assert.match(status, /^NoNewPrivs:\s+1$/m);
    assert.match(status, /^Seccomp:\s+2$/m);
    if (scope === "system") {
      assert.match(status, /^CapBnd:\s+0+$/m);
      // Quotes and backslashes arrive as they are.
      const odd = "/usr/a\"b'c\\x41 d";
      writeFileSync(join(one.folder, "odd.service"), unitIn(odd, scope));
      await one.machine.must(["cp", join(one.folder, "odd.service"), "/etc/systemd/system/odd.service"]);
      await one.machine.must(["systemctl", "daemon-reload"]);
      const shown = ["systemctl", "show", "--property=ReadWritePaths", "--value", "odd.service"];
      assert.equal(await one.machine.must(shown), JSON.stringify(`-${odd}/home`));
    }

    // A job outlives the gateway that started it.
    await one.ask.send(
      "c2",
      "m2",
      doing(terminal("echo x >>begun; while [ ! -e go ]; do sleep 0.1; done; echo finished")),
    );
    await until(() => existsSync(join(one.workspace, "begun")), Boolean, "the job runs");
    const before = await one.mainPid();
    await one.machine.must(["kill", "-KILL", before]);
    await until(one.mainPid, (now) => now !== before && now !== "0", "systemd starts it again");
    writeFileSync(join(one.workspace, "go"), "");
    assert.match(await answerTo(one.ask, "c2", "m2"), /^done 1: /);
    assert.equal(readFileSync(join(one.workspace, "begun"), "utf8"), "x\n", "it was begun once");

    // A restart the short way, then a stop and a start; the store is the same.
    const second = await one.mainPid();
    await one.systemctl("reload");
    await until(one.mainPid, (now) => now !== second && now !== "0", "the next process runs");
    assert.match(await one.answer("m3", "cat made.txt"), /^done 1: [^]*made/);
    for (const verb of ["stop", "start"]) await one.systemctl(verb);
    assert.match(await one.answer("m4", "cat made.txt"), /^done 1: [^]*made/);
  });
