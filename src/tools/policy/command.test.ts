// The table of verdicts, and what a question says.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Verdict } from "../../core/approval.ts";
import { type Grant, noGrant } from "../../core/grant.ts";
import { isRuleInEffect } from "../../core/terminal-rules.ts";
import type { SandboxState } from "../../ports/sandbox.ts";
import { type CommandHost, type CommandRequest, type CommandSettings, covers, judgeCommand } from "./command.ts";
import { decidePath } from "./paths.ts";

const on: SandboxState = { type: "on", kind: "bubblewrap" };
const off: SandboxState = { type: "off", why: "bubblewrap is not installed", isAccepted: false };
const aHost: CommandHost = { sandbox: on, isRoot: false, isWindows: false };
const usual: CommandSettings = { approvals: "dangerous", hosts: [], network: false, outside: false, allowRoot: false };
const aRequest: CommandRequest = {
  command: "make",
  cwd: "/w",
  background: false,
  isAtHome: true,
  wanted: noGrant,
  outsideWhy: "`sudo` cannot work in the sandbox",
  deletes: [],
  publishes: false,
  scripts: [],
  party: "owner",
  marked: false,
};

type Change = {
  readonly request?: Partial<CommandRequest>;
  readonly settings?: Partial<CommandSettings>;
  readonly host?: Partial<CommandHost>;
};
const judge = ({ request, settings, host }: Change): Verdict =>
  judgeCommand({ ...aRequest, ...request }, { ...usual, ...settings }, { ...aHost, ...host });
const asked = (change: Change) => {
  const verdict = judge(change);
  return verdict.type === "approve" ? verdict : assert.fail(JSON.stringify(verdict));
};
const grant = (more: Partial<Grant>): Grant => ({ ...noGrant, ...more });
const outside = grant({ outside: true });
const hosts = grant({ hosts: ["pypi.org"] });

describe("verdicts", () => {
  const cases: readonly (readonly [name: string, change: Change, type: Verdict["type"]])[] = [
    ["in the sandbox", {}, "run"],
    ["a person in the sandbox", { request: { party: "person" } }, "run"],
    ["marked, in the sandbox", { request: { marked: true } }, "run"],
    ["deleting in the workspace", { request: { deletes: ["build"] } }, "run"],
    ["always", { settings: { approvals: "always" } }, "approve"],
    ["never, wider", { request: { wanted: hosts }, settings: { approvals: "never" } }, "approve"],
    ["a host", { request: { wanted: hosts } }, "approve"],
    ["a configured host", { request: { wanted: hosts }, settings: { hosts: ["pypi.org"] } }, "run"],
    ["all hosts", { request: { wanted: hosts }, settings: { network: true } }, "run"],
    ["all hosts, but marked", { request: { wanted: hosts, marked: true }, settings: { network: true } }, "approve"],
    ["sudo", { request: { wanted: outside } }, "refuse"],
    ["sudo where it can be approved", { request: { wanted: outside }, settings: { outside: true } }, "approve"],
    ["sudo, never", { request: { wanted: outside }, settings: { outside: true, approvals: "never" } }, "approve"],
    ["sudo of a person", { request: { wanted: outside, party: "person" }, settings: { outside: true } }, "refuse"],
    ["no sandbox", { request: { wanted: outside }, host: { sandbox: off } }, "approve"],
    [
      "no sandbox, never",
      { request: { wanted: outside }, host: { sandbox: off }, settings: { approvals: "never" } },
      "approve",
    ],
    ["no sandbox, read-only", { request: { wanted: outside, command: "ls" }, host: { sandbox: off } }, "run"],
    ["the same elsewhere", { request: { command: "ls", isAtHome: false }, host: { sandbox: off } }, "approve"],
    ["the same in the background", { request: { command: "ls", background: true }, host: { sandbox: off } }, "approve"],
    [
      "the same, always",
      { request: { command: "ls" }, host: { sandbox: off }, settings: { approvals: "always" } },
      "approve",
    ],
    ["the same on Windows", { request: { command: "ls" }, host: { sandbox: off, isWindows: true } }, "approve"],
    ["no sandbox, a person", { request: { command: "ls", party: "person" }, host: { sandbox: off } }, "refuse"],
    ["no sandbox, an admin", { request: { command: "ls", party: "admin" }, host: { sandbox: off } }, "run"],
    ["no sandbox, root", { request: { command: "ls" }, host: { sandbox: off, isRoot: true } }, "refuse"],
    [
      "the same, accepted",
      { request: { command: "ls" }, host: { sandbox: off, isRoot: true }, settings: { allowRoot: true } },
      "run",
    ],
    ["root in the sandbox", { host: { isRoot: true } }, "run"],
    ["a sandbox that does not work", { host: { sandbox: { type: "missing", why: "It is broken." } } }, "refuse"],
  ];
  for (const [name, change, type] of cases) test(name, () => assert.equal(judge(change).type, type));
});

