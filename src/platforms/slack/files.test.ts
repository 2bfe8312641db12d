import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Blobs } from "../../ports/blobs.ts";
import { realWorld } from "../../world.ts";
import { fetchFiles, refusalOf } from "./files.ts";

const url_private = "https://files.slack.com/files-pri/T0-F0/notes.txt";
const root = "https://slack.com/api";
const never = new AbortController().signal;

describe("files that are not fetched", () => {
  const cases: readonly (readonly [
    what: string,
    file: Parameters<typeof refusalOf>[0],
    root: string,
    why: RegExp | null,
  ])[] = [
    ["one of Slack's", { url_private }, root, null],
    ["deleted", { mode: "tombstone" }, root, /deleted/],
    ["hidden", { mode: "hidden_by_limit" }, root, /plan/],
    ["too large", { url_private, size: 60 * 1024 * 1024 }, root, /larger/],
    ["nowhere", {}, root, /where/],
    ["elsewhere", { url_private: "https://drive.example.com/x" }, root, /outside/],
    ["a name that only ends alike", { url_private: "https://evilslack.com/x" }, root, /outside/],
    ["without TLS", { url_private: "http://files.slack.com/x" }, root, /outside/],
    ["where the API is", { url_private: "http://127.0.0.1:9/files/x" }, "http://127.0.0.1:9/api", null],
    [
      "elsewhere, where it is fetched",
      { url_private, url_private_download: "https://drive.example.com/x" },
      root,
      /outside/,
    ],
    ["one that is fetched elsewhere at Slack", { url_private: "::", url_private_download: url_private }, root, null],
    ["no address", { url_private: "::" }, root, /outside/],
  ];
  for (const [what, file, at, why] of cases) {
    test(what, () => {
      const found = refusalOf(file, at);
      if (why === null) assert.equal(found, null);
      else assert.match(found ?? "", why);
    });
  }
});

describe("files whose line breaks", () => {
  const blobs: Blobs = {
    put: async (_, { name, mime }) => ({ name, mime, blob: name, bytes: 1 }),
    read: () => assert.fail("nothing is read"),
    path: (blob) => blob,
  };
  const world = { ...realWorld(() => undefined), sleep: async () => undefined };
  const broken = (): never => {
    throw new TypeError("fetch failed");
  };
  const said = (status: number) => () => new Response("x", { status });
  const cases: readonly (readonly [
    what: string,
    answers: readonly (() => Response)[],
    asked: number,
    lost: RegExp | null,
  ])[] = [
    ["are fetched again", [broken, said(503), said(200)], 3, null],
    ["not for ever", [broken, broken, broken, said(200)], 3, /fetch failed/],
    ["not where Slack says no", [said(404), said(200)], 1, /answered with 404/],
  ];
  for (const [what, answers, times, lost] of cases) {
    test(what, async () => {
      let asked = 0;
      const download = async (): Promise<Response> => answers[asked++]?.() ?? assert.fail("asked once too often");
      const found = await fetchFiles([{ url_private }], { api: { download }, blobs, world, apiRoot: root }, never);
      assert.deepEqual([found.files.length, asked], [lost === null ? 1 : 0, times]);
      assert.match(found.lost.join(), lost ?? /^$/);
    });
  }
});
