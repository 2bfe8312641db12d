// Voice messages before the model backend: each is transcribed in a step of its own, never twice, and whatever the speech
// model does, the turn goes on.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, describe, test } from "node:test";
import type { Entry } from "../src/core/journal.ts";
import type { FileRef, Inbound } from "../src/core/message.ts";
import { openBlobs } from "../src/stores/blobs/index.ts";
import { anInbound } from "../src/testing/samples.ts";
import { type Ears, openaiError } from "./fakes/models/index.ts";
import { stage } from "./fakes/models/stage.ts";

const spokenWith = (...files: readonly FileRef[]): Inbound =>
  anInbound("", { body: { kind: "text", text: "", files }, key: "spoken" });

/** A backend with ears, and a recording of these words. */
async function listening(
  t: TestContext,
  ears: Ears,
  more: { readonly silenceMs?: number } = {},
  keys = ["speech-key-1"],
) {
  const folder = mkdtempSync(join(tmpdir(), "everturn-voice-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const blobs = openBlobs(folder);
  const pauses: number[] = [];
  const set = { baseUrl: "" };
  const speech = {
    model: "openai-compatible/large-v3",
    keys,
    headers: { "x-team": "blue" },
    get baseUrl() {
      return set.baseUrl;
    },
  };
  const on = await stage(
    t,
    ({ seen }) => ({ text: `heard: ${seen.messages.at(-1)?.text}` }),
    { blobs, speech, ...more },
    "openai",
    { ears },
  );
  set.baseUrl = `${on.fake.baseUrl("openai")}/`;
  const record = (words: string, as: Partial<FileRef> = {}): Promise<FileRef> =>
    blobs.put(Buffer.from(words), { name: "v.oga", mime: "audio/ogg", ...as });
  const pause = async (ms: number): Promise<void> => void pauses.push(ms);
  return { ...on, record, pauses, pause };
}

describe("a voice message", () => {
  test("becomes words in a step of its own, and then it is answered", async (t) => {
    const { record, step, fake } = await listening(t, ({ content }) => ` ${content.toUpperCase()}\n`);
    const file = await record("buy bread");
    const input = spokenWith(file);
    const heard = await step([], { input });
    assert.deepEqual(heard, {
      type: "heard",
      blob: file.blob,
      text: "BUY BREAD",
    });
    assert.equal(fake.requests.length, 0, "one call a step");
    const { nth: _, ...recording } = fake.recordings[0] ?? assert.fail("nothing came");
    assert.deepEqual(recording, {
      key: "speech-key-1",
      model: "large-v3",
      name: "voice.oga",
      mime: "audio/ogg",
      content: "buy bread",
    });
    const said = await step([heard as Entry], { input });
    assert.match(said.type === "said" ? said.text : "", /heard: .*\[voice message, transcribed: BUY BREAD\]/);
    assert.equal(fake.recordings.length, 1, "it was not transcribed again");
  });

  test("one that joins is heard before the model is asked again", async (t) => {
    const { record, step, fake } = await listening(t, ({ content }) => content);
    const journal: Entry[] = [
      { type: "said", text: "", calls: [{ call: "c", tool: "look", input: {} }], final: false },
      { type: "tool-ended", call: "c", result: { type: "ok", output: "seen" } },
      { type: "joined", message: spokenWith(await record("and hurry")) },
    ];
    const heard = await step(journal);
    assert.equal(heard.type === "heard" ? heard.text : heard.type, "and hurry");
    const said = await step([...journal, heard as Entry]);
    assert.match(said.type === "said" ? said.text : "", /\[voice message, transcribed: and hurry\]/);
    assert.equal(fake.recordings.length, 1);
  });

  test("without a speech model it is not hidden from the model that it cannot hear", async (t) => {
    const { step, fake } = await stage(t, ({ seen }) => ({ text: seen.messages.at(-1)?.text ?? "" }));
    const file = { name: "v.oga", mime: "audio/ogg", blob: "b", bytes: 3 };
    const said = await step([], { input: spokenWith(file) });
    assert.match(said.type === "said" ? said.text : "", /you cannot hear.*agent\.speech/);
    assert.equal(fake.recordings.length, 0);
  });
});

describe("a speech model that gives nothing", () => {
  const overloaded = { status: 503, body: openaiError("Overloaded.", "server_error"), headers: { "retry-after": "7" } };
  const cases: readonly (readonly [name: string, ears: Ears, tries: number, pauses: readonly number[], why: RegExp])[] =
    [
      [
        "is overloaded for long",
        () => overloaded,
        3,
        [7_000, 7_000],
        /large-v3 gave no transcript \(status 503\): Overloaded/,
      ],
      ["drops the line", () => ({ dead: "reset" }), 3, [1_000, 4_000], /gave no transcript: /],
      [
        "does not know the format",
        () => ({ status: 400, body: openaiError("Unrecognized file format.", "x") }),
        1,
        [],
        /Unrecognized file format$/,
      ],
      [
        "refuses the key",
        () => ({ status: 401, body: openaiError("No.", "x", "invalid_api_key") }),
        1,
        [],
        /agent\.speech\.apiKey must be a valid key/,
      ],
      [
        "has no such address",
        () => ({ status: 404, body: "<html><title>nginx</title></html>" }),
        1,
        [],
        /agent\.speech\.baseUrl/,
      ],
      [
        "answers with a page",
        () => ({ status: 200, body: "<html>welcome</html>" }),
        3,
        [1_000, 4_000],
        /gave no transcript/,
      ],
      [
        "answers with something else",
        () => ({ status: 200, body: { words: 3 } }),
        3,
        [1_000, 4_000],
        /its answer has no text/,
      ],
      ["hears silence", () => "  \n", 1, [], /no words were understood/],
    ];
  for (const [name, ears, tries, waited, why] of cases) {
    test(`${name}: told why, and the turn goes on`, async (t) => {
      const { record, step, fake, pauses, pause } = await listening(t, ears);
      const input = spokenWith(await record("x"));
      const heard = await step([], { input, pause });
      assert.ok(heard.type === "heard" && heard.text === "", JSON.stringify(heard));
      assert.match(heard.why ?? "", why);
      assert.deepEqual([fake.recordings.length, pauses], [tries, waited]);
      const said = await step([heard], { input });
      assert.match(said.type === "said" ? said.text : "", /could not be transcribed \(/);
      assert.equal(fake.recordings.length, tries, "nobody asks again");
    });
  }

  test("hangs: it is not waited for without end", async (t) => {
    const { record, step, pause } = await listening(t, () => ({ dead: "hang" }), { silenceMs: 50 });
    const heard = await step([], { input: spokenWith(await record("x")), pause });
    assert.match(heard.type === "heard" ? (heard.why ?? "") : "", /gave no transcript/);
  });

  test("recovers: it was tried again", async (t) => {
    const { record, step, pause } = await listening(t, ({ nth }) => (nth < 3 ? overloaded : "at last"));
    const heard = await step([], { input: spokenWith(await record("x")), pause });
    assert.equal(heard.type === "heard" ? heard.text : "", "at last");
  });

  test("one key is refused: the next is tried", async (t) => {
    const ears: Ears = ({ key }) => (key === "good" ? "fine" : { status: 401, body: openaiError("No.", "x") });
    const { record, step, pauses, pause } = await listening(t, ears, {}, ["bad", "good"]);
    const heard = await step([], { input: spokenWith(await record("x")), pause });
    assert.equal(heard.type === "heard" ? heard.text : "", "fine");
    assert.deepEqual(pauses, []);
  });

  test("what is too large, or is not there, is not sent at all", async (t) => {
    const { record, step, fake } = await listening(t, () => "never");
    const file = await record("x");
    const large = await step([], { input: spokenWith({ ...file, bytes: 26 * 1024 * 1024 + 1 }) });
    assert.match(large.type === "heard" ? (large.why ?? "") : "", /at most 25 MB/);
    const gone = await step([], { input: spokenWith({ ...file, blob: "0".repeat(64) }) });
    assert.match(gone.type === "heard" ? (gone.why ?? "") : "", /it cannot be read/);
    assert.equal(fake.recordings.length, 0);
  });

  for (const last of [1, 3]) {
    test(`an abort while it listens is an abort, at attempt ${last}`, async (t) => {
      const stop = new AbortController();
      const reason = new Error("the gateway stops");
      const { record, step, pause } = await listening(t, ({ nth }) => {
        if (nth < last) return overloaded;
        stop.abort(reason);
        return { dead: "hang" };
      });
      const input = spokenWith(await record("x"));
      await assert.rejects(step([], { input, pause }, stop.signal), reason);
    });
  }
});
