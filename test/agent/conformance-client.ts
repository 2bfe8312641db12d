// The client that the MCP conformance suite tests: the product's own MCP part, connected to the server of a scenario. It
// lists the tools and calls each one as an agent would, with the arguments that the scenario names or that the schema asks
// for. Usage: conformance-client.ts <url>; the scenario is in the environment.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openProcesses } from "../../src/host/processes.ts";
import { openMcp } from "../../src/tools/mcp/index.ts";
import { aContext } from "./mcp-stage.ts";
import { memoryFacts, peerHost } from "./peer-host.ts";

type Property = { readonly type?: unknown; readonly default?: unknown; readonly enum?: readonly unknown[] };
type NamedCall = { readonly name: string; readonly arguments?: unknown };

const samples: Readonly<Record<string, unknown>> = { string: "test", number: 2, integer: 2, boolean: true };

/** Something for each property that is required, or that has a type we know. */
function argumentsFor(schema: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const properties = (schema["properties"] ?? {}) as Readonly<Record<string, Property>>;
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, { type, default: given, enum: choices }]) => {
      const value = given ?? choices?.[0] ?? samples[String(type)];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** The calls that the scenario asks for, if it names any. */
function namedCalls(): readonly NamedCall[] {
  const { toolCalls = [] } = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}") as {
    readonly toolCalls?: readonly NamedCall[];
  };
  return toolCalls;
}

async function main(url: string): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "everturn-conformance-"));
  const processes = openProcesses();
  const mcp = openMcp({
    servers: { peer: { url, timeoutSeconds: 20, trusted: true } },
    host: peerHost(folder, (program, words, options) => processes.spawn({ program, words, options })),
    facts: memoryFacts(),
    policy: "dangerous",
    version: "0",
    log: (level, what, facts) => void process.stderr.write(`${level} ${what} ${JSON.stringify(facts ?? {})}\n`),
    pace: { readyMs: 20_000 },
  });
  try {
    await mcp.ready();
    const { state, why } = mcp.status()["peer"] ?? {};
    process.stderr.write(`${state}: ${why ?? "fine"}\n`);
    if (state !== "ready") return 1;
    const named = namedCalls();
    for (const tool of mcp.tools()) {
      const own = named.filter(({ name }) => tool.name === `peer__${name}`);
      const inputs = own.length > 0 ? own.map((one) => one.arguments ?? {}) : [argumentsFor(tool.input)];
      for (const [n, input] of inputs.entries()) {
        const result = await tool.run(input, aContext({ key: `${tool.name}:${n}` }));
        process.stdout.write(`${tool.name} ${JSON.stringify(input)}: ${JSON.stringify(result)}\n`);
      }
    }
    return 0;
  } finally {
    await mcp.close();
    await processes.killAll("all");
    rmSync(folder, { recursive: true, force: true });
  }
}

process.exitCode = await main(process.argv[2] ?? "");
