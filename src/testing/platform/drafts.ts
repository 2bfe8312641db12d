// Answers that grow inside a message: placed, filled, and finished by an edit, which may be repeated without harm.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Instant } from "../../core/ids.ts";
import type { SendResult } from "../../core/outbox.ts";
import type { DraftMessages, PlaceKey } from "../../ports/platform.ts";
import { type Listening, type OpenPlatform, again, deliver, itemTo, listening, nextLife } from "./steps.ts";

const signal = new AbortController().signal;
const key: PlaceKey = { id: "draft-1", placedSince: null };

export function draftTests(open: OpenPlatform): void {
  test("placed, filled and finished, it is one message", async (t) => {
    const opened = await listening(t, open);
    const { platform, home, stored, seen } = opened;
    if (platform.drafts === undefined) return t.diagnostic("there are no drafts");
    const id = await place(platform.drafts, opened);
    assert.equal((await seen()).length, 1);
    assert.equal((await platform.drafts.fill(home, id, "half of", signal)).type, "accepted");
    const [soFar = ""] = await seen();
    assert.ok(soFar.includes("half of"), soFar);
    const item = finish(opened, id);
    await stored(item);
    for (const one of [item, again(item), again(item, 3)]) {
      assert.equal((await platform.send(one, signal)).type, "accepted");
      assert.deepEqual(await seen(), ["half of it"]);
    }
  });

  test("placed again under its key by the next process, it is the same message", async (t) => {
    const opened = await listening(t, open);
    const { platform, home, hints, seen, failNext, reopen } = opened;
    if (platform.drafts?.isKeyed !== true) return t.diagnostic("drafts have no keys");
    if (failNext === undefined || reopen === undefined) return t.diagnostic("this driver cannot fail and reopen");
    const since = Date.now() as Instant;
    await failNext("dropped-after");
    await platform.drafts.place(home, hints ?? {}, signal, key);
    opened.stop.abort();
    await opened.ended;
    const next = await nextLife(t, opened, opened.store);
    const again = { ...key, placedSince: since };
    const id = await place(next.platform.drafts ?? platform.drafts, opened, again);
    assert.equal((await seen()).length, 1);
    assert.equal(await place(next.platform.drafts ?? platform.drafts, opened, again), id);
    assert.equal((await seen()).length, 1);
  });

  test("one that is removed is gone; removing it again does no harm; finished, it arrives anew", async (t) => {
    const opened = await listening(t, open);
    const { platform, home, stored, seen } = opened;
    if (platform.drafts === undefined) return t.diagnostic("there are no drafts");
    const id = await place(platform.drafts, opened);
    assert.equal((await platform.drafts.remove(home, id, signal)).type, "accepted");
    assert.deepEqual(await seen(), []);
    await platform.drafts.remove(home, id, signal);
    const item = finish(opened, id);
    await stored(item);
    assert.equal((await platform.send(item, signal)).type, "accepted");
    assert.deepEqual(await seen(), ["half of it"]);
  });

  test("a finish that was not answered, repeated by the next life, is seen once", async (t) => {
    const opened = await listening(t, open);
    const { platform, stored, seen, failNext, reopen } = opened;
    if (platform.drafts === undefined) return t.diagnostic("there are no drafts");
    if (failNext === undefined || reopen === undefined) return t.diagnostic("this driver cannot fail and reopen");
    const item = finish(opened, await place(platform.drafts, opened));
    await stored(item);
    await failNext("dropped-after");
    await platform.send(item, signal);
    opened.stop.abort();
    await opened.ended;
    const next = await nextLife(t, opened, opened.store);
    await deliver(next.platform, again(item));
    assert.deepEqual(await seen(), ["half of it"]);
  });

  test("what goes wrong with a draft is an answer", async (t) => {
    const opened = await listening(t, open);
    const { platform, home, failNext } = opened;
    if (platform.drafts === undefined) return t.diagnostic("there are no drafts");
    if (failNext === undefined) return t.diagnostic("this driver cannot fail");
    const id = await place(platform.drafts, opened);
    for (const kind of ["rate", "server", "dropped-before"] as const) {
      await failNext(kind);
      const result: SendResult = await platform.drafts.fill(home, id, `after ${kind}`, signal);
      assert.ok(["retry", "unknown", "accepted"].includes(result.type), `${kind}: ${result.type}`);
      if (kind === "rate") assert.equal(result.type, "retry");
    }
  });
}

async function place(drafts: DraftMessages, { home, hints }: Listening, under = key): Promise<string> {
  const result = await drafts.place(home, hints ?? {}, signal, under);
  if (result.type !== "accepted") throw new Error(`it was not placed: ${result.type}`);
  return result.remoteId;
}

function finish({ home, hints }: Listening, edits: string): ReturnType<typeof itemTo> {
  return { ...itemTo(home, "i1", "half of it", hints), edits };
}
