// The contract of a platform, as tests that any implementation can run.

import { describe } from "node:test";
import { intakeTests } from "./intake.ts";
import { sendTests } from "./sends.ts";
import type { OpenPlatform } from "./steps.ts";

export function platformSuite(name: string, open: OpenPlatform): void {
  // A platform that breaks its contract may wait for ever; the tests do not.
  describe(`platform ${name}`, { timeout: 60_000 }, () => {
    intakeTests(open);
    sendTests(open);
  });
}
