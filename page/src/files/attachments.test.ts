import assert from "node:assert/strict";
import { test } from "node:test";
import type { Client } from "../net/client.ts";
import type { Uploaded } from "../net/upload.ts";
import { type Box, keepIn } from "../pending.ts";
import { attachments, fileMax, filesMax, refusal } from "./attachments.ts";
import { bytesOf } from "./views.ts";

type Upload = {
  readonly name: string;
  readonly signal: AbortSignal;
  readonly progress: (part: number) => void;
  readonly end: (uploaded: Uploaded) => void;
};

function desk(values = new Map<string, string>()) {
  const box: Box = {
    get length() {
      return values.size;
    },
    key: (i) => [...values.keys()][i] ?? null,
    getItem: (key) => values.get(key) ?? null,
    setItem: (key, value) => void values.set(key, value),
    removeItem: (key) => void values.delete(key),
  };
  const uploads: Upload[] = [];
  const client: Pick<Client, "upload"> = {
    upload: (_chat, file, progress, signal) =>
      new Promise((end) => uploads.push({ name: file.name, signal, progress, end })),
  };
  const files = attachments({ client, keep: keepIn(box), denied: () => undefined });
  files.turnTo("here");
  const states = () =>
    files.list.value.map(({ name, state }) => `${name} ${state.type === "sending" ? state.part : state.type}`);
  return { values, files, uploads, states };
}

const later = () => new Promise<void>((resolve) => setImmediate(resolve));
const stored = (name: string): Uploaded => ({
  type: "stored",
  file: { name, mime: "text/plain", blob: `blob of ${name}`, bytes: 1 },
});

test("a file is uploaded at once, shows how far it is, and goes with the next message", async () => {
  const { values, files, uploads, states } = desk();
  files.add([new File(["a"], "a.txt"), new File(["b"], "b.txt")]);
  assert.deepEqual(states(), ["a.txt 0", "b.txt 0"]);
  uploads[0]?.progress(0.5);
  assert.deepEqual(states(), ["a.txt 0.5", "b.txt 0"]);
  uploads[0]?.end(stored("a.txt"));
  await later();
  assert.deepEqual(states(), ["a.txt ready", "b.txt 0"]);
  assert.deepEqual(
    desk(values).states(),
    ["a.txt ready"],
    "what is ready survives a reload, what was on its way does not",
  );
  assert.deepEqual(
    files.take().map((one) => one.name),
    ["a.txt"],
  );
  assert.deepEqual(states(), ["b.txt 0"]);
  assert.deepEqual(desk(values).states(), []);
});

test("what fails says why and may be tried again; what is taken away is not sent", async () => {
  const { files, uploads, states } = desk();
  files.add([new File(["a"], "a.txt"), new File(["b"], "b.txt")]);
  const [a, b] = files.list.value;
  uploads[0]?.end({ type: "failed", why: "no room" });
  files.remove(b?.id ?? "");
  assert.equal(uploads[1]?.signal.aborted, true);
  uploads[1]?.end({ type: "failed", why: "It was taken away." });
  await later();
  assert.deepEqual(files.list.value[0]?.state, { type: "failed", why: "no room", again: true });
  assert.equal(files.list.value.length, 1);
  files.retry(a?.id ?? "");
  assert.deepEqual(states(), ["a.txt 0"]);
  uploads[2]?.end(stored("a.txt"));
  await later();
  assert.deepEqual(states(), ["a.txt ready"]);
});

test("files belong to their conversation, also when they arrive after it was left", async () => {
  const { files, uploads, states } = desk();
  files.add([new File(["a"], "a.txt")]);
  files.turnTo("there");
  assert.deepEqual(states(), []);
  uploads[0]?.end(stored("a.txt"));
  await later();
  assert.deepEqual(states(), []);
  files.turnTo("here");
  assert.deepEqual(states(), ["a.txt ready"]);
  files.giveBack("there", files.take());
  assert.deepEqual(states(), []);
  files.turnTo("there");
  assert.deepEqual(states(), ["a.txt ready"]);
});

test("too large and too many are told before anything is sent", () => {
  assert.equal(refusal(fileMax, 0), null);
  assert.match(refusal(fileMax + 1, 0) ?? "", /larger than 50 MB/);
  assert.match(refusal(1, filesMax) ?? "", /At most 10 files/);
  const { files, uploads } = desk();
  files.add(Array.from({ length: filesMax + 1 }, (_, i) => new File(["x"], `${i}`)));
  assert.equal(uploads.length, filesMax);
  assert.equal(files.list.value.at(-1)?.state.type, "failed");
});

test("sizes as people read them", () => {
  for (const [bytes, words] of [
    [0, "0 B"],
    [999, "999 B"],
    [12_345, "12 kB"],
    [1_234_567, "1.2 MB"],
  ] as const)
    assert.equal(bytesOf(bytes), words);
});
