// The agents of an installed package: what is loaded only for a turn is in it and works there. Each provider's own code, a
// server of tools, a terminal command under its holder, and an agent behind ACP, against peers that are played here.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type Script, fakeModels, scenarios } from "../fakes/models/index.ts";
import { type Running, runGateway } from "./gateway.ts";
import type { Installed } from "./install.ts";

export type Check = (name: string, work: (installed: Installed, t: TestContext) => Promise<void>) => void;

const fakes = join(import.meta.dirname, "..", "fakes");
const follow = scenarios["follow"] as Script;

const models = [
  ["openai/x", "openai"],
  ["openrouter/some/x", "openai"],
  ["anthropic/x", "anthropic"],
  ["google/x", "google"],
] as const;

export function checkAgents(check: Check): void {
  for (const [model, protocol] of models)
    check(`a turn with ${model}: the terminal, a file, a server of tools`, async (at, t) => {
      const fake = await fakeModels(follow);
      t.after(() => fake.close());
      const home = newHome(at, model.replaceAll("/", "-"));
      configure(home, {
        agent: {
          model,
          baseUrl: fake.baseUrl(protocol),
          apiKey: "no-key-at-all",
          mcp: { own: { command: [process.execPath, join(fakes, "mcp", "server.ts"), "plain", "."], trusted: true } },
        },
      });
      const gateway = await runGateway(t, at.command, home);
      const calls = [
        { tool: "terminal", input: { command: "echo alpha > a.txt; echo $((6 * 7)) >> a.txt" } },
        { tool: "own__echo", input: { text: "over there" } },
        { tool: "read_file", input: { path: "a.txt" } },
      ];
      const answer = await answerOf(gateway, `Please work.\ndo: ${JSON.stringify(calls)}`);
      assert.match(answer, /^done 3: [\s\S]*alpha[\s\S]*42/);
      assert.equal(readFileSync(join(home, "workspace", "a.txt"), "utf8"), "alpha\n42\n");
      assert.match(readFileSync(join(home, "workspace", "calls"), "utf8"), /echo/);
      await gateway.stop("SIGINT");
    });

  check("a turn with an agent behind ACP", async (at, t) => {
    const home = newHome(at, "acp");
    // The gateway's home does not exist in the sandbox of an agent.
    const record = join(home, "..", "record");
    mkdirSync(record);
    const command = [process.execPath, join(fakes, "acp", "agent.ts"), record, "load"];
    const paths = [`${record}:rw`, join(fakes, "..", "..")];
    configure(home, { agent: { backend: "acp", acp: { command, paths } } });
    const gateway = await runGateway(t, at.command, home);
    assert.notEqual(await answerOf(gateway, "hello there"), "");
    assert.match(readFileSync(join(record, "prompts"), "utf8"), /hello there/);
    await gateway.stop("SIGINT");
  });
}

function newHome({ folder }: Installed, name: string): string {
  const home = join(folder, "agents", name, "home");
  mkdirSync(home, { recursive: true, mode: 0o700 });
  return home;
}

/** JSON is YAML as well. */
function configure(home: string, config: object): void {
  writeFileSync(join(home, "config.yaml"), JSON.stringify(config));
}

async function answerOf(gateway: Running, text: string): Promise<string> {
  assert.deepEqual(await gateway.post("c", { id: crypto.randomUUID(), text }), { status: "accepted" });
  const said = await gateway.messages("c", (all) => all.some(({ role }) => role === "assistant"));
  return said.find(({ role }) => role === "assistant")?.text ?? "";
}
