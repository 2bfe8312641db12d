// Each check as a table: what it says about a home in order, and about each thing that can be wrong.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Instant } from "../../core/ids.ts";
import { type Health, newHealth } from "../../core/links/health.ts";
import { table } from "../../testing/table.ts";
import type { Reach } from "../context.ts";
import { type Verdict, checks, examine, worst } from "./checks.ts";
import type { Findings, PlatformFacts, ServiceFacts } from "./findings.ts";
import type { ServerFacts } from "./servers.ts";

const folder = { path: "/h", mode: 0o700, isOwn: true };
const look = { schema: 2, newest: 2, fault: null, warning: null, tookMs: 3, openTurns: 1, openItems: 0 };
const state = {
  gateway_state: "running",
  desired_state: "running",
  pid: 42,
  start_time: 1,
  active_agents: 0,
  restart_requested: false,
  exit_reason: null,
  platforms: {},
  url: "http://127.0.0.1:7433",
  version: "1.0.0",
  started_at: null,
  updated_at: null,
} as const;
const unit: ServiceFacts = {
  title: "the service everturn",
  isSystem: false,
  state: "running",
  isAttended: true,
  missing: [],
  differs: [],
  givenSeconds: 90,
  neededSeconds: 90,
  lingers: true,
  user: "ann",
  isRoot: false,
};
const standing: Health = { ...newHealth(0 as Instant), state: "up", why: null };
const aServer: ServerFacts = {
  name: "github",
  kind: "program",
  state: "ready",
  nextAttemptAt: null,
  protocol: "2025-11-25",
  tools: 12,
  processes: 1,
  why: null,
  changed: [],
};
const gateway = {
  state: "running",
  reason: null,
  safeMode: false,
  answeredMs: 4,
  platforms: [{ name: "web/local", platform: "web", health: standing, probe: null }],
  servers: [aServer],
  dead: 0,
  held: [],
};
const heldIn = (address: string, answers: number) => ({ address, platform: "", account: "", answers, since: 0 });
const now = Date.UTC(2026, 10, 15);

/** A home with a running gateway, in which nothing is wrong. */
const well: Findings = {
  home: "/h",
  now,
  system: "linux",
  node: "26.1.0",
  sqlite: "3.53.0",
  folder,
  obstacles: [],
  secrets: [{ path: "/h/control.token", mode: 0o600, isOwn: true }],
  disk: { free: 50e9, total: 100e9, kind: "ext4" },
  configFaults: [],
  drainSeconds: 0,
  agent: {
    backend: "model",
    models: [{ model: "openai/x", reach: { type: "fine" } }],
    sandbox: { type: "on", kind: "bubblewrap" },
    missing: [],
  },
  store: { type: "found", bytes: 2_000_000, ...look },
  markers: [{ path: "/h/.m", judgement: "absent" }],
  state,
  isAlive: true,
  lock: "held",
  port: { place: "127.0.0.1:7433", use: "ours" },
  service: unit,
  lastBeat: now - 1_000,
  gateway,
};

const brain = well.agent;
const reached = (reach: Reach, second?: Reach): Partial<Findings> => ({
  agent: {
    backend: "model",
    models: [{ model: "openai/x", reach }, ...(second === undefined ? [] : [{ model: "ollama/y", reach: second }])],
    sandbox: { type: "on", kind: "bubblewrap" },
    missing: [],
  },
});

/** A second platform beside one that stands. */
const linked = (health: Partial<Health>, probe: PlatformFacts["probe"] = null): Partial<Findings> => ({
  gateway: {
    ...gateway,
    platforms: [...gateway.platforms, { name: "x/y", platform: "x", health: { ...standing, ...health }, probe }],
  },
});

/** A second MCP server beside one that is ready. */
const serving = (more: Partial<ServerFacts>): Partial<Findings> => ({
  gateway: { ...gateway, servers: [aServer, { ...aServer, name: "wiki", ...more }] },
});

/** The same home with nothing running. */
const quiet: Partial<Findings> = { gateway: null, isAlive: false, lock: "free" };

const todo = "Move it away.";
const inTheWay = { what: "/h/logs is a file", todo };

type Case = {
  readonly check: string;
  readonly name: string;
  readonly found: Partial<Findings>;
  readonly level: Verdict["level"];
  readonly says: RegExp;
  readonly fix?: Verdict["fix"];
};

