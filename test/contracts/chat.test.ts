// The contract of platforms, kept by our own clients: the page and the terminal.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Instant, SessionId } from "../../src/core/ids.ts";
import { newSession } from "../../src/core/session.ts";
import { chat } from "../../src/platforms/chat/index.ts";
import { readEvents } from "../../src/platforms/chat/samples.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";
import { type OpenedPlatform, type Receipt, platformSuite } from "../../src/testing/index.ts";
import { aBoot, bootId } from "../../src/testing/samples.ts";

/** Our own clients, as a page uses them: requests in, the event stream out, a real store as the transcript. */
async function openChat(name: string): Promise<OpenedPlatform> {
  const folder = mkdtempSync(join(tmpdir(), "everturn-contract-"));
  const store = await openSqliteStore({ file: join(folder, "state.db"), writer: "inline" });
  await store.openBoot(aBoot("b1"));
  const { platform, routes } = chat(name, store, { boot: "b1", version: "0.0.0" });
  const home = { platform: name, account: platform.account, chat: "c1" };
  const session = newSession("s1" as SessionId, home, bootId("b1"), 1 as Instant);
  await store.commit([{ put: "session", session }], bootId("b1"));
  const call = (path: string, init?: RequestInit): Promise<Response> =>
    routes.handle(new Request(`http://127.0.0.1${routes.prefix}/c1/${path}`, init));

  let last = { id: "", text: "" };
  let count = 0;
  const post = async (): Promise<Receipt> => {
    const answer = await call("messages", { method: "POST", body: JSON.stringify(last) });
    await answer.body?.cancel();
    return answer.status === 200 ? "acknowledged" : "refused";
  };
  return {
    platform,
    home,
    say(text) {
      last = { id: `m${count++}`, text };
      return post();
    },
    redeliver: post,
    async stored({ id, turn, text, question, createdAt }) {
      const asking = question === undefined ? {} : { question };
      const message = {
        key: id,
        session: session.id,
        turn,
        role: "assistant",
        text,
        at: createdAt,
        ...asking,
      } as const;
      await store.commit([{ put: "message", message }], bootId("b1"));
    },
    async seen() {
      const events = readEvents(await call("events?after=0"));
      const texts: string[] = [];
      for (let event = await events.next(); event !== null && event.type !== "live"; event = await events.next()) {
        if (event.type === "message") texts.push((event.data as { text: string }).text);
      }
      await events.cancel();
      return texts;
    },
    async close() {
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

for (const name of ["web", "terminal"]) platformSuite(name, () => openChat(name));
