// Where a path leads follows from its text, and what is asked for is one table.

import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { aRoom, aVet, withoutSandbox } from "../../../test/fakes/room.ts";
import type { PathGrant } from "../../core/grant.ts";
import type { VetContext } from "../../ports/tool.ts";
import {
  type AskReason,
  type FileCase,
  type FileToolCall,
  type FileToolName,
  type PathPosition,
  positionOf,
  reasonToAsk,
  typedPath,
  vetFile,
} from "./vet.ts";
import { refuseWithoutWall } from "./workers.ts";

const home = "/home/ann/.everturn";
const places = {
  workspace: `${home}/workspace`,
  files: `${home}/attachments/owner`,
  closed: [home, "/data/state.db"],
  isWalled: true,
};

describe("where a path leads", () => {
  const cases: readonly (readonly [path: string, read: PathPosition, write: PathPosition])[] = [
    [`${home}/workspace`, "inside", "inside"],
    [`${home}/workspace/a/b`, "inside", "inside"],
    [`${home}/workspaces/bob/f`, "gateway", "gateway"],
    [home, "gateway", "gateway"],
    [`${home}/config.yaml`, "gateway", "gateway"],
    [`${home}/control.token`, "gateway", "gateway"],
    ["/home/ann/.Everturn/Config.yaml", "gateway", "gateway"],
    ["/data/state.db", "gateway", "gateway"],
    [`${home}/attachments/owner/x`, "inside", "gateway"],
    [`${home}/attachments/bob/x`, "gateway", "gateway"],
    [`${home}2/x`, "outside", "outside"],
    ["/home/ann/notes.txt", "outside", "outside"],
    ["/home/ann", "outside", "outside"],
    ["/", "outside", "outside"],
    ["~/x", "inside", "inside"],
    ["/usr/share/dict/words", "inside", "outside"],
    ["/usrlocal/x", "outside", "outside"],
    ["/proc/1/environ", "inside", "protected"],
    ["/dev/sda", "inside", "protected"],
    ["/boot/grub/grub.cfg", "outside", "protected"],
    ["/etc/hosts", "outside", "outside"],
    ["/etc/passwd", "outside", "protected"],
    ["/etc/sudoers.d/x", "outside", "protected"],
  ];
  for (const [path, read, write] of cases) {
    test(path, () => {
      assert.deepEqual([positionOf(path, "read", places), positionOf(path, "write", places)], [read, write]);
    });
  }

  test("without a sandbox the system is outside, and a workspace around the gateway's folder does not open it", () => {
    assert.equal(positionOf("/usr/x", "read", { ...places, isWalled: false }), "outside");
    const around = { ...places, workspace: "/home/ann" };
    assert.equal(positionOf("/home/ann/notes.txt", "write", around), "inside");
    assert.equal(positionOf(`${home}/config.yaml`, "read", around), "gateway");
  });

  const typed: readonly (readonly [typed: string, walled: string, bare: string])[] = [
    ["f", "/w/f", "/w/f"],
    ["a/../../x", "/x", "/x"],
    ["/w/./a//b/", "/w/a/b", "/w/a/b"],
    ["~", "~", "/home/ann"],
    ["~/a", "~/a", "/home/ann/a"],
    ["~/../../etc/shadow", "~/etc/shadow", "/etc/shadow"],
    ["~bob/a", "/w/~bob/a", "/w/~bob/a"],
    ["file:///etc/passwd", "/w/file:/etc/passwd", "/w/file:/etc/passwd"],
    ["..%2f..%2fetc", "/w/..%2f..%2fetc", "/w/..%2f..%2fetc"],
  ];
  for (const [path, walled, bare] of typed) {
    test(`typed ${path}`, () => {
      const of = (isWalled: boolean): string => typedPath(path, "/w", "/home/ann", isWalled);
      assert.deepEqual([of(true), of(false).replace(/(?<=.)\/$/, "")], [walled, bare]);
    });
  }
});

describe("what is asked for", () => {
  const base: FileCase = {
    position: "inside",
    access: "read",
    policy: "dangerous",
    state: "on",
    canCheckOpened: true,
  };
  const cases: readonly (readonly [more: Partial<FileCase>, asks: AskReason | null])[] = [
    [{}, null],
    [{ access: "write" }, null],
    [{ policy: "never" }, null],
    [{ policy: "always" }, "every-call"],
    [{ policy: "always", access: "write" }, "every-call"],
    [{ position: "outside" }, "outside"],
    [{ position: "outside", policy: "never" }, "outside"],
    [{ position: "outside", access: "write", policy: "never" }, "outside"],
    [{ state: "off" }, null],
    [{ state: "off", access: "write" }, "unwalled-change"],
    [{ state: "off", access: "write", policy: "never" }, "unwalled-change"],
    [{ state: "off", canCheckOpened: false }, "unwalled"],
    [{ state: "off", canCheckOpened: false, policy: "never" }, "unwalled"],
    [{ state: "off", position: "outside", policy: "never" }, "outside"],
    [{ state: "off", policy: "always" }, "every-call"],
  ];
  for (const [more, asks] of cases) {
    test(JSON.stringify(more), () => {
      assert.equal(reasonToAsk({ ...base, ...more }), asks);
    });
  }
});

const outsideWords: Readonly<
  Record<FileToolName, readonly [access: PathGrant["access"], what: string, subject: string]>
> = {
  read_file: ["read", "Reads /srv/f", "reading /srv/f, whatever it holds"],
  search_files: ["read", "Reads everything in /srv/f", "any search in /srv/f"],
  send_file: ["read", "Sends /srv/f to this chat", "sending /srv/f to the chat, whatever it holds"],
  write_file: ["write", "Overwrites /srv/f\nnew", "writing any content to /srv/f"],
  edit_file: ["write", "Changes /srv/f\nnew", "any edit of /srv/f"],
};

