// The contract of a store, as tests that any implementation can run.

import { describe } from "node:test";
import { accessTests } from "./access.ts";
import { agentTests } from "./agents.ts";
import { bootTests } from "./boots.ts";
import { commitTests } from "./commits.ts";
import { factTests } from "./facts.ts";
import { keepingTests } from "./keeping.ts";
import { listTests } from "./lists.ts";
import { pickTests } from "./picks.ts";
import { sessionTests } from "./sessions.ts";
import type { OpenStore } from "./steps.ts";
import { transcriptTests } from "./transcripts.ts";

export function storeSuite(name: string, open: OpenStore): void {
  describe(`store ${name}`, () => {
    commitTests(open);
    sessionTests(open);
    bootTests(open);
    pickTests(open);
    factTests(open);
    transcriptTests(open);
    listTests(open);
    keepingTests(open);
    agentTests(open);
    accessTests(open);
  });
}
