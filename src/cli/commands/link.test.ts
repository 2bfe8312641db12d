// A link is shown where a person reads it, and nowhere else unless somebody says so.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "../../core/fault.ts";
import type { Context } from "../context.ts";
import { hints, link } from "./link.ts";

test("without a terminal nothing is made or printed", async () => {
  const said: string[] = [];
  const output = { out: (text: string) => void said.push(text), err: (text: string) => void said.push(text) };
  const context = { flags: {}, given: [], output: { ...output, tty: false }, now: () => 0 } as unknown as Context;
  await assert.rejects(link(context), (error) => error instanceof Fault && /ssh -t.*--print/.test(error.message));
  assert.deepEqual(said, []);
});

test("over ssh it also says how the port is reached from the other machine", () => {
  const made = "http://127.0.0.1:7433/#link=abc";
  assert.equal(hints(made, {}).length, 1);
  assert.equal(hints(made, { SSH_CONNECTION: "" }).length, 1);
  assert.match(hints(made, { SSH_CONNECTION: "1.2.3.4 5 6.7.8.9 22" }).join("\n"), /ssh -L 7433:127\.0\.0\.1:7433 /);
  assert.ok(!hints(made, { SSH_CONNECTION: "x" }).join().includes("abc"));
});
