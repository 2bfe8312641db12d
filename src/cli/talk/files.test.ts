// What a line wants with a file, as a table; and files that go to a gateway and come back over real HTTP.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { test } from "node:test";
import { connectGateway } from "../../control/client.ts";
import { Fault } from "../../core/fault.ts";
import { fileDesk, readFileOrder } from "./files.ts";

const lines: readonly (readonly [string, string])[] = [
  ["hello", "null"],
  ["/files", "null"],
  ["/model x", "null"],
  ["/file a.txt", '{"type":"attach","path":"a.txt","words":""}'],
  ["  /file a.txt look at\nthis ", '{"type":"attach","path":"a.txt","words":"look at\\nthis"}'],
  ['/file "my notes.txt" look', '{"type":"attach","path":"my notes.txt","words":"look"}'],
  ["/save 2", '{"type":"save","number":2,"to":null}'],
  ["/save 2 my notes.txt", '{"type":"save","number":2,"to":"my notes.txt"}'],
  ['/save 2 "b c"', '{"type":"save","number":2,"to":"b c"}'],
];
for (const [line, order] of lines) test(line, () => assert.equal(JSON.stringify(readFileOrder(line)), order));
for (const line of ["/file", "/file  ", "/save", "/save x", "/save 0"])
  test(`${line} says how`, () => assert.equal(readFileOrder(line)?.type, "wrong"));

test("a file goes out with its name and kind, and is saved by its number, never over another", async (t) => {
  const got: { url: string; type: string; body: string }[] = [];
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      got.push({ url: request.url ?? "", type: request.headers["content-type"] ?? "", body: body.toString("utf8") });
      if (request.method === "GET") return response.end("the content");
      return response.end(JSON.stringify({ file: { name: "a b.png", mime: "image/png", blob: "b1", bytes: 3 } }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const home = mkdtempSync(join(tmpdir(), "everturn-talk-"));
  t.after(() => {
    server.close();
    server.closeAllConnections();
    rmSync(home, { recursive: true, force: true });
  });
  const stateFile = join(home, "gateway_state.json");
  const tokenFile = join(home, "control.token");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  writeFileSync(stateFile, JSON.stringify({ url, pid: process.pid }));
  writeFileSync(tokenFile, "t".repeat(43));
  const desk = fileDesk(() => connectGateway({ home, stateFile, tokenFile }), "/api/chat/terminal/main", home);

  writeFileSync(join(home, "a b.png"), "png");
  const file = await desk.attach("~/a b.png");
  assert.deepEqual(got, [{ url: "/api/chat/terminal/main/files?name=a+b.png", type: "image/png", body: "png" }]);
  assert.equal(desk.label(file), "[file] a b.png, 1 kB; /save 1 keeps it");
  assert.match(desk.label({ ...file, blob: "b2", name: "\u001B[31mx" }), /^\[file\] \[31mx, 1 kB; \/save 2/);
  assert.match(desk.label(file), /\/save 1/, "shown again, it is the same file");

  const place = join(home, "kept.png");
  assert.equal(await desk.save(1, place), place);
  assert.equal(readFileSync(place, "utf8"), "the content");
  const refusals: readonly (readonly [() => Promise<unknown>, RegExp])[] = [
    [() => desk.save(1, place), /already exists/],
    [() => desk.save(3, null), /number 3/],
    [() => desk.save(1, join(home, "none", "x")), /could not be written/],
    [() => desk.attach(join(home, "none")), /There is no file/],
    [() => desk.attach(home), /There is no file/],
  ];
  for (const [act, why] of refusals)
    await assert.rejects(act, (error) => error instanceof Fault && why.test(error.message));
});
