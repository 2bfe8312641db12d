import assert from "node:assert/strict";
import { test } from "node:test";
import { turnId } from "../../testing/samples.ts";
import { asked, chosen, permissionOf } from "./choices.ts";

const option = (optionId: string, name: string, kind: string) => ({ optionId, name, kind });
const all = [
  option("a", "Allow once", "allow_once"),
  option("b", "Always allow", "allow_always"),
  option("c", "Reject", "reject_once"),
];
const toolCall = { toolCallId: "1", title: "bash", kind: "execute", rawInput: { command: "rm -rf build" } };
const usual = permissionOf({ toolCall, options: all });
const shown = (request: unknown) => asked(permissionOf(request), false, turnId("t1"));

test("a wish is an approval that shows what would be done", () => {
  const { text, choices, kind, what, bound } = asked(usual, false, turnId("t1"));
  assert.equal(kind, "approval");
  assert.deepEqual(choices, ["approve", "always", "deny"]);
  assert.equal(what, "bash\nrm -rf build");
  assert.equal(bound, usual.asking.bound);
  assert.equal(
    text,
    [
      "May I do this with a tool of my own? I ask because my own settings want your word for it.",
      "```\nbash\nrm -rf build\n```",
      '"always" also allows, from now on without asking: `whatever my own settings call "Always allow"`',
      "Answer /approve or /deny.",
    ].join("\n\n"),
  );
  assert.match(asked(usual, true, turnId("t1")).text, /^What would be done has changed/);
});

test("all that the agent tells of it is shown, whatever is missing", () => {
  const cases: readonly (readonly [unknown, string])[] = [
    [{ toolCall: { title: "ls", rawInput: { command: "ls" } } }, "ls"],
    [{ toolCall: { title: "x", rawInput: { command: "ls", cwd: "/etc" } } }, 'x\nls\n{\n  "cwd": "/etc"\n}'],
    [{ toolCall: { title: "Edit", rawInput: { path: "a.txt" } } }, 'Edit\n{\n  "path": "a.txt"\n}'],
    [{ toolCall: { title: "Edit", rawInput: ["a"] } }, 'Edit\n[\n  "a"\n]'],
    [{ toolCall: { title: "Edit", content: [{ type: "diff" }] } }, 'Edit\n[\n  {\n    "type": "diff"\n  }\n]'],
    [{ toolCall: { title: "Edit", locations: [{ path: "/w/a" }, { path: "/w/b" }] } }, "Edit\n/w/a\n/w/b"],
    [{ toolCall: { kind: "fetch", rawInput: null } }, "fetch"],
    [{}, "something"],
    [null, "something"],
    [{ toolCall: 7, options: "x" }, "something"],
  ];
  for (const [request, what] of cases) {
    assert.equal(shown(request).what, what);
    assert.ok(shown(request).text.includes(`\n\`\`\`\n${what}\n\`\`\`\n`), what);
  }
});

test("nothing breaks out, hides, or is allowed for good unseen", () => {
  const odd = { title: "ls\r\n```\nAnswer yes", rawInput: { command: "~~~~\n```\nMay it?\u202E" } };
  const { text } = shown({ toolCall: odd, options: all });
  assert.ok(text.includes("\n````\nls\\u{d}\n```\nAnswer yes\n~~~~\n```\nMay it?\\u{202e}\n````\n"), text);
  const long = shown({ toolCall: { title: "x", rawInput: { command: "y".repeat(1e6) } }, options: all });
  assert.ok(long.text.length < 5_000 && (long.what ?? "").length < 510_000);
  assert.match(long.text, /NOT ALL OF IT IS SHOWN/);
  assert.deepEqual(long.choices, ["approve", "deny"]);
});

test("leave is bound to the whole request, and not to the name that it has this time", () => {
  const { bound } = usual.asking;
  const other = (more: object) => permissionOf({ toolCall: { ...toolCall, ...more }, options: all }).asking.bound;
  assert.equal(other({ toolCallId: "2", status: "pending" }), bound);
  const long = (end: string) => other({ rawInput: { command: `${"y".repeat(1e6)}${end}${"y".repeat(1e6)}` } });
  assert.notEqual(long("a"), long("b"));
  for (const more of [{ title: "x" }, { kind: "edit" }, { rawInput: { command: "ls" } }, { content: [1] }]) {
    assert.notEqual(other(more), bound, JSON.stringify(more));
  }
});

test("a decision is one of the agent's options; anything that is none is no permission", () => {
  const cases: readonly (readonly [string | null, string | null, string | null])[] = [
    ["approve", "a", null],
    ["yes", "a", null],
    ["always", "b", null],
    ["deny", "c", null],
    ["deny: only the old files", "c", "only the old files"],
    [null, "c", null],
    ["only the old files", "c", "only the old files"],
  ];
  for (const [choice, id, words] of cases) assert.deepEqual(chosen(usual, choice), { id, words }, String(choice));
});

test("an agent with other options: what it has not is not offered, and the only yes it has is named", () => {
  const good = permissionOf({ options: [option("r", "Never", "reject_always"), option("b", "Go on", "allow_always")] });
  assert.match(asked(good, false, turnId("t1")).text, /and they know no other yes than "Go on"\./);
  assert.deepEqual(asked(good, false, turnId("t1")).choices, ["approve", "deny"]);
  assert.equal(chosen(good, "approve").id, "b");
  assert.equal(chosen(good, "deny").id, "r");
  const both = permissionOf({ options: [option("r", "Never", "reject_always"), ...all] });
  assert.equal(chosen(both, "deny").id, "c", "a denial is for this once where that can be said");
  const none = permissionOf({ options: [option("x", "", "odd")] });
  for (const choice of ["approve", "deny", null]) assert.equal(chosen(none, choice).id, null);
});
