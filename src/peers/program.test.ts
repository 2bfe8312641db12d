import assert from "node:assert/strict";
import { test } from "node:test";
import { commandFor, harmless, pathRefusal, programName, refusalFor, startsApart } from "./program.ts";

const on = { type: "on", kind: "bubblewrap" } as const;
const off = { type: "off", why: "None.", isAccepted: false } as const;
const missing = { type: "missing", why: "It is broken." } as const;

test("who may use a program, by sandbox and party", () => {
  for (const [state, party, unsafe, expected] of [
    [on, "owner", false, null],
    [on, "person", false, null],
    [off, "owner", false, null],
    [off, "admin", false, null],
    [off, "person", false, "it runs without a sandbox here, so only the owner and admins can use it"],
    [off, "person", true, null],
    [missing, "owner", true, "it is not started, because the sandbox does not work: It is broken."],
    [missing, "person", false, "it is not started, because the sandbox does not work: It is broken."],
  ] as const)
    assert.equal(refusalFor(state, party, { unsafe }, "it"), expected, `${state.type} ${party} ${unsafe}`);
});

test("paths in a command are written from the gateway's home, and its workspace is the person's", () => {
  const places = { home: "/h", ownerWorkspace: "/h/workspace", workspace: "/h/workspaces/eve" };
  const exists = (path: string) => path === "/h/server.js" || path === "/h/bin/run";
  for (const [word, expected] of [
    ["./workspace", "/h/workspaces/eve"],
    ["/h/workspace", "/h/workspaces/eve"],
    ["./server.js", "/h/server.js"],
    ["./gone.js", "./gone.js"],
    ["server.js", "server.js"],
    ["@scope/package", "@scope/package"],
    [".", "."],
  ] as const)
    assert.deepEqual(commandFor(["node", word], places, exists), ["node", expected], word);
  assert.deepEqual(commandFor(["bin/run"], places, exists), ["/h/bin/run"]);
});

test("the gateway's home cannot be granted, neither in part nor inside of something larger", () => {
  const places = { home: "/u/me/.everturn", ownerWorkspace: "/u/me/.everturn/workspace" };
  for (const [path, isRefused] of [
    ["/", true],
    ["/u/me", true],
    ["/u/me/.everturn", true],
    ["/u/me/.everturn/files", true],
    ["/u/me/.everturn/workspace", false],
    ["/u/me/.everturn/workspace/a", false],
    ["/u/me/.everturn2", false],
    ["/u/me/notes", false],
  ] as const)
    assert.equal(pathRefusal(path, places) !== null, isRefused, path);
  const around = { home: "/srv/.everturn", ownerWorkspace: "/srv" };
  assert.notEqual(pathRefusal("/srv/.everturn", around), null, "a workspace around the home opens nothing");
  assert.notEqual(pathRefusal("/srv", around), null);
});

test("the base environment says nothing about the user", () => {
  const given = { PATH: "/bin", LANG: "C", LC_ALL: "C", HOME: "/u/me", DBUS_SESSION_BUS_ADDRESS: "x", API_KEY: "k" };
  assert.deepEqual(harmless(given), { PATH: "/bin", LANG: "C", LC_ALL: "C" });
  assert.deepEqual([programName(["/opt/x/agent", "acp"]), programName([])], ["agent", "program"]);
});

test("a program with secrets or paths of its own does not start among files that its person writes", () => {
  const command = ["npx", "server"];
  for (const [more, expected] of [
    [{}, false],
    [{ env: {} }, false],
    [{ env: { TOKEN: "x" } }, true],
    [{ paths: [{ path: "/srv", access: "read" }] }, true],
    [{ env: { TOKEN: "x" }, cwd: "." }, false],
  ] as const)
    assert.equal(startsApart({ command, ...more }), expected, JSON.stringify(more));
});
