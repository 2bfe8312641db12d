// The faults that are planted for each row of docs/checklist.md, one at a time: a test of the row must fail with each.

import type { PlantedFault } from "./fault.ts";
import { forensicFaults } from "./forensics.ts";
import { markFaults } from "./marks.ts";
import { stopFaults } from "./stopping.ts";
import { watchFaults } from "./watching.ts";
import { windowsFaults } from "./windows.ts";

const all: Readonly<Record<string, PlantedFault | readonly PlantedFault[]>> = {
  ...watchFaults,
  ...stopFaults,
  ...forensicFaults,
  ...markFaults,
  ...windowsFaults,
};

export const faults: ReadonlyMap<string, readonly PlantedFault[]> = new Map(
  Object.entries(all).map(([row, given]) => [row, "file" in given ? [given] : given]),
);
