// The judgement of a shell command: read as a shell reads it, then held against the rules, piece by piece. Pure.

import { type CommandPlaces, type Judgement, dangerous } from "./judgement.ts";
import { judgeScript } from "./walk.ts";

/** A longer one is not read to its end. */
const longest = 100_000;

export function judgeCommand(command: string, places: CommandPlaces): Judgement {
  if (command.length > longest) return dangerous("it is too long to be judged");
  if (command.includes("\0")) return dangerous("it holds signs that no command has, so it cannot be judged");
  return judgeScript(command, places);
}
