// The command line: argv to an exit code. Faults become one sentence on standard error, or one object where JSON was
// asked for; our own mistakes are thrown on.

import { Fault } from "../core/fault.ts";
import { type Table, readArguments } from "./arguments.ts";
import type { Doors } from "./context.ts";
import { type Output, paint, plainText } from "./print.ts";
import { gatewayCommands } from "./verbs/table.ts";

export const exitCodes = { done: 0, failed: 1, usage: 64, config: 78 } as const;

export async function runCommand(argv: readonly string[], output: Output, doors: Doors): Promise<number> {
  const typed = readArguments(argv, await tableFor(argv));
  switch (typed.type) {
    case "version":
      output.out(doors.version);
      return exitCodes.done;
    case "help":
      output.out((await import("./help.ts")).helpText(typed.words));
      return exitCodes.done;
    case "wrong": {
      const topic = typed.words.length === 0 ? "" : ` ${typed.words.join(" ")}`;
      const message = `${plainText(typed.message)} \`everturn${topic} --help\` shows what there is.`;
      output.err(argv.includes("--json") ? asJson("usage", message) : message);
      return exitCodes.usage;
    }
    case "run":
      try {
        const run = await typed.command.load();
        return await run({ flags: typed.flags, given: typed.given, output, doors, now: () => Date.now() });
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        const isJson = typed.flags["json"] === true;
        output.err(isJson ? asJson(error.code, error.message) : paint(output, "red", plainText(error.message)));
        return error.code === "config-wrong" || error.code === "home-unusable" ? exitCodes.config : exitCodes.failed;
      }
  }
}

/** A gateway starts without knowing what else can be typed. */
async function tableFor(argv: readonly string[]): Promise<Table> {
  return argv[0] === "gateway" ? { commands: gatewayCommands, usual: {} } : import("./table.ts");
}

/** In the form in which the gateway itself answers. */
function asJson(code: string, message: string): string {
  return JSON.stringify({ error: { code, message } });
}
