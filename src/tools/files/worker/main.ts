// The file worker: a process of its own, inside a person's sandbox. It does what the gateway asks over stdin and ends with it.

import { serveFiles } from "./serve.ts";

// A gateway that was killed must not be outlived: its successor asks what became of the calls.
process.stdin.once("end", () => process.exit(0));
process.stdout.once("error", () => process.exit(0));
await serveFiles(process.stdin, process.stdout);
