// Whether a container starts its gateway. That an unannounced signal leaves both fields `running`, and a planned stop
// neither, is proved with real processes under a real supervisor in test/services/s6.test.ts.

import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { parseStateFile } from "../host/identity.ts";
import { table } from "../testing/table.ts";
import { prepareFolder, shouldAutostart } from "./autostart.ts";

table(
  "S33 a container starts its gateway iff it is wanted to run; where that is not said, iff it ran",
  [
    { name: "S33 wanted and running", file: '{"desired_state":"running","gateway_state":"running"}', starts: true },
    {
      name: "S33 wanted, died between stop and start",
      file: '{"desired_state":"running","gateway_state":"stopped"}',
      starts: true,
    },
    {
      name: "S33 wanted, died while draining",
      file: '{"desired_state":"running","gateway_state":"draining"}',
      starts: true,
    },
    { name: "S33 stopped on purpose", file: '{"desired_state":"stopped","gateway_state":"stopped"}', starts: false },
    {
      name: "S33 asked to stop, died before",
      file: '{"desired_state":"stopped","gateway_state":"running"}',
      starts: false,
    },
    { name: "S33 an old file, running", file: '{"gateway_state":"running"}', starts: true },
    { name: "S33 an old file, stopped", file: '{"gateway_state":"stopped"}', starts: false },
    { name: "S33 an old file, failed at the start", file: '{"gateway_state":"startup_failed"}', starts: false },
    { name: "S33 neither field", file: "{}", starts: false },
    { name: "S33 not a state file", file: "half a fi", starts: false },
    { name: "S33 no file", file: null, starts: false },
  ],
  ({ file, starts }) => assert.equal(shouldAutostart(file === null ? null : parseStateFile(file)), starts),
);

test("the folder is made anew: down or not, scripts that can be run, whatever was there before", async (t) => {
  const scan = mkdtempSync(join(tmpdir(), "everturn-scan-"));
  t.after(() => rmSync(scan, { recursive: true }));
  const folder = join(scan, "everturn");
  const user = { name: "ann", uid: 1000, home: "/home/ann" };
  const place = { home: "/data", name: "everturn", node: "/node", main: "/main", passOn: {}, user };
  await prepareFolder(place, folder, 0, false);
  assert.ok(existsSync(join(folder, "down")));
  assert.equal(statSync(join(folder, "run")).mode & 0o777, 0o755);
  writeFileSync(join(folder, "run"), "something older");
  await prepareFolder(place, folder, 100, true);
  assert.ok(!existsSync(join(folder, "down")));
  assert.match(readFileSync(join(folder, "run"), "utf8"), /^#!\/bin\/sh\n/);
  assert.equal(readFileSync(join(folder, "timeout-kill"), "utf8"), "130000\n");
});
