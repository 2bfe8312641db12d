// The judgement of a shell command. Pure.

import { type CommandPlaces, type Judgement, dangerous, plain } from "./judgement.ts";

const innocent = /^(?:ls|pwd|date|echo [\w ]*|true|whoami|uname(?: -a)?|sleep \d+)$/;

export function judgeCommand(command: string, _places: CommandPlaces): Judgement {
  return innocent.test(command.trim()) ? plain : dangerous("it cannot be judged");
}
