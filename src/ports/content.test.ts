import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { contentOf } from "./content.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Everything that nobody holds is gone, and whoever waits for that was told. */
async function forgetAll(): Promise<void> {
  for (let round = 0; round < 5; round++) {
    collect();
    await turnOfTheLoop();
  }
}

async function addressOf(t: TestContext, content: string): Promise<string> {
  const server = createServer((_request, response) => void response.writeHead(200).end(content));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

async function textIn(content: AsyncIterable<Uint8Array>): Promise<string> {
  await forgetAll();
  return Buffer.concat(await Array.fromAsync(content)).toString();
}

test("what is read long after its answer came is whole", async (t) => {
  const address = await addressOf(t, "la la la");
  assert.equal(await textIn(contentOf(await fetch(address))), "la la la");
});

test("the runtime empties what is held by its body alone, so this test would see it", async (t) => {
  const address = await addressOf(t, "la la la");
  const bodyOf = async (): Promise<AsyncIterable<Uint8Array>> => (await fetch(address)).body ?? assert.fail("no body");
  assert.equal(await textIn(await bodyOf()), "");
});

test("an answer without content is empty", async () => {
  assert.equal(await textIn(contentOf(new Response(null))), "");
});