test("a call gets what was shown and what the settings give, and nothing else", () => {
  assert.deepEqual(judge({}), { type: "run", grant: noGrant });
  assert.deepEqual(judge({ settings: { hosts: ["a.example"] } }), {
    type: "run",
    grant: grant({ hosts: ["a.example"] }),
  });
  assert.deepEqual(judge({ settings: { network: true } }), { type: "run", grant: grant({ hosts: ["*"] }) });
  assert.deepEqual(judge({ settings: { network: true }, request: { marked: true } }), { type: "run", grant: noGrant });
  const both = asked({ request: { wanted: hosts }, settings: { hosts: ["a.example"] } });
  assert.deepEqual(both.grant, grant({ hosts: ["a.example", "pypi.org"] }));
  assert.match(both.effects?.join("\n") ?? "", /Connects to a\.example and pypi\.org/);
  const wide = { ...hosts, paths: [{ path: "/srv", access: "write" } as const], outside: true };
  assert.deepEqual(asked({ request: { wanted: wide }, settings: { outside: true } }).grant, outside);
});

test("a refusal gives the line to type", () => {
  const verdict = judge({ request: { wanted: outside, command: "sudo apt install jq" } });
  assert.ok(verdict.type === "refuse");
  assert.match(verdict.why, /type this in a terminal of their own:\nsudo apt install jq\n/);
});

test("questions say the worst effect first, and never less than what is given", () => {
  const wanted = grant({
    hosts: ["a.example", "b.example"],
    paths: [
      { path: "/home/ann/.ssh", access: "read" },
      { path: "/srv", access: "write" },
    ],
    credentials: [{ kind: "ssh-agent", host: "github.com" }],
  });
  const request = { wanted, deletes: ["/srv/old"], publishes: true, background: true, marked: true };
  assert.deepEqual(asked({ request }).effects, [
    "Deletes /srv/old.",
    "Can change or delete anything in /srv.",
    "Publishes to github.com with your SSH key; anything in the workspace can use it during the call.",
    "Can read /home/ann/.ssh and anything in it, which may hold passwords or keys.",
    "Connects to a.example and b.example; anything it can read can be sent there.",
    "Keeps all of this while it runs in the background.",
    "This conversation holds text from outside, which may have led to this.",
  ]);
  const password = grant({ credentials: [{ kind: "git-credential", host: "github.com" }] });
  assert.deepEqual(asked({ request: { wanted: password } }).effects, [
    "Signs in at github.com with your git password; anything in the workspace can read it during the call, and keep it.",
  ]);
  assert.deepEqual(asked({ request: { wanted: outside, deletes: ["x"] }, settings: { outside: true } }).effects, [
    "Deletes x.",
    "Runs outside the sandbox with all your rights.",
  ]);
  const [only] = asked({ host: { sandbox: off } }).effects ?? [];
  assert.match(only ?? "", /^Runs without a sandbox, with all your rights\. It can also reach .* token and port/);
  assert.match(asked({ request: { wanted: grant({ hosts: ["*"] }) } }).effects?.[0] ?? "", /any public host/);
  assert.deepEqual(asked({ settings: { approvals: "always" } }).effects, [
    "Runs in the sandbox, with nothing beyond it.",
  ]);
});

test("a question says where passwords and keys may be read", () => {
  const says = (path: string) => {
    const [first = ""] = asked({ request: { wanted: grant({ paths: [{ path, access: "read" }] }) } }).effects ?? [];
    return first.includes("passwords or keys");
  };
  for (const path of ["/", "/home/ann", "/root", "/etc", "/home/ann/.ssh", "/srv/x.pem", "/srv/.env"])
    assert.equal(says(path), true, path);
  for (const path of ["/srv", "/home/ann/docs", "/srv/notes.txt"]) assert.equal(says(path), false, path);
});

test("an approval is bound to everything that was shown", () => {
  const scripts = [["x.sh", "abc"]] as const;
  const base = { request: { wanted: outside, scripts }, settings: { outside: true } };
  const { bound } = asked(base);
  assert.equal(asked(base).bound, bound);
  const others: readonly Change[] = [
    { ...base, request: { ...base.request, command: "make x" } },
    { ...base, request: { ...base.request, cwd: "/w/x" } },
    { ...base, request: { ...base.request, background: true } },
    { ...base, request: { ...base.request, scripts: [["x.sh", "abd"]] } },
    { request: { wanted: hosts } },
    { request: { wanted: grant({ hosts: ["pypi.org", "a.example"] }) } },
    { ...base, host: { sandbox: off } },
  ];
  const all = others.map((one) => asked(one).bound);
  assert.equal(new Set([bound, ...all]).size, others.length + 1);
  assert.match(asked(base).what, /x\.sh@abc/);
});

