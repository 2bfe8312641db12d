// The contract of a platform, as tests that any implementation can run.

import { describe } from "node:test";
import { draftTests } from "./drafts.ts";
import type { OpenPlatform } from "./driver.ts";
import { factTests } from "./facts.ts";
import { failureTests } from "./failures.ts";
import { intakeTests } from "./intake.ts";
import { lifeTests } from "./lives.ts";
import { sendTests } from "./sends.ts";
import { splittingTests } from "./splitting.ts";

export function platformSuite(name: string, open: OpenPlatform): void {
  // A platform that breaks its contract may wait for ever; the tests do not.
  describe(`platform ${name}`, { timeout: 120_000 }, () => {
    intakeTests(open);
    lifeTests(open);
    factTests(open);
    sendTests(open);
    splittingTests(open);
    failureTests(open);
    draftTests(open);
  });
}
