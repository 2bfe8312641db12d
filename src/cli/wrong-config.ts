// A configuration with faults as one Fault that names them all. Pure.

import { type ConfigFault, sentenceOfFault } from "../config/faults.ts";
import { Fault } from "../core/fault.ts";

/** All faults at once, one line each. */
export function wrongConfig(faults: readonly ConfigFault[]): Fault {
  const count = faults.length === 1 ? "a fault" : `${faults.length} faults`;
  const lines = faults.map((one) => `  ${sentenceOfFault(one)}`);
  return new Fault("config-wrong", [`The configuration has ${count}:`, ...lines].join("\n"));
}
