// Which commands are run past the sandbox, and what is said of each way.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { JobSandbox } from "../../../ports/jobs.ts";
import type { Policy } from "../../danger/index.ts";
import { judgeOn, refusalNote, wayOf, wayWords } from "./way.ts";

const places = { workspace: "/h/workspace", home: "/h", userHome: "/home/ann", pid: 4242 };
const way = (command: string, more: { isOn?: boolean; network?: boolean; policy?: Policy; cwd?: string } = {}) => {
  const { isOn = true, network = false, policy = "dangerous", cwd = places.workspace } = more;
  return wayOf(command, { ...places, cwd }, { isOn, network, policy });
};

const save = "echo precious > /srv/report.txt && echo saved";
const scratch = "echo x > /tmp/y";
const fetch = "curl -s https://example.org/x";

test("a command leaves for what the sandbox does not give, and only where somebody is asked", () => {
  const cases: readonly (readonly [string, Parameters<typeof way>[1], JobSandbox | null])[] = [
    ["ls", {}, "closed"],
    ["ls", { network: true }, "network"],
    ["ls", { isOn: false }, null],
    [save, {}, "past"],
    [save, { network: true }, "past"],
    [save, { policy: "always" }, "past"],
    [save, { policy: "never" }, "closed"],
    [save, { policy: "never", network: true }, "network"],
    [save, { isOn: false }, null],
    ["npm install left-pad", {}, "past"],
    ["npm install left-pad", { network: true }, "network"],
    ["npm install left-pad; echo x > /srv/x", { network: true }, "past"],
    ["sudo ls", { network: true }, "past"],
    ["rm -rf build", {}, "closed"],
    ["python3 made-up.py", { network: true }, "network"],
    ["echo x > y", { cwd: "/srv" }, "past"],
    // Inside, /tmp is the conversation's own.
    [scratch, {}, "closed"],
    [scratch, { network: true }, "network"],
    [scratch, { policy: "always" }, "closed"],
    [scratch, { isOn: false }, null],
    ["mkdir -p /tmp/a/b && cp x /tmp/a/b/", {}, "closed"],
    ["echo x > $TMPDIR/y", {}, "closed"],
    ["echo x > y", { cwd: "/tmp" }, "closed"],
    ["echo x > /tmp/../srv/y", {}, "past"],
    ["echo x > /tmpy", {}, "past"],
    ["echo x > /var/tmp/y", {}, "past"],
    ["TMPDIR=/srv; echo x > $TMPDIR/y", {}, "past"],
    // That folder is not there.
    ["echo x > y", { cwd: "/tmp/real" }, "past"],
    [fetch, {}, "past"],
    [fetch, { network: true }, "network"],
    [fetch, { policy: "always" }, "past"],
    [fetch, { policy: "never" }, "closed"],
    [fetch, { isOn: false }, null],
    ["git clone https://example.org/a.git", {}, "past"],
    ["git log", {}, "closed"],
    // What is forbidden is run nowhere.
    ["rm -rf /", {}, "closed"],
  ];
  for (const [command, more, expected] of cases)
    assert.equal(way(command, more), expected, `${command} ${JSON.stringify(more)}`);
});

const judged = (command: string, typed = places.workspace, real = typed, network = false) =>
  judgeOn(way(command, { cwd: typed, network }), command, { places, typed, real }, network);

test("what leaves is judged as what it does then, and always asked for", () => {
  assert.deepEqual(judged("python3 x.py"), { level: "plain" });
  assert.deepEqual(judged("python3 x.py; git push"), {
    level: "dangerous",
    why: "it publishes commits (git push), and it runs x.py, whose content is not judged",
    needs: "outside",
  });
  assert.deepEqual(judged("git push"), {
    level: "dangerous",
    why: "it publishes commits (git push)",
    needs: "outside",
  });
  assert.equal(judged("git push; rm -rf /").level, "forbidden");
  // A folder that is a link: neither end of it gets a command out unasked.
  assert.equal(judged("echo x > y", "/srv/link", "/h/workspace").level, "dangerous");
  assert.equal(way("echo x > y", { cwd: "/h/workspace/link" }), "closed");
  assert.equal(judged("echo x > y", "/h/workspace/link", "/srv").level, "dangerous");
  assert.equal(judged("git push; python3 x.py", places.workspace, places.workspace, true).level, "dangerous");
});