const rows: readonly (readonly [
  check: string,
  name: string,
  found: Partial<Findings>,
  level: Verdict["level"],
  says: RegExp,
  fix?: Verdict["fix"],
])[] = [
  ["node", "an old one", { node: "22.1.0" }, "fault", /this is Node 22/],
  ["home", "none yet", { folder: null }, "warning", /no \/h yet/],
  ["home", "somebody else's", { folder: { ...folder, isOwn: false } }, "fault", /another user/],
  ["files", "in the way", { obstacles: [inTheWay] }, "fault", /logs is a file/],
  ["permissions", "open to others", { folder: { ...folder, mode: 0o755 } }, "fault", /\/h \(755\)/, "permissions"],
  [
    "permissions",
    "an open file in a closed folder",
    { secrets: [{ path: "/h/.env", mode: 0o644, isOwn: true }] },
    "ok",
    /only this user/,
  ],
  [
    "permissions",
    "an open file in an open folder",
    { folder: { ...folder, mode: 0o750 }, secrets: [{ path: "/h/.env", mode: 0o644, isOwn: true }] },
    "fault",
    /\/h \(750\), \/h\/\.env \(644\)/,
    "permissions",
  ],
  ["permissions", "Windows", { system: "win32", folder: { ...folder, mode: 0o777 } }, "ok", /left to Windows/],
  ["disk", "little room", { disk: { free: 5e8, total: 1e9, kind: "ext4" } }, "warning", /476\.8 MB of 953\.7 MB/],
  ["disk", "no room", { disk: { free: 1e6, total: 1e9, kind: "ext4" } }, "fault", /977 kB of/],
  ["disk", "no home", { disk: null }, "ok", /no home yet/],
  ["file system", "network", { disk: { free: 5e10, total: 1e11, kind: "nfs" } }, "fault", /on nfs/],
  ["file system", "memory", { disk: { free: 5e10, total: 1e11, kind: "tmpfs" } }, "warning", /in memory/],
  ["file system", "a container's layer", { disk: { free: 5e10, total: 1e11, kind: "overlay" } }, "warning", /overlay/],
  ["file system", "passed on", { store: { type: "found", bytes: 1, ...look, warning: "on FUSE" } }, "warning", /FUSE/],
  ["config", "wrong", { configFaults: ["a is not known", "b must be 1"] }, "fault", /a is not known\nb must be 1/],
  ["model", "none", { agent: brain === null ? null : { ...brain, backend: "echo" } }, "ok", /offline agent/],
  ["model", "another agent's", { agent: brain === null ? null : { ...brain, backend: "acp" } }, "ok", /left to/],
  ["model", "not known", { agent: null }, "ok", /configuration is wrong/],
  ["model", "refused", reached({ type: "refused", why: "401" }), "fault", /openai\/x refuses our key \(401\)/],
  [
    "model",
    "unlisted",
    reached({ type: "unlisted", near: ["openai/xx"] }),
    "fault",
    /not among .* near are openai\/xx/,
  ],
  ["model", "silent", reached({ type: "silent", why: "no route" }), "fault", /cannot be asked \(no route\)/],
  [
    "model",
    "a fallback only",
    reached({ type: "fine" }, { type: "silent", why: "refused" }),
    "warning",
    /ollama\/y cannot be asked/,
  ],
  [
    "sandbox",
    "none",
    { agent: brain === null ? null : { ...brain, sandbox: { type: "off", why: "It is missing.", isAccepted: false } } },
    "warning",
    /without a sandbox/,
  ],
  [
    "sandbox",
    "none, as root",
    {
      agent:
        brain === null
          ? null
          : { ...brain, sandbox: { type: "off", why: "As root.", isAccepted: true, isRefused: true } },
    },
    "fault",
    /file tools are refused\. As root/,
  ],
  [
    "sandbox",
    "demanded",
    { agent: brain === null ? null : { ...brain, sandbox: { type: "missing", why: "not here" } } },
    "fault",
    /not here/,
  ],
  [
    "sandbox",
    "switched off",
    {
      agent:
        brain === null ? null : { ...brain, sandbox: { type: "off", why: "It is switched off.", isAccepted: true } },
    },
    "ok",
    /switched off/,
  ],
  [
    "programs",
    "missing",
    { agent: brain === null ? null : { ...brain, missing: [{ key: "agent.mcp.a.command", program: "npx" }] } },
    "warning",
    /agent\.mcp\.a\.command names npx, which is not found/,
  ],
  ["store", "none yet", { store: { type: "none" } }, "ok", /none in \/h yet/],
  [
    "store",
    "no database",
    { store: { type: "unusable", why: "it is damaged", isDamaged: true } },
    "fault",
    /it is damaged/,
  ],
  ["store", "damaged", { store: { type: "found", bytes: 1, ...look, fault: "row 3" } }, "fault", /damaged: row 3/],
  ["store version", "older", { store: { type: "found", bytes: 1, ...look, schema: 1 } }, "warning", /schema 1.*has 2/],
  ["gateway", "safe mode", { gateway: { ...gateway, safeMode: true, reason: "died thrice" } }, "fault", /died thrice/],
  ["gateway", "degraded", { gateway: { ...gateway, state: "degraded", reason: "full disk" } }, "warning", /full disk/],
  ["gateway", "it hangs", { gateway: null }, "fault", /pid 42\) lives but does not answer/],
  ["gateway", "it died", quiet, "warning", /pid 42\) is gone without a word/],
  ["gateway", "it was ended", { ...quiet, state: { ...state, exit_reason: "SIGTERM" } }, "warning", /ended: SIGTERM/],
  ["gateway", "it was stopped", { ...quiet, state: { ...state, gateway_state: "stopped" } }, "ok", /none runs/],
  ["gateway", "never started", { ...quiet, state: null }, "ok", /none runs/],
  [
    "gateway",
    "the last start failed",
    { ...quiet, state: { ...state, gateway_state: "startup_failed", exit_reason: "port in use" } },
    "fault",
    /last start failed: port in use/,
  ],
  ["mcp", "no gateway", quiet, "ok", /not checked/],
  ["mcp", "none", { gateway: { ...gateway, servers: [] } }, "ok", /^none$/],
  ["mcp", "ready", {}, "ok", /^github$/],
  ["mcp", "starting", serving({ state: "starting", protocol: null }), "ok", /^github, wiki$/],
  [
    "mcp",
    "crashed",
    serving({ state: "degraded", why: "it ended with exit code 3", nextAttemptAt: now + 8_000 }),
    "warning",
    /^wiki is degraded: it ended with exit code 3; next attempt in 8 s$/,
  ],
  [
    "mcp",
    "login",
    serving({ state: "login-needed", why: "it requires a login (HTTP 401)" }),
    "fault",
    /^wiki is waiting for a login: it requires a login/,
  ],
  ["mcp", "refused", serving({ state: "refused", why: "HTTP 403" }), "fault", /^wiki is refused: HTTP 403$/],
  [
    "mcp",
    "changed tools",
    serving({ why: "1 tool changed", changed: [{ tool: "drop", text: "x" }] }),
    "warning",
    /^wiki is ready, 12 tools, protocol 2025-11-25: 1 tool changed$/,
  ],
  ["outbox", "no gateway", quiet, "ok", /not looked at/],
  ["outbox", "nothing given up", {}, "ok", /nothing was given up/],
  ["outbox", "one given up", { gateway: { ...gateway, dead: 1 } }, "warning", /^1 message was given up$/],
  [
    "outbox",
    "some held",
    { gateway: { ...gateway, held: [heldIn("telegram/bot/7", 2), heldIn("email/me/x", 1)] } },
    "warning",
    /^2 answers for telegram\/bot\/7 may not have arrived, held since .* ago\)\n1 answer for email\/me\/x may/,
  ],
  [
    "outbox",
    "some held, some given up",
    { gateway: { ...gateway, dead: 1, held: [heldIn("telegram/bot/7", 1)] } },
    "warning",
    /^1 message was given up\n1 answer for telegram\/bot\/7 may/,
  ],
  ["outbox", "some given up", { gateway: { ...gateway, dead: 3 } }, "warning", /^3 messages were given up$/],
  ["platforms", "none open", quiet, "ok", /no gateway has them open/],
  ["platforms", "down", linked({ state: "down", why: "no route" }), "warning", /x\/y is down for .*: no route/],
  [
    "platforms",
    "troubled",
    linked({ state: "troubled", why: "another program polls" }),
    "warning",
    /another program polls/,
  ],
  ["platforms", "denied", linked({ state: "denied", why: "wrong token" }), "fault", /x\/y is denied: wrong token/],
  ["platforms", "connecting", linked({ state: "connecting", why: "connecting" }), "ok", /web\/local, x\/y/],
  ["platforms", "fine", linked({}, { fine: true, said: "I am @bot" }), "ok", /web\/local, x\/y/],
  ["platforms", "unwell", linked({}, { fine: false, said: "400 messages wait" }), "warning", /400 messages wait/],
  ["lock", "free", quiet, "ok", /free/],
  ["lock", "held by nobody we know", { isAlive: false }, "fault", /does not name/],
  ["lock", "unusable", { lock: { unusable: "no right" } }, "fault", /no right/],
  ["markers", "stale", { markers: [{ path: "/h/.m", judgement: "stale" }] }, "warning", /\/h\/\.m/, "markers"],
  ["markers", "unreadable", { markers: [{ path: "/h/.m", judgement: "unreadable" }] }, "warning", /cannot be read/],
  [
    "markers",
    "a stale and an unreadable one",
    {
      markers: [
        { path: "/h/.a", judgement: "stale" },
        { path: "/h/.b", judgement: "unreadable" },
      ],
    },
    "warning",
    /\/h\/\.a\ncannot be read: \/h\/\.b/,
    "markers",
  ],
  ["markers", "in use", { markers: [{ path: "/h/.m", judgement: "self" }] }, "ok", /under way/],
  ["port", "taken", { port: { place: "127.0.0.1:7433", use: { taken: "EADDRINUSE" } } }, "fault", /EADDRINUSE/],
  ["port", "free", { port: { place: "127.0.0.1:7433", use: "free" } }, "ok", /is free/],
  ["port", "any", { port: { place: "127.0.0.1:0", use: "any" } }, "ok", /any free one/],
  ["service", "none", { service: null }, "ok", /none is installed/],
  ["service", "out of date", { service: { ...unit, differs: ["ExecStart"] } }, "warning", /ExecStart/, "service"],
  ["service", "a file is gone", { service: { ...unit, missing: ["/u"] } }, "fault", /lacks \/u/, "service"],
  ["service", "nobody runs it", { service: { ...unit, isAttended: false } }, "warning", /supervisor does not run/],
  ["service", "as root", { service: { ...unit, isRoot: true } }, "warning", /runs as root/],
  ["service", "failed", { service: { ...unit, state: "failed" } }, "fault", /has failed/],
  [
    "stop timing",
    "too short",
    { service: { ...unit, neededSeconds: 330 }, drainSeconds: 300 },
    "fault",
    /kills a stop after 90 s, and gateway\.drainSeconds 300 needs 330 s/,
    "service",
  ],
  ["stop timing", "no service", { service: null }, "ok", /left to/],
  ["linger", "off", { service: { ...unit, lingers: false } }, "warning", /ends when ann logs out/],
  ["linger", "no question", { service: { ...unit, lingers: null } }, "ok", /does not matter/],
  ["clock", "never set", { now: 0 }, "fault", /1970/],
  ["clock", "set back", { lastBeat: now + 3_600_000 }, "warning", /from the future/],
];

const cases: readonly Case[] = rows.map(([check, name, found, level, says, fix]) => ({
  check,
  name: `${check}: ${name}`,
  found,
  level,
  says,
  fix: fix ?? null,
}));

table("what doctor says", cases, ({ check, found, level, says, fix }) => {
  const told = examine({ ...well, ...found }).find((one) => one.name === check) ?? assert.fail(check);
  assert.equal(told.level, level);
  assert.match(told.what, says);
  assert.equal(told.fix, fix);
  assert.equal(told.todo === null, level === "ok", "what is wrong comes with what to do, and nothing else does");
});

test("a home in order is told so by every check, and every check has a case in which something is wrong", () => {
  const told = examine(well);
  assert.deepEqual(
    told.filter((one) => one.level !== "ok"),
    [],
  );
  assert.equal(worst(told), "ok");
  for (const { name } of checks)
    assert.ok(
      cases.some((one) => one.check === name && one.level !== "ok"),
      name,
    );
  assert.equal(worst(examine({ ...well, ...quiet })), "warning");
  assert.equal(worst(examine({ ...well, configFaults: ["x"] })), "fault");
});
