// A second opinion: what we send, looked at through an emulator of Slack's Web API that others have written. It has no Socket
// Mode, so only the way out is tried here.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, describe, test } from "node:test";
import { createEmulator } from "emulate";
import type { Address } from "../../src/core/message.ts";
import type { SendResult } from "../../src/core/outbox.ts";
import { slack } from "../../src/platforms/slack/index.ts";
import { openBlobs } from "../../src/stores/blobs/index.ts";
import { again, itemTo } from "../../src/testing/platform/steps.ts";
import { realWorld } from "../../src/world.ts";

const token = "xoxb-second-opinion";
const signal = new AbortController().signal;

type Shown = {
  readonly ts: string;
  readonly text: string;
  readonly thread_ts?: string;
  readonly blocks?: readonly { readonly type: string }[];
  readonly metadata?: unknown;
  readonly files?: readonly { readonly name: string }[];
};

async function opened(t: TestContext, scopes: readonly string[] = []) {
  const seed = {
    users: [{ name: "everturn" }],
    channels: [{ name: "room" }],
    tokens: [{ token, user: "everturn", scopes }],
    strict_scopes: scopes.length > 0,
  };
  const emulator = await createEmulator({ service: "slack", port: 0, seed: { slack: seed } });
  const folder = mkdtempSync(join(tmpdir(), "everturn-slack-"));
  t.after(async () => {
    await emulator.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const call = async <T>(method: string, args: Record<string, string>): Promise<T> => {
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(`${emulator.url}/api/${method}`, {
      method: "POST",
      headers,
      body: new URLSearchParams(args),
    });
    return (await response.json()) as T;
  };
  const { channels } = await call<{ channels: readonly { id: string; name: string }[] }>("conversations.list", {});
  const channel = channels.find(({ name }) => name === "room")?.id ?? assert.fail("there is no such channel");
  const settings = { botToken: token, appToken: "xapp-1-A1-1-x", apiRoot: `${emulator.url}/api`, streaming: true };
  const blobs = openBlobs(folder);
  const platform = slack(settings, { world: realWorld(() => undefined), blobs });
  const home: Address = { platform: "slack", account: "A1", chat: channel };
  const messages = async (): Promise<readonly Shown[]> => {
    const args = { channel, include_all_metadata: "true" };
    return (await call<{ messages: readonly Shown[] }>("conversations.history", args)).messages.toReversed();
  };
  return { platform, home, channel, call, messages, blobs };
}

function acceptedAs(result: SendResult): string {
  return result.type === "accepted" ? result.remoteId : assert.fail(`${result.type}: ${result.why}`);
}

describe("the emulator agrees", () => {
  test("a message is there once, whatever is repeated", async (t) => {
    const { platform, home, messages } = await opened(t);
    const item = itemTo(home, "i1", "**hello** & <you>");
    const first = acceptedAs(await platform.send(item, signal));
    assert.equal(acceptedAs(await platform.send(again(item), signal)), first);
    assert.deepEqual(
      (await messages()).map(({ text }) => text),
      ["*hello* &amp; &lt;you&gt;"],
    );
    assert.deepEqual((await messages())[0]?.metadata, { event_type: "everturn_item", event_payload: { item: "i1" } });
  });

  test("a thread is answered in the thread, also when it is searched for", async (t) => {
    const { platform, home, channel, call, messages } = await opened(t);
    const thread = acceptedAs(await platform.send(itemTo(home, "i1", "root"), signal));
    const reply = itemTo({ ...home, thread }, "i2", "below");
    const sent = acceptedAs(await platform.send(reply, signal));
    assert.equal(acceptedAs(await platform.send(again(reply), signal)), sent);
    const { messages: all } = await call<{ messages: readonly Shown[] }>("conversations.replies", {
      channel,
      ts: thread,
    });
    assert.deepEqual(
      all.map(({ text }) => text),
      ["root", "below"],
    );
    assert.equal((await messages()).length, 1);
  });

  test("a draft is placed, filled, finished and, another one, removed", async (t) => {
    const { platform, home, messages } = await opened(t);
    const { drafts } = platform;
    if (drafts === undefined) return assert.fail("there are drafts");
    const key = (id: string) => ({ id, placedSince: null });
    const id = acceptedAs(await drafts.place(home, {}, signal, key("one")));
    acceptedAs(await drafts.fill(home, id, "half", signal));
    for (const item of [itemTo(home, "i1", "half of it"), again(itemTo(home, "i1", "half of it"))])
      assert.equal(acceptedAs(await platform.send({ ...item, edits: id }, signal)), id);
    const other = acceptedAs(await drafts.place(home, {}, signal, key("two")));
    acceptedAs(await drafts.remove(home, other, signal));
    acceptedAs(await drafts.remove(home, other, signal));
    assert.deepEqual(
      (await messages()).map(({ text }) => text),
      ["half of it"],
    );
    const anew = acceptedAs(await platform.send({ ...itemTo(home, "i2", "anew"), edits: other }, signal));
    assert.notEqual(anew, other);
  });

  test("questions have buttons, long answers and files are files, once", async (t) => {
    const { platform, home, messages, blobs } = await opened(t);
    const question = { id: "q1", choices: ["Tea", "Coffee"] };
    acceptedAs(await platform.send({ ...itemTo(home, "i1", "What?"), question }, signal));
    const file = await blobs.put(Buffer.from("notes"), { name: "notes.txt", mime: "text/plain" });
    const long = { ...itemTo(home, "i2", "word ".repeat(20_000)), files: [file] };
    for (const item of [long, again(long)]) acceptedAs(await platform.send(item, signal));
    const [asked, beginning, files, ...more] = await messages();
    assert.deepEqual(
      asked?.blocks?.map(({ type }) => type),
      ["section", "actions"],
    );
    assert.match(beginning?.text ?? "", /^word word[\s\S]*file below/);
    assert.deepEqual(
      files?.files?.map(({ name }) => name),
      ["answer.md", "notes.txt"],
    );
    assert.deepEqual(more, []);
  });

  test("a permission that is missing is named; without the one for files the words still arrive", async (t) => {
    const { platform, home, messages, blobs } = await opened(t, ["chat:write", "channels:history", "channels:read"]);
    const file = await blobs.put(Buffer.from("notes"), { name: "notes.txt", mime: "text/plain" });
    acceptedAs(await platform.send({ ...itemTo(home, "i1", "here it is"), files: [file] }, signal));
    const [only] = await messages();
    assert.match(only?.text ?? "", /^here it is[\s\S]*notes\.txt could not be sent[\s\S]*files:write/);
    const { platform: mute, home: there } = await opened(t, ["channels:read"]);
    const result = await mute.send(itemTo(there, "i1", "hello"), signal);
    assert.equal(result.type, "retry");
    if (result.type === "retry") assert.match(result.why, /chat:write/);
  });

  test("a place that is not there, and a socket that cannot be opened", async (t) => {
    const { platform, home } = await opened(t);
    const result = await platform.send({ ...itemTo(home, "i1", "hello"), to: { ...home, chat: "C404" } }, signal);
    assert.equal(result.type, "refused");
    assert.match(
      (await platform.probe?.(signal).catch((error: unknown) => String(error))) ?? "",
      /Socket Mode|apps\.connections|404/,
    );
  });
});