describe("a call outside of the workspace", () => {
  for (const [tool, [access, what, subject]] of Object.entries(outsideWords)) {
    test(`${tool}: ${what.split("\n")[0]}`, async (t) => {
      const room = aRoom(t);
      const of = async (input: unknown) => {
        const text = access === "write" ? { text: "new" } : {};
        const call = { tool: tool as FileToolName, path: "/srv/f", input, ...text } satisfies FileToolCall;
        const verdict = await vetFile(room, call, aVet());
        assert.ok(verdict.type === "approve");
        return verdict;
      };
      const [one, other, again] = [await of({ a: 1 }), await of({ a: 2 }), await of({ a: 1 })];
      assert.deepEqual([one.what, one.subject], [what, subject]);
      assert.deepEqual(one.grant?.paths, [{ path: "/srv/f", access }]);
      assert.equal(one.bound, again.bound);
      assert.notEqual(one.bound, other.bound, "an approval is for one input");
      assert.equal(other.subject, subject);
    });
  }

  test("its question names the effects, the worst first", async (t) => {
    const room = aRoom(t);
    const call = { tool: "send_file", path: "/srv/.ssh/id_rsa", input: {} } as const;
    const verdict = await vetFile(room, call, aVet({ outside: true }));
    assert.deepEqual(verdict.type === "approve" ? verdict.effects : null, [
      "Sends /srv/.ssh/id_rsa to this chat.",
      "It may hold passwords or keys.",
      "It is outside of the workspace.",
      "This conversation holds text from outside, which may have led to this.",
    ]);
    const inside = await vetFile(room, { tool: "write_file", path: "a", input: {}, text: "x" }, aVet());
    assert.deepEqual(inside.type === "approve" ? [inside.what, inside.effects] : null, [
      "Overwrites a\nx",
      ["Overwrites a.", "There is no sandbox here, so every change is asked for."],
    ]);
  });

  const refused: readonly (readonly [path: string, why: RegExp])[] = [
    ["../config.yaml", /belongs to the gateway itself/],
    ["../../home/control.token", /belongs to the gateway itself/],
    ["/etc/shadow", /belongs to the operating system/],
  ];
  for (const [path, why] of refused) {
    test(`${path} is refused`, async (t) => {
      const verdict = await vetFile(aRoom(t), { tool: "write_file", path, input: {} }, aVet());
      assert.ok(verdict.type === "refuse");
      assert.match(verdict.why, why);
    });
  }

  test("without a sandbox nothing is done as root, unless that is accepted", async () => {
    const off = { type: "off", why: "none", isAccepted: true } as const;
    const refused = (isRoot: boolean, allowRoot: boolean) => () =>
      refuseWithoutWall(off, { party: "owner", person: "owner" }, { isRoot, allowRoot });
    assert.throws(refused(true, false), /the gateway runs as root without a sandbox.*agent\.tools\.allowRoot: true/);
    for (const [isRoot, allowRoot] of [
      [true, true],
      [false, false],
    ] as const)
      assert.doesNotThrow(refused(isRoot, allowRoot));
  });

  test("without a sandbox other people are refused, whatever the path", async (t) => {
    const requester = { party: "person", person: "telegram/bot/7" } as const;
    const vet = vetFile(aRoom(t), { tool: "read_file", path: "f", input: {} }, aVet({ requester }));
    await assert.rejects(vet, /There is no sandbox on this machine, so only its owner and admins/);
  });
});

const skip = await withoutSandbox();
/** Where HOME is inside. */
const insideHome = join("/home", "sandbox", "x");

describe("with a sandbox", { skip }, () => {
  const cases: readonly (readonly [tool: FileToolName, path: string, type: string])[] = [
    ["read_file", "f", "run"],
    ["read_file", "none", "run"],
    ["read_file", "out", "run"],
    ["read_file", "/etc/os-release", "run"],
    ["read_file", "/usr/share/none", "run"],
    ["read_file", "/etc/shadow", "approve"],
    ["read_file", join(homedir(), ".ssh/id_ed25519"), "approve"],
    ["read_file", "~/.ssh/id_ed25519", "run"],
    ["read_file", insideHome, "run"],
    ["read_file", "../control.token", "refuse"],
    ["write_file", "f", "run"],
    ["write_file", ".git/hooks/pre-commit", "run"],
    ["write_file", "/tmp/x", "run"],
    ["write_file", insideHome, "run"],
    ["write_file", "/etc/hosts", "approve"],
    ["edit_file", "/etc/passwd", "refuse"],
    ["search_files", ".", "run"],
    ["search_files", "/usr/share", "run"],
    ["search_files", "/", "approve"],
    ["send_file", "f", "run"],
  ];
  test("what lies outside asks, by its text", async (t) => {
    const room = aRoom(t, { sandbox: "auto" });
    mkdirSync(room.userHome);
    room.put("f", "");
    writeFileSync(join(room.userHome, "key"), "");
    symlinkSync(join(room.userHome, "key"), join(room.workspace, "out"));
    for (const [tool, path, type] of cases) {
      const verdict = await vetFile(room, { tool, path, input: {} }, aVet());
      assert.equal(verdict.type, type, `${tool} ${path}`);
    }
  });

  test("other people have file tools as well", async (t) => {
    const room = aRoom(t, { sandbox: "auto" });
    const context: VetContext = aVet({ requester: { party: "person", person: "telegram/bot/7" } });
    assert.equal((await vetFile(room, { tool: "read_file", path: "f", input: {} }, context)).type, "run");
  });
});