test("what always would allow", () => {
  const subject = (wanted: Partial<Grant>) => asked({ request: { wanted: grant(wanted) } }).subject;
  const path = (access: "read" | "write") => ({ paths: [{ path: "/srv", access }] });
  assert.equal(subject({ hosts: ["b.example", "a.example"] }), "commands that connect to a.example and b.example");
  assert.equal(subject(path("read")), "commands that read anything in /srv");
  assert.equal(subject(path("write")), "commands that change or delete anything in /srv");
  assert.equal(subject({ ...path("read"), hosts: ["a.example"] }), null);
  assert.equal(subject({ hosts: ["a.example"], credentials: [{ kind: "ssh-agent", host: "a.example" }] }), null);
  assert.equal(asked({ request: { wanted: outside }, settings: { outside: true } }).subject, null);
  assert.equal(asked({ host: { sandbox: off } }).subject, null);
  assert.equal(asked({ settings: { approvals: "always" } }).subject, "in the sandbox: make (in /w)");
});

test("rules of earlier releases for the terminal hold no more", () => {
  const holds = (tool: string, subject: string) => isRuleInEffect({ tool, subject });
  assert.equal(holds("terminal", "commands that connect to pypi.org"), true);
  assert.equal(holds("terminal", "npm ci (in /w)"), false);
  assert.equal(holds("write_file", "writing any content to /etc/hosts"), true);
});

test("one host covers another", () => {
  const cases: readonly (readonly [given: string, wanted: string, covers: boolean])[] = [
    ["a.example", "a.example", true],
    ["a.example", "a.example:443", true],
    ["a.example", "a.example:22", false],
    ["a.example:22", "a.example:22", true],
    ["a.example:22", "a.example", false],
    ["a.example", "b.a.example", false],
    ["*.a.example", "b.a.example", true],
    ["*.a.example", "a.example", false],
    ["*.a.example", "evila.example", false],
    ["*", "a.example:22", true],
  ];
  for (const [given, wanted, expected] of cases) assert.equal(covers(given, wanted), expected, `${given} ${wanted}`);
});

test("which folder a command gets for a path outside", () => {
  const places = { workspace: "/home/ann/.everturn/workspace", home: "/home/ann/.everturn", userHome: "/home/ann" };
  const decide = (real: string, access: "read" | "write", kind: "folder" | "file" | "missing", more = {}) => {
    const decided = decidePath({ real, access, kind, isMoved: false, isExplicit: false, ...more }, places);
    return decided.type === "grant" ? `${decided.grant.access} ${decided.grant.path}` : decided.type;
  };
  assert.equal(decide("/srv/x", "read", "file"), "read /srv/x");
  assert.equal(decide("/srv/x", "read", "missing"), "needless");
  assert.equal(decide("/srv/x", "read", "missing", { isExplicit: true }), "refuse");
  assert.equal(decide("/srv/x", "write", "folder"), "write /srv/x");
  assert.equal(decide("/srv/x", "write", "folder", { isMoved: true }), "write /srv");
  assert.equal(decide("/srv/x", "write", "file"), "write /srv");
  assert.equal(decide("/srv/x/y", "write", "missing"), "write /srv/x");
  assert.equal(decide("/srv", "write", "folder", { isMoved: true }), "refuse");
  assert.equal(decide("/home/ann/x", "write", "file"), "refuse");
  assert.equal(decide("/home/ann", "write", "folder"), "refuse");
  assert.equal(decide("/home", "write", "folder"), "refuse");
  assert.equal(decide("/", "write", "folder"), "refuse");
  assert.equal(decide("/home/ann", "read", "folder"), "read /home/ann");
  assert.equal(decide("/home/ann/docs/x", "write", "file"), "write /home/ann/docs");
  assert.equal(decide("/home/ann/.everturn/config.yaml", "read", "file"), "refuse");
  assert.equal(decide("/home/ann/.everturn", "read", "folder"), "refuse");
  assert.equal(decide("/home/ann/.everturn/workspace/x", "write", "file"), "needless");
  assert.equal(decide("/run/docker.sock", "read", "file", { isExplicit: true }), "refuse");
  assert.equal(decide("/proc/1/environ", "read", "file"), "needless");
});
