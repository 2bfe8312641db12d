// A gateway with a model: a message goes to the model, tools do what it says, the answer comes back.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { scenarios } from "../fakes/models/index.ts";
import { doing, openStage, terminal } from "./stage.ts";

const follow = scenarios["follow"] as NonNullable<(typeof scenarios)[string]>;

test("a message is answered by the model", async (t) => {
  const stage = await openStage(t, follow);
  const life = await stage.start();
  assert.match(await life.ask("one", "m1", "good morning"), /^You said: .*good morning$/);
  assert.equal(stage.fake.requests.length, 1);
});

test("tools work where they should: files, the terminal, several at once", async (t) => {
  const stage = await openStage(t, follow);
  const life = await stage.start();
  const answer = await life.ask(
    "one",
    "m1",
    doing(
      { tool: "write_file", input: { path: "a.txt", content: "alpha\n" } },
      terminal("cat a.txt; echo beta >> a.txt"),
      { tool: "read_file", input: { path: "a.txt" } },
    ),
  );
  assert.match(answer, /^done 3: [\s\S]*beta/);
  assert.equal(readFileSync(join(stage.workspace, "a.txt"), "utf8"), "alpha\nbeta\n");
});
