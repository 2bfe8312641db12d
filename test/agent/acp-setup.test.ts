// What an ACP agent gets before it works and what it reports afterwards: a login, MCP servers, and its usage.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { AcpOptions } from "../../src/agents/acp/options.ts";
import type { Entry } from "../../src/core/journal.ts";
import { spentIn } from "../../src/core/usage.ts";
import { client } from "../process/client.ts";
import { newHome, root, runGateway, until } from "../process/stage.ts";
import { linesIn } from "../lines.ts";
import { type AcpStage, aLine, acpStage, jobOf, never, playTurn } from "./acp-stage.ts";
import { answerTo } from "./stage.ts";

const limit = { timeout: 120_000 };
const program = join(root, "test", "fakes", "acp", "agent.ts");

function withKey(stage: AcpStage, key: string, flags: readonly string[] = ["load", "auth"]): Partial<AcpOptions> {
  const command = [process.execPath, program, stage.folder, ...flags];
  return { program: { command, env: { FAKE_API_KEY: key }, unsafe: true } };
}

test("an agent that needs a login gets it once, with the key that is in its environment", limit, async (t) => {
  const stage = acpStage(t);
  const { agent } = stage.open(withKey(stage, "right"));
  assert.equal((await playTurn(agent, { text: "hello" })).text, "You said: hello");
  assert.equal((await playTurn(agent, { text: "again", turn: "t2" })).text, "You said: again");
  assert.deepEqual(stage.left("logins"), ["fake-api-key"]);
  assert.ok(stage.log.some((line) => /logged in.*fake-api-key.*FAKE_API_KEY/.test(line)));
  assert.ok(!stage.log.some((line) => line.includes("right")), "the key is not in the log");
});

test("a session is loaded after a login as well", limit, async (t) => {
  const stage = acpStage(t);
  const before = stage.open(withKey(stage, "right"));
  const { journal } = await playTurn(before.agent, { text: "hello" });
  await before.kill();
  const history = [aLine(1, "t1", "user", "hello"), aLine(2, "t2", "user", "again")];
  const after = stage.open(withKey(stage, "right"));
  await playTurn(after.agent, { text: "again", turn: "t2", history, journals: { t1: journal } });
  assert.equal(stage.left("loads").length, 1);
  assert.equal(stage.left("logins").length, 2);
});

test("a key that is refused, at once or later, is reported and not tried again", limit, async (t) => {
  for (const [key, why] of [
    ["wrong", /did not accept FAKE_API_KEY: .*Incorrect API key\. Check the value in agent\.acp\.env/],
    ["stale", /did not accept FAKE_API_KEY\. Check the value in agent\.acp\.env/],
  ] as const) {
    const stage = acpStage(t);
    const { agent } = stage.open(withKey(stage, key));
    for (let i = 0; i < 3; i++) {
      const step = await agent.step(jobOf({ text: "hello" }, []), never);
      assert.ok(step.type === "failed" && step.retry === "never", JSON.stringify(step));
      assert.match(step.why, why);
    }
    assert.equal(stage.left("logins").length, 1, key);
  }
});

test(
  "a login that ends in the middle of a turn is made again, and the message is not given twice",
  limit,
  async (t) => {
    const stage = acpStage(t);
    const { agent } = stage.open(withKey(stage, "right"));
    await playTurn(agent, { text: "hello" });
    const { text } = await playTurn(agent, { text: "expire once", turn: "t2" });
    assert.equal(text, "I am logged in again.");
    assert.equal(stage.prompts().filter((one) => one.text === "expire once").length, 1);
    const { failures } = await playTurn(agent, { text: "expire always", turn: "t3" });
    assert.deepEqual(
      failures.map((one) => one.type === "failed" && one.retry),
      ["later", "never"],
    );
  },
);

const servers = {
  files: { command: ["sh", "-c", "true"], env: { TOKEN: "planted" } },
  wiki: { url: "https://wiki.example/mcp", headers: { Authorization: "Bearer planted" } },
  odd: { command: ["odd"], cwd: "elsewhere" },
};

