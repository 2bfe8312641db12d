// MCP against servers that others wrote. They are found where scripts/peers.ts put them: the folder in EVERTURN_PEERS.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { peerIn } from "../../scripts/peers.ts";
import { type Stage, aVet, stage, until } from "./mcp-stage.ts";

const everything = peerIn(process.env["EVERTURN_PEERS"], "server-everything");
const filesystem = peerIn(process.env["EVERTURN_PEERS"], "server-filesystem");
const skip = everything === null || filesystem === null ? "no real MCP servers: set EVERTURN_PEERS" : false;
const limit = { timeout: 180_000, skip };

/** Both, each as a program, started as an owner would. */
function peers(t: TestContext, trusted: boolean): Stage {
  const node = process.execPath;
  return stage(t, {
    servers: {
      every: { command: [node, everything ?? "", "stdio"], trusted },
      files: { command: [node, filesystem ?? "", "."], trusted },
    },
  });
}

test("both are connected and listed, with effects by their hints", limit, async (t) => {
  const { mcp } = peers(t, true);
  await mcp.ready();
  const status = mcp.status();
  assert.equal(status["every"]?.state, "ready");
  assert.equal(status["files"]?.state, "ready");
  const names = mcp.tools().map((tool) => tool.name);
  for (const name of ["every__echo", "files__read_text_file", "files__write_file"])
    assert.ok(names.includes(name), name);
  assert.equal(mcp.toolNamed("files__read_text_file")?.effect, "pure");
  assert.equal(mcp.toolNamed("files__write_file")?.effect, "keyed");
  const told = JSON.stringify(mcp.tools().map(({ name, description, input }) => ({ name, description, input })));
  t.diagnostic(`${names.length} tools, ${told.length} characters of names, descriptions and schemas`);
});

test("files are read and written through a real server, and its refusals are told", limit, async (t) => {
  const { call, folder, mcp } = peers(t, true);
  writeFileSync(join(folder, "a.txt"), "hello from a file\n");
  assert.match(
    JSON.stringify(await call("files__read_text_file", { path: join(folder, "a.txt") })),
    /hello from a file/,
  );
  const path = join(folder, "b.txt");
  assert.equal((await call("files__write_file", { path, content: "written" })).type, "ok");
  assert.equal(readFileSync(path, "utf8"), "written");
  assert.match(JSON.stringify(await call("files__read_text_file", { path: "/etc/passwd" })), /failed.*denied/i);
  assert.match(JSON.stringify(await call("files__read_text_file", {})), /failed/);
  const write = await mcp.toolNamed("files__write_file")?.vet?.({ path, content: "x" }, aVet);
  assert.equal(write?.type, "approve", "its author does not rule it out");
});

test("in the sandbox a real server sees the workspace of its person and nothing else", limit, async (t) => {
  const folderOf = (entry: string | null) => (entry ?? "").split("/node_modules/")[0] ?? "";
  const paths = [{ path: folderOf(filesystem), access: "read" }] as const;
  const command = [process.execPath, filesystem ?? "", "."];
  const { call, folder, mcp } = stage(t, {
    walled: true,
    servers: { files: { command, paths, cwd: ".", hosts: [], trusted: true } },
  });
  await mcp.ready();
  assert.equal(mcp.status()["files"]?.why, null);
  writeFileSync(join(folder, "a.txt"), "hello from a file\n");
  const read = (path: string) => call("files__read_text_file", { path });
  assert.match(JSON.stringify(await read(join(folder, "a.txt"))), /hello from a file/);
  assert.equal((await call("files__write_file", { path: join(folder, "b.txt"), content: "written" })).type, "ok");
  assert.equal(readFileSync(join(folder, "b.txt"), "utf8"), "written");
  assert.match(JSON.stringify(await read(join(folder, ".gateway", "sandbox", "canary"))), /failed/);
});

test("text, images and progress of a real server", limit, async (t) => {
  const { call, mcp } = peers(t, false);
  assert.match(JSON.stringify(await call("every__echo", { message: "hi" })), /Echo: hi.*"outside":true/);
  const image = mcp.tools().find((tool) => /tiny.?image/i.test(tool.name));
  if (image !== undefined) assert.match(JSON.stringify(await call(image.name)), /image image\/png/);
  const long = mcp.tools().find((tool) => /long/i.test(tool.name));
  assert.ok(long, "it has a long running tool");
  const told: string[] = [];
  const tell = (progress: string) => void told.push(progress);
  const done = await call(long.name, { duration: 1, steps: 4 }, { tell });
  assert.match(JSON.stringify(done), /ok.*4/);
  assert.ok(told.length >= 3, told.join());
  const stop = new AbortController();
  const cut = call(long.name, { duration: 60, steps: 60 }, { signal: stop.signal });
  await sleep(100);
  stop.abort(new Error("stopped"));
  await assert.rejects(cut, /stopped/);
});

test("a real server that is killed comes back for the next call", limit, async (t) => {
  const { call, mcp, alive, log } = peers(t, false);
  await mcp.ready();
  process.kill(serverPid(), "SIGKILL");
  await until(() => log.some((line) => line.includes("is not available")));
  assert.match(JSON.stringify(await call("every__echo", { message: "again" })), /Echo: again/);
  await mcp.close();
  assert.equal(alive(), 0);
});

/** The process of server-everything that is a child of ours. */
function serverPid(): number {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, "utf8").trim().split(" ");
  const found = children.find((pid) => commandOf(pid).includes("server-everything"));
  return Number(found ?? 0);
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ESRCH")) return "";
    throw error;
  }
}
