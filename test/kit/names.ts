// Makes names stop resolving in another process while it runs.
//
//   const names = failingNames(t);
//   const gateway = await runGateway(t, home, { env: names.env });
//   names.fail("localhost", "ENOTFOUND");   // or EAI_AGAIN; lookups of this name fail from now on
//   names.restore();
//
// The process loads test/kit/names-preload.js first, which asks a file before each lookup. Connections that stand stay.

import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { TestContext } from "node:test";
import { atEnd } from "../process/stage.ts";

export type LookupError = "ENOTFOUND" | "EAI_AGAIN";

export type FailingNames = {
  readonly env: Readonly<Record<string, string>>;
  fail(name: string, error: LookupError): void;
  restore(): void;
};

export function failingNames(t: TestContext): FailingNames {
  const folder = mkdtempSync(join(tmpdir(), "everturn-names-"));
  atEnd(t, () => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "names.json");
  const write = (names: Readonly<Record<string, LookupError>>): void => {
    // A reader must never see half of it.
    writeFileSync(`${file}.new`, JSON.stringify(names));
    renameSync(`${file}.new`, file);
  };
  write({});
  const preload = pathToFileURL(join(import.meta.dirname, "names-preload.js")).href;
  return {
    env: { NODE_OPTIONS: `--import=${preload}`, FAILING_NAMES: file },
    fail: (name, error) => write({ [name]: error }),
    restore: () => write({}),
  };
}
