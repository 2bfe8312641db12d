// The contract of platforms, kept by the HTTP API: requests in, streams out, a real store as the transcript.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Instant, SessionId } from "../../src/core/ids.ts";
import { type Address, formatAddress } from "../../src/core/message.ts";
import { newSession } from "../../src/core/session.ts";
import type { Platform } from "../../src/ports/platform.ts";
import { api } from "../../src/platforms/api/index.ts";
import { blobsLater } from "../../src/stores/blobs/later.ts";
import { personBlobs } from "../../src/stores/blobs/person.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";
import { type OpenedPlatform, type Receipt, platformSuite } from "../../src/testing/index.ts";
import { aBoot, bootId } from "../../src/testing/samples.ts";
import { realWorld } from "../../src/world.ts";

const headers = { authorization: "Bearer a-key-of-some-length" };

async function openApi(): Promise<OpenedPlatform> {
  const folder = mkdtempSync(join(tmpdir(), "everturn-contract-"));
  const store = await openSqliteStore({ file: join(folder, "state.db"), writer: "inline" });
  await store.openBoot(aBoot("b1"));
  const world = realWorld(() => undefined);
  const blobs = blobsLater(join(folder, "files"));
  const around = { world, blobs, archive: store, store, troubleOf: () => null };
  const filesOf = (caller: string) => personBlobs(blobs, join(folder, caller));
  const settings = { keys: [{ name: "app", key: "a-key-of-some-length" }], filesOf, holdMs: 1 };
  let opened = api(settings, around);
  const home: Address = { platform: "api", account: "api", chat: "app", thread: "home" };
  const sessions = new Map<string, SessionId>();
  let last = { key: "", thread: "", text: "" };
  let count = 0;

  const call = (path: string, init: RequestInit = {}): Promise<Response> =>
    opened.routes.handle(
      new Request(`http://127.0.0.1/v1/${path}`, { ...init, headers: { ...headers, ...init.headers } }),
    );

  /** A stream begins when the message is stored. */
  async function post(): Promise<Receipt> {
    const response = await call("chat/completions", {
      method: "POST",
      headers: { "idempotency-key": last.key, "x-everturn-session": last.thread },
      body: JSON.stringify({ model: "everturn", stream: true, messages: [{ role: "user", content: last.text }] }),
    });
    await response.body?.cancel();
    return response.status === 200 ? "acknowledged" : "refused";
  }

  const say = (thread: string, text: string) => {
    last = { key: `k${count++}`, thread, text };
    return post();
  };

  async function sessionAt(address: Address): Promise<SessionId> {
    const key = formatAddress(address);
    const known = sessions.get(key);
    if (known !== undefined) return known;
    const session = newSession(`s${sessions.size}` as SessionId, address, bootId("b1"), 1 as Instant);
    await store.commit([{ put: "session", session }], bootId("b1"));
    sessions.set(key, session.id);
    return session.id;
  }

  async function seenIn(thread: string): Promise<readonly string[]> {
    const response = await call(`sessions/${thread}/messages`);
    const { data } = (await response.json()) as { data: readonly { content: string }[] };
    return data.map((one) => one.content);
  }

  return {
    platform: opened.platform,
    home,
    say: (text) => say("home", text),
    sayIn: say,
    seenIn,
    redeliver: post,
    async stored({ id, to, turn, text, question, createdAt }) {
      const session = await sessionAt(to);
      const asking = question === undefined ? {} : { question };
      const message = { key: id, session, turn, role: "assistant", text, at: createdAt, ...asking } as const;
      await store.commit([{ put: "message", message }], bootId("b1"));
    },
    seen: () => seenIn("home"),
    async reopen(): Promise<Platform> {
      opened = api(settings, around);
      return opened.platform;
    },
    async close() {
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

platformSuite("api", openApi);
