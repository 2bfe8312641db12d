// What a call must be to be stored: signed, for a hook that is there, while somebody listens.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Inbound } from "../../core/message.ts";
import type { Receipt } from "../../ports/platform.ts";
import { inletOf } from "../../testing/platform/steps.ts";
import { realWorld } from "../../world.ts";
import { hooks } from "./index.ts";
import { sign } from "./signature.ts";

const secret = "a secret of some length";
const never = (): never => assert.fail("nobody asked for it");

test("only a signed call for a known hook is stored, and the answer says what became of it", async () => {
  const world = realWorld(() => undefined);
  const blobs = { put: never, read: never, path: never };
  const { platform, routes } = hooks([{ name: "ci", secret, style: "everturn" }], { world, blobs, gateway: never });
  const body = JSON.stringify({ id: "b1", text: "hi" });
  const call = async (name: string, by: string | null, method = "POST") => {
    const headers: Record<string, string> = by === null ? {} : { "x-everturn-signature": sign(by, body, world.now()) };
    const sent = method === "POST" ? { body } : {};
    const response = await routes.handle(new Request(`http://127.0.0.1/hooks/${name}`, { method, headers, ...sent }));
    return response.status;
  };
  assert.equal(await call("ci", secret), 503, "nobody listens yet");
  const taken: Inbound[] = [];
  let receipt: Receipt = "accepted";
  const stop = new AbortController();
  const inlet = inletOf(async (message) => {
    taken.push(message);
    return receipt;
  });
  const ended = platform.listen(inlet, null, stop.signal);
  for (const [name, by, status] of [
    ["ci", null, 401],
    ["ci", "another secret altogether", 401],
    ["no", secret, 404],
    ["ci/more", secret, 404],
  ] as const)
    assert.equal(await call(name, by), status);
  assert.equal(await call("ci", secret, "GET"), 405);
  assert.equal(taken.length, 0);
  for (const [given, status] of [
    ["accepted", 202],
    ["duplicate", 200],
    ["ignored", 403],
  ] as const) {
    receipt = given;
    assert.equal(await call("ci", secret), status);
  }
  assert.deepEqual([taken.length, taken[0]?.key], [3, "ci:b1"]);
  stop.abort();
  await ended;
  assert.equal(await call("ci", secret), 503);
});