test("what is written to the /tmp of the conversation is plain inside, and only there", () => {
  const on = (way: JobSandbox | null, command: string, real = places.workspace) =>
    judgeOn(way, command, { places, typed: places.workspace, real }, way === "network");
  for (const command of [scratch, "echo x > $TMPDIR/y", "mkdir /tmp/a; cp x /tmp/a"]) {
    assert.deepEqual(on("closed", command), { level: "plain" }, command);
    assert.deepEqual(on("network", command), { level: "plain" }, command);
    assert.equal(on(null, command).level, "dangerous", command);
  }
  assert.match(JSON.stringify(on(null, scratch)), /writes to \/tmp\/y/);
  assert.equal(on("closed", "echo x > y", "/tmp/real").level, "dangerous");
  assert.equal(on("closed", "rm -rf /tmp/a").level, "dangerous");
  // A workspace in the real one is there.
  const below = { workspace: "/tmp/h/workspace", home: "/tmp/h", userHome: "/home/ann" };
  const confined = { isOn: true, network: false, policy: "dangerous" } as const;
  assert.equal(wayOf(scratch, { ...below, cwd: "/tmp/h/workspace/a" }, confined), "closed");
  assert.equal(wayOf(scratch, { ...below, cwd: "/tmp/h/files" }, confined), "past");
  assert.deepEqual(judged(`${scratch}; git push`), {
    level: "dangerous",
    why: "it publishes commits (git push), and it writes to /tmp/y, which is outside of the workspace",
    needs: "outside",
  });
});

test("what plainly needs the network is asked for where there is none, and can be had", () => {
  const why = "it needs the network, which the sandbox does not give";
  assert.deepEqual(judged(fetch), { level: "dangerous", why, needs: "network" });
  assert.deepEqual(judged(fetch, places.workspace, places.workspace, true), { level: "plain" });
  const folders = { places, typed: places.workspace, real: places.workspace };
  assert.deepEqual(judgeOn(null, fetch, folders, false), { level: "plain" });
  // With a network that is no reason, whatever else it leaves for.
  assert.deepEqual(judged(`${fetch}; git push`, places.workspace, places.workspace, true), {
    level: "dangerous",
    why: "it publishes commits (git push)",
    needs: "outside",
  });
  // Where nobody lets it out, an approval would be worth nothing.
  assert.deepEqual(judgeOn(way(fetch, { policy: "never" }), fetch, folders, false), { level: "plain" });
});

test("each way has its words, and a refusal of the sandbox is told as such", () => {
  assert.equal(wayWords("closed"), "in a sandbox, without network");
  assert.equal(wayWords("network"), "in a sandbox, with network");
  assert.equal(wayWords("past"), "outside the sandbox");
  assert.equal(wayWords(null), null);
  const said = [
    "touch: cannot touch '/srv/x': Read-only file system",
    "curl: (6) Could not resolve host: example.org",
    "npm error code EAI_AGAIN",
    "connect: Network is unreachable",
    "chown: changing ownership of 'x': Operation not permitted",
  ];
  for (const one of said) {
    assert.match(
      refusalNote("closed", `a\n${one}\nb`) ?? "",
      /^\(This ran in a sandbox: .*no network.*network\)$/,
      one,
    );
    assert.doesNotMatch(refusalNote("network", one) ?? assert.fail(one), /no network/);
    for (const none of ["past", null] as const) assert.equal(refusalNote(none, one), null);
  }
  for (const one of ["", "all is well", "No such file or directory", "Permission denied"])
    assert.equal(refusalNote("closed", one), null, one);
});
