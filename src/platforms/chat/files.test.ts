// Files over real HTTP and a real folder: what is taken, what is refused, and how they are given back.

import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { FileRef, Inbound } from "../../core/message.ts";
import { openBlobs } from "../../stores/blobs/index.ts";
import { inletOf } from "../../testing/platform/steps.ts";
import { type FileReply, chatLimits } from "./api.ts";
import { chat } from "./index.ts";
import { keptTranscript, serve } from "./samples.ts";

async function started(t: TestContext, withBlobs = true) {
  const folder = mkdtempSync(join(tmpdir(), "everturn-files-"));
  const taken: Inbound[] = [];
  const blobs = withBlobs ? openBlobs(folder) : undefined;
  const { platform, routes } = chat("web", keptTranscript("web"), { boot: "b", version: "1" }, blobs);
  const stop = new AbortController();
  const accept = async (message: Inbound) => {
    taken.push(message);
    return "accepted" as const;
  };
  const listening = platform.listen(inletOf(accept), null, stop.signal);
  const server = await serve((request) => routes.handle(request));
  t.after(async () => {
    stop.abort();
    await listening;
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const at = `${server.url}${routes.prefix}/c1`;
  const upload = (name: string, type: string, body: NonNullable<RequestInit["body"]>) =>
    fetch(`${at}/files?${new URLSearchParams({ name }).toString()}`, {
      method: "POST",
      headers: { "content-type": type },
      body,
      ...(body instanceof ReadableStream ? { duplex: "half" } : {}),
    } as RequestInit);
  const post = (body: unknown) => fetch(`${at}/messages`, { method: "POST", body: JSON.stringify(body) });
  return { at, folder, port: server.port, taken, upload, post, stop, listening };
}

async function fileIn(response: Response): Promise<FileRef> {
  assert.equal(response.status, 200);
  return ((await response.json()) as FileReply).file;
}

async function whyOf(response: Response): Promise<string> {
  return ((await response.json()) as { error: { message: string } }).error.message;
}

const hello = "5d41402abc4b2a76b9719d911017c592";

test("a file goes in, travels with a message without words, and comes out as it was", async (t) => {
  const { at, upload, post, taken } = await started(t);
  const bytes = new Uint8Array(300_000).map((_, i) => i % 251);
  const file = await fileIn(await upload("Grüße & co.png", "image/png; x=1", bytes));
  assert.partialDeepStrictEqual(file, { name: "Grüße & co.png", mime: "image/png", bytes: 300_000 });
  assert.equal((await post({ id: "m1", text: "", files: [{ ...file, bytes: 1 }] })).status, 200);
  assert.deepEqual(taken[0]?.body, { kind: "text", text: "", files: [file] }, "the size is what it is");
  const query = new URLSearchParams({ name: file.name, type: file.mime }).toString();
  const got = await fetch(`${at}/files/${file.blob}?${query}`);
  assert.deepEqual(new Uint8Array(await got.arrayBuffer()), bytes);
  assert.equal(got.headers.get("content-type"), "application/octet-stream");
  assert.equal(got.headers.get("content-length"), "300000");
  assert.equal(got.headers.get("content-disposition"), "attachment; filename*=UTF-8''Gr%C3%BC%C3%9Fe%20%26%20co.png");
});

test("only harmless pictures are ever shown in their place", async (t) => {
  const { at, upload } = await started(t);
  const file = await fileIn(await upload("x", "text/html", "<script>alert(1)</script>"));
  const cases: readonly (readonly [type: string, show: string, kind: string])[] = [
    ["image/png", "1", "inline image/png"],
    ["image/webp", "1", "inline image/webp"],
    ["image/png", "", "attachment application/octet-stream"],
    ["image/svg+xml", "1", "attachment application/octet-stream"],
    ["text/html", "1", "attachment application/octet-stream"],
    ["application/pdf", "1", "attachment application/octet-stream"],
    ["image/png\r\nx: y", "1", "attachment application/octet-stream"],
  ];
  for (const [type, show, kind] of cases) {
    const name = `a"\r\nset-cookie: x=1;'*.html`;
    const query = new URLSearchParams({ name, type, show }).toString();
    const { headers } = await fetch(`${at}/files/${file.blob}?${query}`);
    const [way = ""] = (headers.get("content-disposition") ?? "").split(";");
    assert.equal(`${way} ${headers.get("content-type")}`, kind);
    assert.equal(headers.get("set-cookie"), null);
    assert.equal(headers.get("x-content-type-options"), "nosniff");
    assert.match(headers.get("content-security-policy") ?? "", /default-src 'none'; sandbox/);
  }
  const long = new URLSearchParams({ name: `a${"🙂".repeat(150)}` }).toString();
  assert.equal((await fetch(`${at}/files/${file.blob}?${long}`)).status, 200, "cut inside of a character");
});

test("what cannot be taken is refused with what is wrong, and nothing of it is kept", async (t) => {
  const { at, folder, upload, post, taken } = await started(t);
  const nameless = await fetch(`${at}/files`, { method: "POST", body: "x" });
  assert.match(await whyOf(nameless), /name of the file/);
  const large = await upload("large", "x/y", new Blob([new Uint8Array(chatLimits.fileMax + 1)]));
  assert.equal(large.status, 413);
  assert.match(await whyOf(large), /at most 50000000 bytes/);
  assert.deepEqual(readdirSync(folder), []);
  for (const name of [hello, `${hello}${hello}`, "..%2f..%2fetc%2fpasswd", "state.db"])
    assert.equal((await fetch(`${at}/files/${name}`)).status, 404, name);
  assert.equal((await fetch(`${at}/files/a/b`)).status, 404);
  assert.equal((await fetch(`${at}/files`)).status, 405);
  assert.equal((await fetch(`${at}/files/${hello}`, { method: "DELETE" })).status, 405);
  const ref = { name: "a", mime: "x/y", blob: `${hello}${hello}`, bytes: 1 };
  const wrong: readonly (readonly [unknown, RegExp])[] = [
    [[ref], /no file 5d41402abc4b2a76b9719d911017c5925d41.* Upload it first/],
    ["x", /must be a list/],
    [Array.from({ length: 11 }, () => ref), /At most 10 files/],
    [[{ ...ref, name: "" }], /files\[0\]/],
    [[{ ...ref, mime: "x" }], /files\[0\]/],
    [[ref, { ...ref, blob: "../x" }], /files\[1\]/],
    [[{ ...ref, bytes: -1 }], /files\[0\]/],
    [[null], /files\[0\]/],
  ];
  for (const [files, why] of wrong) {
    const refused = await post({ id: "m1", text: "look", files });
    assert.equal(refused.status, 400);
    assert.match(await whyOf(refused), why);
  }
  const answered = await post({ id: "m1", answer: { question: "q", choice: "a" }, files: [] });
  assert.match(await whyOf(answered), /carries no `files`/);
  assert.deepEqual(taken, []);
});

test("a file that breaks off leaves nothing behind", async (t) => {
  const { at, folder, port, upload } = await started(t);
  const path = new URL(`${at}/files?name=x`);
  const socket = connect(port, "127.0.0.1");
  await new Promise((resolve) => socket.once("connect", resolve));
  socket.write(`POST ${path.pathname}?name=x HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\nhalf`);
  const drafts = () => readdirSync(folder).filter((name) => name.endsWith(".tmp")).length;
  while (drafts() === 0) await new Promise((resolve) => setImmediate(resolve));
  socket.destroy();
  while (drafts() > 0) await new Promise((resolve) => setImmediate(resolve));
  assert.equal((await upload("next", "x/y", "whole")).status, 200);
});

test("only so many files are received at once; whoever ends makes room", async (t) => {
  const { upload } = await started(t);
  const ends: (() => void)[] = [];
  const slow = () =>
    new ReadableStream<Uint8Array>({
      start(to) {
        to.enqueue(new Uint8Array(1));
        ends.push(() => to.close());
      },
    });
  const under = Array.from({ length: chatLimits.uploadsMax }, (_, i) => upload(`${i}`, "x/y", slow()));
  const busy = async () => {
    // Until all the slow ones have arrived.
    for (let i = 0; i < 5_000; i++) {
      const answer = await upload("more", "x/y", "z");
      if (answer.status !== 200) return answer;
    }
    return assert.fail("all were taken");
  };
  const refused = await busy();
  assert.deepEqual([refused.status, refused.headers.get("retry-after")], [429, "1"]);
  for (const end of ends) end();
  for (const answer of await Promise.all(under)) assert.equal(answer.status, 200);
  assert.equal((await upload("more", "x/y", "z")).status, 200);
});

test("files wait until messages are taken, and are not taken where none are kept", async (t) => {
  const { upload, stop, listening } = await started(t);
  stop.abort();
  await listening;
  assert.equal((await upload("x", "x/y", "z")).status, 503);
  const without = await started(t, false);
  assert.equal((await without.upload("x", "x/y", "z")).status, 404);
});
