// The tools that run commands: `terminal`, and `process` for those that go on.

import type { Tool } from "../../ports/tool.ts";
export { background } from "./background.ts";
import type { TerminalOptions } from "./options.ts";
import { processTool } from "./process.ts";
import { terminalTool } from "./terminal.ts";

export function terminalTools(options: TerminalOptions): readonly Tool[] {
  return [terminalTool(options), processTool(options)];
}
