import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { refusalOf } from "./files.ts";

const url_private = "https://files.slack.com/files-pri/T0-F0/notes.txt";
const root = "https://slack.com/api";

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
