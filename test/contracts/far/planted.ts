// The contract suite over platforms with planted faults. Run by suite.test.ts, which reads what failed; not a test by itself.

import { platformSuite } from "../../../src/testing/index.ts";
import { faults, openFar } from "./platform.ts";

for (const fault of faults) platformSuite(fault, async () => openFar(fault), { timeoutMs: 4_000 });
