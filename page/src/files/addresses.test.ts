import assert from "node:assert/strict";
import { test } from "node:test";
import type { Fetched } from "../net/client.ts";
import { addresses, type Signed } from "./addresses.ts";

function signing(answer: (paths: readonly string[]) => Fetched<Signed>) {
  const asked: (readonly string[])[] = [];
  let denials = 0;
  let now = 0;
  const all = addresses(
    {
      async sign(paths) {
        asked.push(paths);
        return answer(paths);
      },
    },
    () => denials++,
    () => now,
  );
  return { all, asked, denials: () => denials, at: (moment: number) => (now = moment) };
}

const signed =
  (expiresAt: number) =>
  (paths: readonly string[]): Fetched<Signed> => ({
    type: "got",
    value: { paths: paths.map((path) => `${path}!`), expiresAt },
  });

test("what is wanted at the same time is asked for once, and kept until shortly before it expires", async () => {
  const { all, asked, at } = signing(signed(600_000));
  const found = await Promise.all([all.get("a"), all.get("b"), all.get("a")]);
  assert.deepEqual(
    found.map((one) => one?.url),
    ["a!", "b!", "a!"],
  );
  assert.deepEqual(asked, [["a", "b"]]);
  at(500_000);
  await all.get("a");
  assert.equal(asked.length, 1);
  at(550_000);
  await all.get("a");
  assert.deepEqual(asked.slice(1), [["a"]]);
});

test("many go in several requests", async () => {
  const { all, asked } = signing(signed(600_000));
  await Promise.all(Array.from({ length: 250 }, (_, n) => all.get(String(n))));
  assert.deepEqual(
    asked.map((paths) => paths.length),
    [100, 100, 50],
  );
});

test("a gateway that is away gives none, and is asked again; one that does not know us says so", async () => {
  const answers: Fetched<Signed>[] = [{ type: "later" }, { type: "denied" }];
  const { all, asked, denials } = signing(() => answers.shift() ?? { type: "later" });
  assert.equal(await all.get("a"), null);
  assert.equal(denials(), 0);
  assert.equal(await all.get("a"), null);
  assert.deepEqual([denials(), asked.length], [1, 2]);
});
