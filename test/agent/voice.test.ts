// A voice message in a whole gateway that is killed with -9 between its transcription and the answer: it is transcribed
// once, answered once, and later turns know what was said.

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { patienceMs, until } from "../process/stage.ts";
import { openStage } from "./stage.ts";

const secret = "planted-hook-secret-4711";

/** Files come in through a hook; the answer is said in a chat of the web page. */
async function speak(url: string, id: string, text: string, words?: string): Promise<void> {
  const files =
    words === undefined ? [] : [{ name: "v.oga", mime: "audio/ogg", data: Buffer.from(words).toString("base64") }];
  const body = JSON.stringify({ id, text, files });
  const seconds = Math.floor(Date.now() / 1000);
  const hash = createHmac("sha256", secret).update(`${seconds}.${body}`).digest("hex");
  const headers = { "x-everturn-signature": `t=${seconds},v1=${hash}` };
  const { status } = await fetch(`${url}/hooks/phone`, { method: "POST", headers, body });
  assert.equal(status, 202);
}

test("killed between the transcription and the answer, it is not transcribed twice", {
  timeout: 3 * patienceMs,
}, async (t) => {
  const wait = Promise.withResolvers<void>();
  let answers = 0;
  const stage = await openStage(
    t,
    async ({ seen }) => {
      if (++answers === 1) await wait.promise;
      return { text: `the model read: ${seen.messages.map(({ text }) => text).join("\n")}` };
    },
    {
      agent: "  speech: { model: openai/whisper-1 }",
      more: `platforms: { hooks: { phone: { secret: ${secret}, to: web/local/phone } } }`,
      fake: { ears: ({ content }) => content.toUpperCase() },
    },
  );
  const first = await stage.start();
  await speak(first.url, "m1", "", "buy some bread");
  await until(
    () => answers,
    (count) => count > 0,
    "the model is asked",
  );
  await first.end("SIGKILL");
  wait.resolve();
  const second = await stage.start({ port: first.port });
  const said = async (count: number): Promise<string> => {
    const all = await until(
      async () => (await second.client.transcript("phone")).filter(({ role }) => role === "assistant"),
      (found) => found.length >= count,
      () => `answer ${count}`,
    );
    assert.equal(all.length, count);
    return all[count - 1]?.text ?? "";
  };
  assert.match(await said(1), /\[voice message, transcribed: BUY SOME BREAD\]/);
  assert.deepEqual(
    stage.fake.recordings.map(({ model, content }) => [model, content]),
    [["whisper-1", "buy some bread"]],
  );
  await speak(second.url, "m2", "What did I want?");
  assert.match(await said(2), /\[voice message, transcribed: BUY SOME BREAD\][\s\S]*What did I want\?/);
  assert.equal(stage.fake.recordings.length, 1);
});
