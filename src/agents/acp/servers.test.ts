import assert from "node:assert/strict";
import { test } from "node:test";
import { type ConfiguredServer, type Receiver, passServers } from "./servers.ts";

const agent = { command: ["agent"] };
const owner: Receiver = {
  can: { http: true, sse: true },
  program: agent,
  person: "owner",
  isWalled: true,
  path: "/data/bin:.::/",
  isFile: (word) => /^\/.*\.\w+$|\/bin\//.test(word),
};
const guest: Receiver = { ...owner, person: "telegram/eve" };
const pass = (server: ConfiguredServer, receiver: Receiver) => {
  const { servers, left } = passServers({ s: server }, receiver);
  return { passed: servers[0], why: left[0]?.why ?? "" };
};

test("a program goes with its arguments and variables", () => {
  assert.deepEqual(pass({ command: ["/usr/bin/npx", "-y", "x"], env: { TOKEN: "t" } }, owner).passed, {
    name: "s",
    command: "/usr/bin/npx",
    args: ["-y", "x"],
    env: [{ name: "TOKEN", value: "t" }],
  });
});

test("an address goes as the kind that the agent can call", () => {
  const headers = { Authorization: "Bearer t" };
  const pairs = [{ name: "Authorization", value: "Bearer t" }];
  for (const [url, can, expected] of [
    ["https://a.example/mcp", { http: true, sse: true }, "http"],
    ["https://a.example/mcp", { http: true, sse: false }, "http"],
    ["https://a.example/mcp", { http: false, sse: true }, null],
    ["https://a.example/sse", { http: true, sse: true }, "sse"],
    ["https://a.example/sse/", { http: false, sse: true }, "sse"],
    ["https://a.example/sse", { http: true, sse: false }, "http"],
    ["https://a.example/sse", { http: false, sse: false }, null],
  ] as const) {
    const { passed, why } = pass({ url, headers }, { ...owner, can });
    if (expected === null) assert.equal(why, "the agent takes no servers over HTTP", url);
    else assert.deepEqual(passed, { type: expected, name: "s", url, headers: pairs }, url);
  }
});

test("what the agent's own grant does not cover is left out, with what to add", () => {
  const narrow = { ...owner, program: { ...agent, hosts: ["api.example"], paths: [{ path: "/a", access: "read" }] } };
  const wide = { ...owner, program: { ...agent, paths: [{ path: "/a", access: "write" }] } };
  for (const [more, receiver, expected] of [
    [{}, narrow, null],
    [{ hosts: [] }, narrow, null],
    [{ hosts: ["api.example"] }, narrow, null],
    [{ hosts: ["other.example"] }, narrow, /host other\.example; add it to agent\.acp\.hosts/],
    [{ hosts: ["*"] }, narrow, /host \*;/],
    [{ hosts: ["other.example"] }, owner, null],
    [{ paths: [{ path: "/a", access: "read" }] }, narrow, null],
    [{ paths: [{ path: "/a", access: "write" }] }, narrow, /path \/a:rw; add it to agent\.acp\.paths/],
    [{ paths: [{ path: "/a", access: "write" }] }, wide, null],
    [{ paths: [{ path: "/b", access: "read" }] }, wide, /path \/b;/],
    [{ paths: [{ path: "/b", access: "read" }] }, { ...wide, isWalled: false }, null],
    [{ cwd: "x" }, owner, /cwd/],
  ] as const) {
    const { passed, why } = pass({ command: ["server"], ...more } as ConfiguredServer, receiver as Receiver);
    if (expected === null) assert.ok(passed !== undefined, JSON.stringify(more));
    else assert.match(why, expected);
  }
});

test("an agent of another person gets no secrets, and no program without a sandbox", () => {
  const bare = { ...guest, isWalled: false };
  for (const [server, receiver, expected] of [
    [{ command: ["s"] }, guest, null],
    [{ command: ["s"], env: {} }, guest, null],
    [{ command: ["s"], env: { TOKEN: "t" } }, guest, /env is for the owner's agent only/],
    [{ command: ["s"], env: { TOKEN: "t" } }, { ...bare, person: "owner" }, null],
    [{ command: ["s"] }, bare, /without a sandbox/],
    [{ command: ["s"], unsafe: true }, bare, null],
    [{ url: "https://a.example/mcp", headers: { A: "t" } }, guest, /headers are for the owner's agent only/],
    [{ url: "https://a.example/mcp" }, guest, null],
    [{ url: "https://a.example/mcp?api_key=t" }, guest, /query in its url is for the owner's agent only/],
    [{ url: "https://me@a.example/mcp" }, guest, /login or query/],
    [{ url: "https://:t@a.example/mcp" }, guest, /login or query/],
    [{ url: "https://a.example/mcp?api_key=t" }, owner, null],
    [{ url: "https://me:t@a.example/mcp" }, owner, null],
  ] as const) {
    const { passed, why } = pass(server, receiver);
    if (expected === null) assert.ok(passed !== undefined, JSON.stringify(server));
    else assert.match(why, expected);
  }
});

test("files of a server that not everybody sees are for the owner's agent only", () => {
  const granted = { ...guest, program: { ...agent, paths: [{ path: "/srv/g", access: "read" }] } } as const;
  for (const [command, receiver, named] of [
    [["/usr/bin/node", "/srv/g/server.js"], owner, null],
    [["/usr/bin/node", "/srv/g/server.js"], guest, "/srv/g/server.js"],
    [["/usr/bin/node", "--credentials", "/data/g-credentials.json"], guest, "/data/g-credentials.json"],
    [["/srv/bin/server"], guest, "/srv/bin/server"],
    [["/usr/bin/node", "/srv/g/server.js"], granted, null],
    [["/usr/bin/node", "/srv/g/server.js", "/srv/g2/key.json"], granted, "/srv/g2/key.json"],
    [["/usr/bin/npx", "-y", "server", "/not/a/file"], guest, null],
    [["/opt/g/server.js"], guest, null],
    [["/data/bin/server"], guest, null],
    [["/data/bin2/bin/server"], guest, "/data/bin2/bin/server"],
    [["/srv/g/server.js"], { ...owner, isWalled: false }, null],
  ] as const) {
    const { passed, why } = pass({ command }, receiver);
    if (named === null) assert.ok(passed !== undefined, `${command.join(" ")}: ${why}`);
    else assert.ok(why.startsWith(`its command names ${named}, which`), `${command.join(" ")}: ${why}`);
  }
});

test("addresses that the sandbox does not reach are left out", () => {
  for (const url of ["http://localhost:3000/mcp", "http://127.0.0.1/mcp", "http://10.0.0.3/mcp", "http://[::1]/mcp"]) {
    assert.match(pass({ url }, owner).why, /private address/, url);
    assert.ok(pass({ url }, { ...owner, isWalled: false }).passed !== undefined, url);
  }
  assert.ok(pass({ url: "http://93.184.216.34/mcp" }, owner).passed !== undefined);
});
