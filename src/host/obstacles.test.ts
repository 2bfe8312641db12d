// What is told about each thing that can be in the way inside of a home.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { table } from "../testing/table.ts";
import { type Sight, judgeSight, obstaclesIn, refuseObstacles } from "./obstacles.ts";

const logs = { path: "/h/logs", kind: "folder", use: "write" } as const;
const token = { path: "/h/control.token", kind: "file", use: "write" } as const;
const config = { path: "/h/config.yaml", kind: "file", use: "read" } as const;

const cases: readonly (Sight & { readonly name: string; readonly says: RegExp | null })[] = [
  { name: "not there yet", ...logs, found: null, mayUse: true, says: null },
  { name: "as it should be", ...logs, found: "folder", mayUse: true, says: null },
  { name: "a file for a folder", ...logs, found: "file", mayUse: true, says: /logs is a file.*be a folder.*Move it/ },
  { name: "a folder for a file", ...token, found: "folder", mayUse: true, says: /token is a folder.*be a file.*Move/ },
  {
    name: "a pipe for a file",
    ...token,
    found: "neither a file nor a folder",
    mayUse: true,
    says: /is neither a file nor a folder, and must be a file/,
  },
  { name: "a closed folder", ...logs, found: "folder", mayUse: false, says: /not write in \/h\/logs.*Give this user/ },
  { name: "a closed file", ...token, found: "file", mayUse: false, says: /not write to \/h\/control\.token/ },
  { name: "one that is only read", ...config, found: "file", mayUse: false, says: /not read \/h\/config\.yaml/ },
];

table("what is in the way", cases, ({ says, ...sight }) => {
  const told = judgeSight(sight);
  if (says === null) return assert.equal(told, null);
  assert.match(`${told?.what}. ${told?.todo}`, says);
});

test("all that is in the way is told at once, and only what is there", (t) => {
  const home = mkdtempSync(join(tmpdir(), "everturn-way-"));
  t.after(() => rmSync(home, { recursive: true }));
  const at = (name: string) => join(home, name);
  const wanted = [
    { ...logs, path: at("logs") },
    { ...token, path: at("control.token") },
    { ...config, path: at("config.yaml") },
  ];
  refuseObstacles(wanted);
  writeFileSync(at("logs"), "");
  mkdirSync(at("control.token"));
  assert.equal(obstaclesIn(wanted).length, 2);
  assert.throws(() => refuseObstacles(wanted), {
    code: "home-unusable",
    message: /cannot start: .*logs is a file.*; .*control\.token is a folder.*\. Move it away/,
  });
});
