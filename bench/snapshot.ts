// How long the look at the machine takes that stands before everything else in a stop: the first and only one of a
// process, so each is measured in a process of its own.

import { execFileSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { takeSnapshot } from "../src/host/forensics/snapshot.ts";
import { ownIdentity } from "../src/host/identity.ts";
import { median } from "./load.ts";

const rounds = 11;

export function measureSnapshot(): { readonly ms: number; readonly all: readonly number[] } {
  const all = Array.from({ length: rounds }, () =>
    Number(execFileSync(process.execPath, [import.meta.filename], { encoding: "utf8" })),
  );
  return { ms: median(all), all };
}

if (import.meta.main) {
  const self = ownIdentity();
  const marker = (name: string) => join(tmpdir(), `everturn-no-such-${name}.json`);
  const markerFiles = { plannedStop: marker("stop"), takeOver: marker("take-over") };
  const from = performance.now();
  takeSnapshot({ signal: "SIGTERM", self, markerFiles, env: process.env });
  console.log(performance.now() - from);
}
