// Whether an installed service is still what this version would write, after an upgrade or a change of the drain. A unit
// that kills earlier than a stop may take would cut stops off, so it is told at every start until it is repaired.
// Comments and empty lines do not count, and neither do drop-ins: they are their owner's will.

import { basename } from "node:path";
import { type Service, type ServiceNeeds, stopSeconds } from "./kinds.ts";
import { readInstalled } from "./files.ts";
import { type Here, findService } from "./verbs.ts";

export const repair = "everturn gateway install --force";

/** The settings in which two texts differ, by name, each once. */
export function differences(installed: string, wanted: string): readonly string[] {
  const had = settingsIn(installed);
  const has = settingsIn(wanted);
  const changed = [...had.filter((one) => !has.includes(one)), ...has.filter((one) => !had.includes(one))];
  return [...new Set(changed.map(nameIn))];
}

/** One text for each setting: lines of a unit or a script, pairs of a property list, elements of a task. */
function settingsIn(text: string): readonly string[] {
  return text
    .replaceAll(/<!--.*?-->/gs, "")
    .replaceAll(/<key>(.*?)<\/key>\s*/gs, "$1=")
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== "" && !/^#(?!!)/.test(line));
}

function nameIn(setting: string): string {
  const variable = /^(?:Environment="|export )(\w+)=/.exec(setting)?.[1];
  return variable ?? /^[<]?([\w-]+)(?=[=>\s])/.exec(setting)?.[1] ?? setting.slice(0, 40);
}

/** How many seconds an installed text gives a stop, where it says so in our own words. */
export function patienceIn(text: string, path: string): number | null {
  const seconds = /^TimeoutStopSec=(\d+)s?$/m.exec(text) ?? /<key>ExitTimeOut<\/key>\s*<integer>(\d+)</.exec(text);
  if (seconds !== null) return Number(seconds[1]);
  // A bare number is a time in this file of s6 alone; in another one it is a descriptor.
  const ms = basename(path) === "timeout-kill" ? /^\s*(\d+)\s*$/.exec(text) : null;
  return ms === null ? null : Number(ms[1]) / 1000;
}

/** A sentence when they differ, with what to do; null when they do not. Pure. */
export function driftOf(
  service: Pick<Service, "title">,
  path: string,
  texts: { readonly installed: string; readonly wanted: string },
  drainSeconds: number,
): string | null {
  const names = differences(texts.installed, texts.wanted);
  if (names.length === 0) return null;
  const shown = names.length > 5 ? `${names.slice(0, 5).join(", ")} and more` : names.join(", ");
  const what = `${service.title[0]?.toUpperCase()}${service.title.slice(1)} (${path}) is not what this version would write: ${shown}.`;
  const needed = stopSeconds(drainSeconds);
  const given = patienceIn(texts.installed, path);
  if (given === null || given >= needed) return `${what} Repair it with \`${repair}\`.`;
  return `${what} It kills a stop after ${given} s, and gateway.drainSeconds ${drainSeconds} needs ${needed} s. Repair it with \`${repair}\`, or set a smaller \`gateway.drainSeconds\`.`;
}

/** What to tell at a start under a supervisor about the service of this home; null when all is well or there is none. */
export async function unitDrift(all: Here, needs: ServiceNeeds): Promise<string | null> {
  if ((all.env["EVERTURN_SUPERVISOR"] ?? "") === "") return null;
  const service = findService(all);
  if (service === null) return null;
  for (const file of service.files(needs)) {
    const installed = await readInstalled(file);
    const told =
      installed === null
        ? `${file.path} of ${service.title} is missing. Repair it with \`${repair}\`.`
        : driftOf(service, file.path, { installed, wanted: file.text }, needs.drainSeconds);
    if (told !== null) return told;
  }
  return null;
}
