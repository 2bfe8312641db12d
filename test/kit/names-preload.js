// Loaded into a gateway by test/kit/names.ts: lookups of the names in the file FAILING_NAMES fail with the error given there.

import dns from "node:dns";
import { readFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const file = process.env.FAILING_NAMES;
const real = dns.lookup;

/** The error as the system resolver reports it. */
function errorFor(name, code) {
  const error = new Error(`getaddrinfo ${code} ${name}`);
  return Object.assign(error, {
    code,
    errno: code === "EAI_AGAIN" ? -3001 : -3008,
    syscall: "getaddrinfo",
    hostname: name,
  });
}

if (file !== undefined) {
  dns.lookup = function lookup(name, ...rest) {
    const code = JSON.parse(readFileSync(file, "utf8"))[name];
    if (code === undefined) return real.call(this, name, ...rest);
    const callback = rest.at(-1);
    setImmediate(() => callback(errorFor(name, code)));
    return {};
  };
  syncBuiltinESMExports();
}
