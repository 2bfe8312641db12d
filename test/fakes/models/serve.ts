// The fakes as a process of its own, for tests that kill the gateway beside it.

import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Script } from "./plan.ts";
import { scenarios } from "./scenarios.ts";
import { fakeModels } from "./server.ts";

const [what = "echo", port = "0"] = process.argv.slice(2);

async function scriptOf(name: string): Promise<Script> {
  const known = scenarios[name];
  if (known !== undefined) return known;
  const found = (await import(pathToFileURL(resolve(name)).href)) as { readonly script?: Script };
  if (found.script === undefined) throw new Error(`${name} exports no script`);
  return found.script;
}

const { url } = await fakeModels(await scriptOf(what), { port: Number(port) });
process.stdout.write(`${JSON.stringify({ url })}\n`);