test("configured MCP servers go with every session; those that cannot are reported once", limit, async (t) => {
  for (const [flag, names] of [
    ["http", ["files", "wiki"]],
    ["load", ["files"]],
  ] as const) {
    const stage = acpStage(t, ["load", flag]);
    const first = stage.open({ servers });
    const { journal } = await playTurn(first.agent, { text: "hello" });
    await first.kill();
    const history = [aLine(1, "t1", "user", "hello")];
    await playTurn(first.agent, { text: "again", turn: "t2", history, journals: { t1: journal } });
    const [made, loaded] = stage
      .left("servers")
      .map((line) => JSON.parse(line) as { name: string; command?: string }[]);
    assert.deepEqual(
      made?.map(({ name }) => name),
      names,
    );
    assert.deepEqual(made, loaded);
    const files = { name: "files", command: "/usr/bin/sh", args: ["-c", "true"] };
    assert.deepEqual(made?.[0], { ...files, env: [{ name: "TOKEN", value: "planted" }] });
    const reports = stage.log.filter((line) => line.includes("not passed on"));
    assert.equal(reports.length, 3 - names.length, reports.join("\n"));
    assert.match(reports[0] ?? "", /"server":"(?:odd|wiki)"/);
  }
});

test("usage is that of each prompt, also when the agent counts its money from its own start", limit, async (t) => {
  const stage = acpStage(t);
  const program_ = withKey(stage, "", ["load", "usage"]);
  const before = stage.open(program_);
  const used = (journal: readonly Entry[]) => {
    const { steps, input, cached, output, cost } = spentIn(journal);
    return { steps, input, cached, output, cost };
  };
  const one = { steps: 1, input: 100, cached: 50, output: 10, cost: 100_000 };
  const first = await playTurn(before.agent, { text: "hello" });
  assert.deepEqual(used(first.journal), one);
  const second = await playTurn(before.agent, { text: "again", turn: "t2" });
  assert.deepEqual(used(second.journal), one);
  await before.kill();
  const history = [aLine(1, "t1", "user", "hello"), aLine(2, "t2", "user", "again")];
  const journals = { t1: first.journal, t2: second.journal };
  const third = await playTurn(stage.open(program_).agent, { text: "more", turn: "t3", history, journals });
  assert.deepEqual(used(third.journal), one);
  assert.equal(stage.left("loads").length, 1);
});

function gatewayHome(t: TestContext, more: string): { readonly home: string; readonly world: string } {
  const home = newHome(t);
  const world = join(home, "..", "world");
  mkdirSync(world, { recursive: true });
  mkdirSync(home, { recursive: true });
  const acp = { command: [process.execPath, program, world, "load", "usage", "http"], paths: [`${world}:rw`] };
  writeFileSync(join(home, "config.yaml"), `agent:\n  backend: acp\n  acp: ${JSON.stringify(acp)}\n${more}`);
  return { home, world };
}

test(
  "a whole gateway counts the agent's usage, holds it against the budget, and passes servers on",
  limit,
  async (t) => {
    const mcp = '  mcp: { files: { command: [sh], env: { TOKEN: "planted-mcp-token" } } }\n';
    const { home, world } = gatewayHome(t, `  budget: { dayTokens: 200 }\n${mcp}`);
    const gateway = await runGateway(t, home);
    const own = client(gateway);
    for (const id of ["m1", "m2"]) {
      await own.send("c", id, "hello");
      assert.equal(await answerTo(own, "c", id), "You said: hello");
    }
    await own.send("c", "m3", "hello");
    const all = await until(
      () => own.transcript("c"),
      (lines) => /dayTokens/.test(lines.at(-1)?.text ?? ""),
      "the budget is used up",
    );
    assert.match(all.at(-1)?.text ?? "", /used 220 tokens of at most 200/);
    const { lines } = await own.get<{ lines: readonly { model: string; input: number; cost: number }[] }>("/api/usage");
    assert.deepEqual(
      lines.map(({ model, input, cost }) => ({ model, input, cost })),
      [{ model: "acp/node", input: 200, cost: 200_000 }],
    );
    const passed = linesIn(join(world, "servers")).map((line) => JSON.parse(line) as { name: string; env: unknown }[]);
    assert.deepEqual(passed[0]?.[0]?.env, [{ name: "TOKEN", value: "planted-mcp-token" }]);
    assert.ok(!gateway.err().includes("planted-mcp-token"));
  },
);
