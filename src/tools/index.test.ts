import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, test } from "node:test";
import { type TestRoom, aRoom, aVet, makeRoom } from "../../test/fakes/room.ts";
import type { Tool } from "../ports/tool.ts";
import { openBlobs } from "../stores/blobs/index.ts";
import { aToolContext } from "../testing/samples.ts";
import { toolFaults, toolSuite } from "../testing/tool.ts";
import { builtinTools } from "./index.ts";

function toolsIn(room: TestRoom): readonly Tool[] {
  const blobs = openBlobs(join(room.home, "files"));
  return builtinTools({ ...room, web: { allowPrivate: true }, blobs, archive: { recall: async () => [] } });
}

/** All of them but ask, which has nothing to run; with an input that succeeds. */
const inputs: Readonly<Record<string, (site: string) => unknown>> = {
  read_file: () => ({ path: "f" }),
  write_file: () => ({ path: "f", content: "written" }),
  edit_file: () => ({ path: "f", oldText: "content", newText: "edited" }),
  search_files: () => ({ pattern: "content" }),
  fetch_url: (site) => ({ url: site }),
  remember: () => ({ text: "likes tea" }),
  recall: () => ({ query: "tea" }),
  remind: () => ({ text: "tea", inSeconds: 60 }),
  send_file: () => ({ path: "f" }),
};

const server = createServer((_, response) => response.end("page"));
server.listen(0, "127.0.0.1").unref();
await once(server, "listening");
const site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

for (const [name, input] of Object.entries(inputs)) {
  toolSuite(name, {
    input: input(site),
    async open() {
      const room = makeRoom();
      const file = room.put("f", "content");
      const tool = toolsIn(room).find((one) => one.name === name);
      if (tool === undefined) throw new Error(`no tool ${name}`);
      // The world outside of the store: the file.
      const effects = async (): Promise<number> => (readFileSync(file, "utf8") === "content" ? 0 : 1);
      return { tool, effects, close: async () => room.remove() };
    },
  });
}

describe("the built-in tools", () => {
  test("are these, and present themselves", (t) => {
    const tools = toolsIn(aRoom(t));
    assert.deepEqual(tools.map(({ name }) => name).toSorted(), [...Object.keys(inputs), "ask"].toSorted());
    assert.deepEqual(tools.flatMap(toolFaults), []);
  });

  test("take little room in every request", (t) => {
    const faces = toolsIn(aRoom(t)).map(({ name, description, input }) => ({ name, description, input }));
    const bytes = Buffer.byteLength(JSON.stringify(faces));
    assert.ok(bytes <= 5_000, `${bytes} bytes`);
  });

  const odd: readonly unknown[] = [
    undefined,
    null,
    0,
    "",
    "x",
    [],
    {},
    { path: {} },
    { __proto__: null },
    { path: "a", url: 1 },
    1n,
    () => 1,
  ];
  test("none of them is hurt by an odd input", async (t) => {
    for (const tool of toolsIn(aRoom(t))) {
      for (const [n, input] of odd.entries()) {
        const verdict = (await tool.vet?.(input, aVet())) ?? { type: "run" };
        const result = await tool.run(input, aToolContext());
        // A search for nothing in particular is one.
        if (tool.name === "search_files" && result.type === "ok") continue;
        assert.equal(result.type, "failed", `${tool.name}, odd input ${n}`);
        assert.ok(verdict.type === "refuse" || verdict.type === "run", tool.name);
        assert.ok(result.type === "failed" && result.why.length < 1_000);
      }
    }
  });

  test("what the schema asks for is what is checked", async (t) => {
    for (const { name, input, run } of toolsIn(aRoom(t))) {
      const { properties, required } = input as { properties: Record<string, unknown>; required: readonly string[] };
      for (const part of required) assert.ok(Object.hasOwn(properties, part), `${name}.${part}`);
      const result = await run(
        { ...Object.fromEntries(Object.keys(properties).map((part) => [part, {}])), zz: 1 },
        aToolContext(),
      );
      assert.ok(result.type === "failed");
      // Every part of the face is known to the check, and is checked; what is not, is not.
      for (const part of Object.keys(properties)) assert.match(result.why, new RegExp(`"${part}" must`), name);
      assert.match(result.why, /"zz" is not a part of it/);
    }
  });
});
