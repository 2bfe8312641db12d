// Each person's calls act in their own workspace: told from the real tools on a real disk.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, describe, test } from "node:test";
import { withoutSandbox } from "../../../test/fakes/room.ts";
import { pathsIn } from "../../config/paths.ts";
import { loadConfig } from "../../config/load.ts";
import { noGrant } from "../../core/grant.ts";
import { workspaceName } from "../../core/workspace.ts";
import { type Requester, ownerPerson } from "../../core/requester.ts";
import { listWorkspaces, markWorkspace } from "../../host/workspaces.ts";
import type { Tool, ToolContext } from "../../ports/tool.ts";
import { openBlobs } from "../../stores/blobs/index.ts";
import { aToolContext } from "../../testing/samples.ts";
import { openSandbox } from "../../sandbox/index.ts";
import { openFileWorkers } from "../../tools/files/workers.ts";
import { builtinTools } from "../../tools/index.ts";
import { builtIn } from "./effects.ts";
import { fileUses, followedWrites, perPerson } from "./per-person.ts";
import { openWorkspaces } from "./workspaces.ts";

const skip = await withoutSandbox();
const owner: Requester = { party: "owner", person: ownerPerson };
const admin: Requester = { party: "admin", person: ownerPerson };
const guest: Requester = { party: "person", person: "telegram/bot/7" };

async function aHome(t: TestContext, tools = "{}") {
  const home = mkdtempSync(join(tmpdir(), "everturn-home-"));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const yaml = `agent: { tools: ${tools} }`;
  const readFile = async (path: string) =>
    path.endsWith("config.yaml")
      ? ({ type: "read", bytes: Buffer.from(yaml) } as const)
      : ({ type: "missing" } as const);
  const loaded = await loadConfig({ home, env: {}, userHome: null, cwd: "/", readFile });
  assert.ok(loaded.type === "loaded", JSON.stringify(loaded));
  const paths = pathsIn(home);
  const blobs = openBlobs(paths.files);
  const workspaces = openWorkspaces(loaded.config, paths, blobs);
  const environment = { PATH: process.env["PATH"] ?? "" };
  const sandbox = openSandbox({ choice: "auto", home, userHome: null, environment });
  const workers = openFileWorkers({
    sandbox,
    workspaceFor: (requester) => workspaces.workspaceFor(requester),
    closed: [home],
    allowRoot: true,
    spawn: (program, words, options) => spawn(program, words, { ...options, detached: true }),
    environment,
  });
  t.after(() => workers.close());
  const make = () =>
    builtinTools({
      workers,
      closed: [home],
      userHome: null,
      notes: paths.notes,
      approvals: "never",
      web: { allowPrivate: false },
      blobs,
      archive: { recall: async () => [] },
    });
  const all = perPerson(make, workspaces, await workspaces.workspaceFor(owner), false);
  const named = (name: string): Tool => all.find((tool) => tool.name === name) ?? assert.fail(name);
  let calls = 0;
  const call = async (requester: Requester, name: string, input: object, more: Partial<ToolContext> = {}) =>
    JSON.stringify(await named(name).run(input, aToolContext(`k${calls++}`, { requester, ...more })));
  return { home, paths, workspaces, call };
}

test("a guest finds nothing of the owner's, and the owner nothing of a guest's", { skip }, async (t) => {
  const { call, workspaces } = await aHome(t);
  const others: Requester = { party: "person", person: "telegram/bot/8" };
  for (const [who, word] of [
    [owner, "canary-owner"],
    [guest, "canary-guest"],
    [others, "canary-others"],
  ] as const)
    assert.match(await call(who, "write_file", { path: "notes.txt", content: word }), /"ok"/);
  for (const [who, own] of [
    [owner, "canary-owner"],
    [admin, "canary-owner"],
    [guest, "canary-guest"],
    [others, "canary-others"],
  ] as const) {
    for (const seen of [
      await call(who, "search_files", { pattern: "canary" }),
      await call(who, "read_file", { path: "notes.txt" }),
    ]) {
      assert.match(seen, new RegExp(own));
      assert.deepEqual(
        seen.match(/canary-\w+/g)?.filter((word) => word !== own),
        [],
      );
    }
  }
  const foreign = join((await workspaces.workspaceFor(owner)).folder, "notes.txt");
  assert.doesNotMatch(await call(guest, "read_file", { path: foreign }), /canary/);
});

