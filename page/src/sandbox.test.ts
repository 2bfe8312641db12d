import assert from "node:assert/strict";
import { test } from "node:test";
import type { Fetched } from "./net/client.ts";
import { readSandbox, sandboxNotice } from "./sandbox.ts";

test("only a wall that is not there is worth a line", () => {
  for (const [sandbox, words] of [
    [{ type: "on", kind: "bubblewrap" }, ""],
    [{ type: "unknown" }, null],
    [{ type: "off", why: "It was switched off.", isAccepted: true }, ""],
    [
      { type: "off", why: "Install it.", isAccepted: false },
      "There is no sandbox: tools have all your rights. Install it.",
    ],
    [
      { type: "off", why: "As root.", isAccepted: true, isRefused: true },
      "There is no sandbox: commands and file tools are refused. As root.",
    ],
    [{ type: "missing", why: "Install it." }, "No tool runs, because the sandbox is missing. Install it."],
    [undefined, null],
    [5, null],
  ] as const)
    assert.equal(readSandbox({ sandbox }), words);
  for (const wrong of [null, 1, [], {}]) assert.equal(readSandbox(wrong), null);
});

test("it is asked for seldom, and a gateway that is away changes nothing", async () => {
  let now = 0;
  const answers: Fetched<string>[] = [{ type: "got", value: "no wall" }, { type: "later" }, { type: "got", value: "" }];
  const notice = sandboxNotice({ sandbox: async () => answers.shift() ?? assert.fail("asked too often") }, () => now);
  await notice.look();
  await notice.look();
  assert.equal(notice.words.value, "no wall");
  now = 60_000;
  await notice.look();
  assert.equal(notice.words.value, "no wall");
  now = 60_001;
  await notice.look();
  assert.equal(notice.words.value, "", "it is asked again at once when it was not known");
});
