// Certificates for localhost: one that a process trusts by NODE_EXTRA_CA_CERTS, and one that nothing trusts.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { atEnd } from "../process/stage.ts";

type Pair = { readonly cert: string; readonly key: string };

export type Certificates = {
  readonly trusted: Pair;
  readonly untrusted: Pair;
  /** The file of the trusted certificate, for NODE_EXTRA_CA_CERTS. */
  readonly file: string;
};

export function certificates(t: TestContext): Certificates {
  const folder = mkdtempSync(join(tmpdir(), "everturn-certificates-"));
  atEnd(t, () => rmSync(folder, { recursive: true, force: true }));
  return {
    trusted: pair(folder, "trusted"),
    untrusted: pair(folder, "untrusted"),
    file: join(folder, "trusted.pem"),
  };
}

function pair(folder: string, name: string): Pair {
  const [cert, key] = [join(folder, `${name}.pem`), join(folder, `${name}-key.pem`)];
  const words = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
  execFileSync("openssl", [...words, ...names, "-keyout", key, "-out", cert], { stdio: "pipe", timeout: 60_000 });
  return { cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") };
}
