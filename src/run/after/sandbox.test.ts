import assert from "node:assert/strict";
import { test } from "node:test";
import { sandboxNotice } from "./sandbox.ts";

test("homes get a notice of a missing sandbox with its reason, and nothing else", () => {
  assert.equal(sandboxNotice(null), null);
  assert.equal(sandboxNotice({ type: "on", kind: "bubblewrap" }), null);
  assert.equal(sandboxNotice({ type: "off", why: "Off.", isAccepted: true }), null);
  const off = sandboxNotice({ type: "off", why: "Install it.", isAccepted: false });
  assert.match(off?.text ?? "", /^There is no sandbox .* Install it\.$/);
  assert.equal(sandboxNotice({ type: "off", why: "Install it.", isAccepted: false })?.key, off?.key);
  const asRoot = sandboxNotice({ type: "off", why: "As root.", isAccepted: true, isRefused: true });
  assert.match(asRoot?.text ?? "", /commands and file tools are refused\. As root\.$/);
  const missing = sandboxNotice({ type: "missing", why: "Set unsafe." });
  assert.equal(missing?.text, "No tool runs. Set unsafe.");
  assert.notEqual(missing?.key, off?.key);
});
