// A hand-over whose code comes later: nobody is started by looking, and a stop that comes while it is loaded is heard.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Handover, HandoverParts } from "./handover.ts";
import { handoverLater } from "./later.ts";

const parts: HandoverParts = { isSupervised: false, env: {}, logs: "", patienceMs: 1, check: async () => undefined };

function told(): { readonly calls: string[]; readonly real: Handover } {
  const calls: string[] = [];
  const real: Handover = {
    prepare: async () => void calls.push("prepare"),
    isAwaited: () => calls.at(-1) === "prepare",
    dismiss: async () => void calls.push("dismiss"),
    leave: async (code) => code + 1,
  };
  return { calls, real };
}

test("whoever only looks, or leaves, loads nothing", async () => {
  const later = handoverLater(parts, () => assert.fail("loaded"));
  assert.equal(later.isAwaited(), false);
  await later.dismiss();
  assert.equal(await later.leave(3), 3);
});

test("from the first wish on it is the real one", async () => {
  const { calls, real } = told();
  let loads = 0;
  const later = handoverLater(parts, async () => {
    loads++;
    return () => real;
  });
  await Promise.all([later.prepare(), later.prepare()]);
  assert.deepEqual([calls, later.isAwaited(), await later.leave(3), loads], [["prepare", "prepare"], true, 4, 1]);
  void later.dismiss();
  assert.equal(calls.at(-1), "dismiss", "at once");
});

test("a stop that comes while it is loaded dismisses whoever was wished for", async () => {
  const { calls, real } = told();
  const loaded = Promise.withResolvers<() => Handover>();
  const later = handoverLater(parts, () => loaded.promise);
  const both = [later.prepare(), later.dismiss()];
  loaded.resolve(() => real);
  await Promise.all(both);
  assert.deepEqual(calls, ["prepare", "dismiss"]);
});

test("code that could not be loaded is tried again", async () => {
  const { calls, real } = told();
  let tries = 0;
  const later = handoverLater(parts, async () => {
    if (++tries === 1) throw new Error("no such file");
    return () => real;
  });
  await assert.rejects(later.prepare(), /no such file/);
  await later.prepare();
  assert.deepEqual(calls, ["prepare"]);
});
