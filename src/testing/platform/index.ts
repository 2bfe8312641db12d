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

const groups: Readonly<Record<string, (open: OpenPlatform) => void>> = {
  "the way in": intakeTests,
  lives: lifeTests,
  "what is told about a message": factTests,
  "the way out": sendTests,
  "long answers": splittingTests,
  "what goes wrong": failureTests,
  drafts: draftTests,
};

/** A platform that breaks its contract may wait for ever; the tests do not, no group of them longer than this. */
export function platformSuite(name: string, open: OpenPlatform, { timeoutMs = 120_000 } = {}): void {
  describe(`platform ${name}`, () => {
    for (const [title, tests] of Object.entries(groups)) describe(title, { timeout: timeoutMs }, () => tests(open));
  });
}
