// The property list, read by a parser that is not ours. It ends with 0 whatever it meets, so what it wrote is what counts.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { launchdList } from "../../src/services/launchd.ts";
import { newFolder } from "./container.ts";

function parsed(folder: string, list: string): Buffer | null {
  const [source, target] = [join(folder, "list.plist"), join(folder, "list.bin")];
  writeFileSync(source, list);
  execFileSync("plistutil", ["-i", source, "-f", "bin", "-o", target], { stdio: "pipe" });
  return existsSync(target) ? readFileSync(target) : null;
}

for (const scope of ["user", "system"] as const)
  test(`the list of launchd is well formed for the ${scope}, whatever is in its paths`, (t) => {
    const home = `/Users/ann/it's "odd" & <b> ]]> süß %h $HOME \\`;
    const list = launchdList(
      {
        home,
        name: "everturn",
        node: `${home}/node`,
        main: `${home}/main.js`,
        passOn: { NODE_OPTIONS: "--a & --b <c>" },
        user: { name: "ann", uid: 501, home },
      },
      scope,
      0,
    );
    const binary = parsed(newFolder(t, "plist"), list) ?? assert.fail("it was not understood");
    // Back from the binary form, which holds the very texts: what does not need more than ASCII is stored as it is.
    const again = binary.toString("latin1");
    for (const text of ["dev.everturn.gateway", "SuccessfulExit", "--a & --b <c>", "EVERTURN_SUPERVISOR", "launchd"])
      assert.ok(again.includes(text), text);
    const wide = Buffer.from(home, "utf16le").swap16().toString("latin1");
    assert.ok(again.includes(wide), "the home, in the form that other letters are stored in");
    const broken = list.replace("--a &amp; --b", "--a & --b");
    assert.equal(parsed(newFolder(t, "plist"), broken), null, "a mistake would have been found");
  });
