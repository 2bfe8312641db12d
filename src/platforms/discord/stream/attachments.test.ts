// Attachments over a line that breaks, and onto a disk that is full.

import assert from "node:assert/strict";
import { type RequestListener, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import type { APIAttachment } from "discord-api-types/v10";
import { Fault } from "../../../core/fault.ts";
import type { Blobs } from "../../../ports/blobs.ts";
import { realWorld } from "../../../world.ts";
import { fetchAttached } from "./attachments.ts";

const world = { ...realWorld(() => undefined), sleep: async () => undefined };
const blobs: Blobs = {
  async put(content, { name, mime }) {
    const bytes = Buffer.concat(content instanceof Uint8Array ? [content] : await Array.fromAsync(content));
    return { name, mime, blob: bytes.toString(), bytes: bytes.length };
  },
  read: () => assert.fail("nothing is read"),
  path: (blob) => blob,
};

async function attachment(t: TestContext, answer: RequestListener): Promise<APIAttachment> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a.txt`;
  return { id: "1", filename: "a.txt", size: 1, url, proxy_url: url };
}

const never = new AbortController().signal;

test("one whose line breaks is fetched again", async (t) => {
  let asked = 0;
  const one = await attachment(t, (_, response) => {
    asked += 1;
    if (asked === 1) response.destroy();
    else if (asked === 2) response.writeHead(503).end();
    else response.end("x");
  });
  const { files, missing } = await fetchAttached([one], { blobs, world }, never);
  assert.deepEqual([files.map(({ blob }) => blob), missing, asked], [["x"], [], 3]);
});

test("not for ever, and not where Discord says no", async (t) => {
  for (const [status, times] of [
    [503, 3],
    [404, 1],
  ] as const) {
    let asked = 0;
    const one = await attachment(t, (_, response) => {
      asked += 1;
      response.writeHead(status).end();
    });
    const { missing } = await fetchAttached([one], { blobs, world }, never);
    assert.deepEqual(
      [missing, asked],
      [[`[The file a.txt could not be had: Discord answered with ${status}.]`], times],
    );
  }
});

test("what our own disk refuses is not the file's fault: the message comes again", async (t) => {
  const one = await attachment(t, (_, response) => void response.end("x"));
  const full: Blobs = {
    ...blobs,
    put: () => Promise.reject(new Fault("store-full", "There is no room left on the disk.")),
  };
  await assert.rejects(fetchAttached([one], { blobs: full, world }, never), { code: "store-full" });
});