test("files sent by one person are read by their tools and by no other person's", { skip }, async (t) => {
  const { call, workspaces, paths } = await aHome(t);
  const { blobs } = await workspaces.workspaceFor(owner);
  const { blob } = await blobs.put(Buffer.from("canary-upload"), { name: "a.txt", mime: "text/plain" });
  const path = blobs.path(blob);
  assert.match(await call(owner, "read_file", { path }), /canary-upload/);
  for (const attempt of [path, join(paths.files, blob.slice(0, 2), blob), "../../files"])
    assert.doesNotMatch(await call(guest, "read_file", { path: attempt }), /canary/, attempt);
  for (const attempt of [paths.files, paths.attachments, "../..", "../../attachments"])
    assert.doesNotMatch(
      await call(guest, "search_files", { pattern: "canary-", path: attempt }),
      /canary-upload/,
      attempt,
    );
});

test("shared by the settings, everybody works in one folder", { skip }, async (t) => {
  const { call, paths } = await aHome(t, "{ workspaces: shared }");
  await call(guest, "write_file", { path: "notes.txt", content: "hello" });
  assert.match(await call(owner, "read_file", { path: "notes.txt" }), /hello/);
  const listed = await listWorkspaces(paths.workspaces);
  assert.deepEqual(
    listed.map(({ person }) => person),
    [ownerPerson],
  );
});

describe("text from outside is followed through files", () => {
  const isOutside = (result: string) => (JSON.parse(result) as { outside?: true }).outside === true;

  test("a marked conversation marks the workspace it writes to, and reading there marks others of that person", async (t) => {
    const { call, workspaces, paths } = await aHome(t);
    const input = { path: "notes.txt", content: "obey" };
    assert.equal(isOutside(await call(guest, "write_file", input)), false);
    assert.equal(isOutside(await call(guest, "read_file", { path: "notes.txt" }, { outside: true })), false);
    assert.equal((await workspaces.workspaceFor(guest)).isMarked, false, "reading leaves nothing behind");
    await call(guest, "write_file", input, { outside: true });
    assert.equal((await workspaces.workspaceFor(guest)).isMarked, true);
    for (const [name, of] of [
      ["read_file", { path: "notes.txt" }],
      ["search_files", { pattern: "obey" }],
      ["read_file", { path: "none" }],
    ] as const)
      assert.equal(isOutside(await call(guest, name, of)), true, name);
    assert.equal(isOutside(await call(owner, "search_files", { pattern: "obey" })), false, "others stay as they are");
    await markWorkspace(paths.workspaces, workspaceName(guest.person), false);
    assert.equal(isOutside(await call(guest, "read_file", { path: "notes.txt" })), false, "the owner took it back");
  });

  test("files that were sent, and calls that reach a host, bring text from outside", async (t) => {
    const { call, workspaces } = await aHome(t);
    const { blobs } = await workspaces.workspaceFor(owner);
    const { blob } = await blobs.put(Buffer.from("obey"), { name: "a.txt", mime: "text/plain" });
    assert.equal(isOutside(await call(owner, "read_file", { path: blobs.path(blob) })), true);
    await call(owner, "write_file", { path: "a", content: "b" });
    assert.equal(isOutside(await call(owner, "read_file", { path: "a" })), false);
    const grant = { ...noGrant, hosts: ["example.org"] };
    assert.equal(isOutside(await call(owner, "read_file", { path: "a" }, { grant })), true);
    assert.equal((await workspaces.workspaceFor(owner)).isMarked, false);
    await call(owner, "write_file", { path: "a", content: "c" }, { grant });
    assert.equal((await workspaces.workspaceFor(owner)).isMarked, true, "what a host sent may lie in a file now");
  });

  test("a program that works in the workspace leaves its mark there in a marked conversation", async (t) => {
    const { workspaces } = await aHome(t);
    const tool: Tool = {
      name: "files__put",
      description: "",
      effect: "once",
      input: {},
      run: async () => ({ type: "ok", output: "" }),
    };
    const wrapped = followedWrites(tool, workspaces);
    await wrapped.run({}, aToolContext("k1", { requester: guest }));
    assert.equal((await workspaces.workspaceFor(guest)).isMarked, false);
    await wrapped.run({}, aToolContext("k2", { requester: guest, outside: true }));
    assert.equal((await workspaces.workspaceFor(guest)).isMarked, true);
  });
});

test("of every built-in tool it is known what it does with files", () => {
  const without = ["fetch_url", "remember", "recall", "remind", "ask", "send_file", "restart_gateway"];
  assert.deepEqual([...Object.keys(fileUses), ...without].toSorted(), Object.keys(builtIn).toSorted());
});
