// The unit of an ordinary user, under that user's own systemd: without a session it cannot be, with lingering it can,
// and a restart takes the short way there as well.

import assert from "node:assert/strict";
import { chmodSync, chownSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { client } from "../process/client.ts";
import { root, until } from "../process/stage.ts";
import { bootSystemd, newFolder } from "./container.ts";
import { answerTo, counted, freePort, slowly } from "./talk.ts";

const uid = 4711;
/** Where everybody may read the project, wherever it lies. */
const seenAt = "/srv/everturn";

async function userMachine(t: TestContext) {
  const folder = newFolder(t, "ann");
  chownSync(folder, uid, uid);
  const machine = await bootSystemd(t, [folder], [`--bind-ro=${root}:${seenAt}`]);
  await machine.must(["useradd", "--no-create-home", "--home-dir", folder, "--uid", String(uid), "ann"]);
  const node = process.execPath.startsWith(`${root}/`) ? process.execPath.replace(root, seenAt) : process.execPath;
  const asAnn = ["setpriv", `--reuid=${uid}`, `--regid=${uid}`, "--init-groups", "--"];
  const env = { HOME: folder, USER: "ann", XDG_RUNTIME_DIR: "", DBUS_SESSION_BUS_ADDRESS: "" };
  return {
    machine,
    folder,
    everturn: (...words: readonly string[]) =>
      machine.run([...asAnn, node, join(seenAt, "src", "main.ts"), "gateway", ...words], env),
    asRoot: (...words: readonly string[]) => machine.run([node, join(seenAt, "src", "main.ts"), ...words]),
    systemctl: (...words: readonly string[]) =>
      machine.must([...asAnn, "systemctl", "--user", ...words, "everturn.service"], {
        ...env,
        XDG_RUNTIME_DIR: `/run/user/${uid}`,
      }),
  };
}

test("a user's own service: refused without a session, kept by lingering, restarted the short way, stopped for good", async (t) => {
  const ann = await userMachine(t);
  const refused = await ann.everturn("install");
  assert.equal(refused.code, 1);
  assert.match(
    refused.err,
    /Failed to connect to bus.*no session of ann that systemd knows.*loginctl enable-linger ann/,
  );
  assert.match((await ann.everturn("install", "--system")).err, /only be installed by its administrator.*sudo/);

  await ann.machine.must(["loginctl", "enable-linger", "ann"]);
  await until(
    async () => (await ann.machine.run(["systemctl", "is-active", `user@${uid}.service`])).out.trim(),
    (state) => state === "active",
    "the user's own systemd is up",
  );
  const port = await freePort();
  const home = join(ann.folder, ".everturn");
  const configure = await ann.machine.run(["sh", "-c", `mkdir -m 700 ${home} && chown ${uid}:${uid} ${home}`]);
  assert.equal(configure.code, 0);
  writeFileSync(join(home, "config.yaml"), `control: { port: ${port} }\n`);
  chmodSync(join(home, "config.yaml"), 0o644);
  const installed = await ann.everturn("install");
  assert.equal(installed.code, 0, installed.err);
  assert.match(installed.out, /The systemd user service everturn\.service runs\.$/m);
  assert.doesNotMatch(installed.out, /enable-linger/, "it lingers already");
  assert.equal(await ann.systemctl("is-enabled"), "enabled");

  const url = `http://127.0.0.1:${port}`;
  const ask = client({ url, token: readFileSync(join(home, "control.token"), "utf8").trim() });
  await ask.send("c1", "m1", slowly);
  const mainPid = () => ann.systemctl("show", "--property=MainPID,ActiveState");
  const before = await mainPid();
  await ann.systemctl("reload");
  await until(mainPid, (now) => now !== before && now.includes("ActiveState=active"), "the next process is ready");
  assert.match(await answerTo(ask, "c1"), counted);
  const log = readFileSync(join(home, "logs", "gateway.log"), "utf8");
  assert.doesNotMatch(log, /the short way back under systemd/, "nothing went wrong with it");
  assert.doesNotMatch(log, /install --force/, "the unit is what would be written");

  const stopped = await ann.everturn("stop");
  assert.equal(stopped.code, 0, stopped.err);
  assert.match(await ann.systemctl("show", "--property=ActiveState"), /=inactive$/);
  const removed = await ann.everturn("uninstall");
  assert.equal(removed.code, 0, removed.err);
  assert.match(await ann.systemctl("show", "--property=LoadState"), /=not-found$/);
});

test("root's service for somebody's home runs as its owner, and what root writes there the owner can read", async (t) => {
  const ann = await userMachine(t);
  const home = join(ann.folder, ".everturn");
  await ann.machine.must(["sh", "-c", `mkdir -m 700 ${home} && chown ${uid}:${uid} ${home}`]);
  writeFileSync(join(home, "config.yaml"), `control: { port: ${await freePort()} }\n`);
  const asRoot = (...words: readonly string[]) => ann.asRoot("gateway", ...words, "--home", home);
  const installed = await asRoot("install", "--system", "--json");
  assert.equal(installed.code, 0, installed.err);
  const { service } = JSON.parse(installed.out) as { readonly service: { readonly label: string } };
  assert.match(service.label, /^everturn-.*-[0-9a-f]{8}\.service$/);
  const show = (property: string) =>
    ann.machine.must(["systemctl", "show", "--value", `--property=${property}`, service.label]);
  assert.equal(await show("User"), "ann");
  const pid = await show("MainPID");
  assert.equal(await ann.machine.must(["stat", "-c", "%u", `/proc/${pid}`]), String(uid));
  const log = () => readFileSync(join(home, "logs", "gateway.log"), "utf8");
  assert.doesNotMatch(log(), /install --force/);

  const stopped = await asRoot("stop");
  assert.equal(stopped.code, 0, stopped.err);
  assert.equal(await show("ActiveState"), "inactive");
  assert.match(log(), /asked to stop \(planned/, "its owner's process has read what root wrote");
  const state = JSON.parse(readFileSync(join(home, "gateway_state.json"), "utf8")) as {
    readonly desired_state: string;
  };
  assert.equal(state.desired_state, "stopped");
  for (const file of ["gateway_state.json", "logs", "state.db", "control.token"])
    assert.equal(statSync(join(home, file)).uid, uid, `${file} belongs to the owner of the home`);
  assert.equal((await asRoot("start")).code, 0, "and it starts again");
});
