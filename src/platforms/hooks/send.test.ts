// Where an answer goes, against a real receiver: posted, passed on, kept, or given up.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { Fault } from "../../core/fault.ts";
import type { OutboxItem } from "../../core/outbox.ts";
import type { Blobs } from "../../ports/blobs.ts";
import { anItem, at, bootId } from "../../testing/samples.ts";
import type { Hook } from "./api.ts";
import { type Sending, send } from "./send.ts";

const signal = new AbortController().signal;
const none: Blobs = {
  put: () => Promise.reject(new Fault("store-full", "full")),
  read: () => Promise.reject(new Fault("not-found", "gone")),
  path: (blob) => blob,
};

async function answering(t: TestContext, status: number): Promise<{ readonly url: string; readonly bodies: string[] }> {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    request.on("end", () => {
      bodies.push(text);
      response.writeHead(status, { location: "/elsewhere" }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, bodies };
}

function itemOf(hook: string, more: Partial<OutboxItem> = {}): OutboxItem {
  const to = { platform: "hooks", account: "hooks", chat: hook };
  return anItem("i1", {
    to,
    text: "Yes.",
    createdAt: at(0),
    now: { state: "sending", boot: bootId("b1"), attempts: 1 },
    ...more,
  });
}

function sending(hook: Partial<Hook>, nowMs = 1_000, said: unknown[] = [], fault: Fault | null = null): Sending {
  const up = { platform: "web", account: "local" } as never;
  return {
    hooks: [{ name: "ci", secret: "s", style: "everturn", ...hook }],
    blobs: none,
    pages: new Map(),
    world: { now: () => at(nowMs) },
    gateway: () => ({
      status: () => ({ platforms: [up] }) as never,
      async post(...all) {
        if (fault !== null) throw fault;
        said.push(all);
        return "posted";
      },
    }),
  };
}

test("a post has the answer, its key and the files that can be had", async (t) => {
  const { url, bodies } = await answering(t, 204);
  const files = [{ name: "a.txt", mime: "text/plain", blob: "x", bytes: 3 }];
  const item = itemOf("ci", { files, hints: { request: "r1" } });
  assert.deepEqual(await send(sending({ reply: { url, secret: "s" } }), item, signal), {
    type: "accepted",
    remoteId: "i1",
  });
  assert.deepEqual(JSON.parse(bodies[0] ?? ""), {
    id: "i1",
    hook: "ci",
    chat: null,
    answers: "r1",
    text: "Yes.",
    files: [{ name: "a.txt", mime: "text/plain", bytes: 3 }],
  });
});

test("redirects are not followed, and an error tells nothing", async (t) => {
  const moved = await answering(t, 307);
  const to = (url: string) => ({ reply: { url, secret: "s" } });
  assert.equal((await send(sending(to(moved.url)), itemOf("ci"), signal)).type, "refused");
  assert.equal(moved.bodies.length, 1);
  const failing = await answering(t, 500);
  assert.equal((await send(sending(to(failing.url)), itemOf("ci"), signal)).type, "unknown");
});

test("an answer is said in another chat under its id, or stays here", async () => {
  const to = { platform: "web", account: "local", chat: "builds" };
  const said: unknown[] = [];
  const files = [{ name: "a.txt", mime: "text/plain", blob: "x", bytes: 3 }];
  const item = itemOf("ci", { question: { id: "q", choices: ["a", "b"] }, files });
  assert.equal((await send(sending({ to }, 1, said), item, signal)).type, "accepted");
  assert.deepEqual(said, [[to, "Yes.\n\n- a\n- b", "i1", files]]);
  const busy = new Fault("busy", "Too many.");
  assert.equal((await send(sending({ to }, 1, [], busy), item, signal)).type, "retry");
  const nowhere = { ...to, account: "other" };
  assert.equal((await send(sending({ to: nowhere }), item, signal)).type, "refused");
  assert.equal((await send(sending({}), item, signal)).type, "accepted");
  assert.equal((await send(sending({}), itemOf("gone"), signal)).type, "refused");
});

/** Answers 200 with this body; null never ends it. */
async function paged(t: TestContext, bodies: readonly (string | null)[]): Promise<string> {
  let count = 0;
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      const body = bodies[Math.min(count++, bodies.length - 1)];
      response.writeHead(200, { "content-type": "text/html" });
      if (body === null) response.flushHeaders();
      else response.end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

test("a receiver that answers with nothing but pages is believed after two minutes, until it answers otherwise", async (t) => {
  const page = "<html>ok</html>";
  const url = await paged(t, [page, page, page, page, "ok", page]);
  const { pages, ...rest } = sending({ reply: { url, secret: "s" } });
  const typeAt = async (ms: number) =>
    (await send({ ...rest, pages, world: { now: () => at(ms) } }, itemOf("ci"), signal)).type;
  assert.equal(await typeAt(1_000), "unknown");
  assert.equal(await typeAt(100_000), "unknown");
  assert.equal(await typeAt(121_000), "accepted");
  assert.equal(await typeAt(122_000), "accepted", "the next answer waits for nothing");
  assert.equal(await typeAt(123_000), "accepted", "no page");
  assert.equal(await typeAt(300_000), "unknown", "now a page is unusual");
});

test("a clock that is set back makes no page wait for longer", async (t) => {
  const url = await paged(t, ["<html>ok</html>"]);
  const { pages, ...rest } = sending({ reply: { url, secret: "s" } });
  const typeAt = async (ms: number) =>
    (await send({ ...rest, pages, world: { now: () => at(ms) } }, itemOf("ci"), signal)).type;
  assert.deepEqual(
    [await typeAt(9_000_000), await typeAt(1_000), await typeAt(121_000)],
    ["unknown", "unknown", "accepted"],
  );
});

test("a page whose body never comes counts as a page", async (t) => {
  const url = await paged(t, [null]);
  const { pages, ...rest } = sending({ reply: { url, secret: "s" } });
  pages.set(url, at(1_000));
  const result = send({ ...rest, pages, world: { now: () => at(200_000) } }, itemOf("ci"), AbortSignal.timeout(2_000));
  assert.equal((await result).type, "accepted");
});
