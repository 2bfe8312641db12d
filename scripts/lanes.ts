// What the lanes with real supervisors and Windows say about rows of the checklist. Such a lane runs only where its parts can
// be had, so its results come from its log, as `node --test --test-reporter=spec` writes it. Without a log the rows are named
// as not run here.

import { readFileSync, readdirSync } from "node:fs";
import { join, parse } from "node:path";
import { rowsIn } from "./rows.ts";

export type LaneProof = {
  readonly row: string;
  readonly lane: string;
  readonly title: string;
  readonly result: "passed" | "failed" | "not run";
};

const lanes: readonly (readonly [RegExp, string])[] = [
  [/^test\/services\/systemd/, "systemd"],
  [/^test\/services\/s6/, "s6"],
  [/^test\/services\/plist/, "launchd"],
  [/^test\/windows\//, "windows"],
];

/** The lane that runs this test file; null for the files that the checklist runs itself. */
export function laneOf(file: string): string | null {
  return lanes.find(([pattern]) => pattern.test(file))?.[1] ?? null;
}

/** The text of each lane's log in a folder of `<lane>.log` files. */
export function lanesIn(folder: string): ReadonlyMap<string, string> {
  const files = readdirSync(folder).filter((name) => name.endsWith(".log"));
  return new Map(files.map((name) => [parse(name).name, readFileSync(join(folder, name), "utf8")]));
}

/** The rows that the titles of these files name, each with what the log of its lane says about that very title. */
export function provedIn(
  files: readonly (readonly [file: string, text: string])[],
  logs: ReadonlyMap<string, string>,
): readonly LaneProof[] {
  return files.flatMap(([file, text]) => {
    const lane = laneOf(file);
    if (lane === null) return [];
    const results = resultsIn(logs.get(lane) ?? "");
    const titles = Array.from(text.matchAll(/^\s*test\(\s*(["'`])(.*?)\1,/gm), ([, , title = ""]) => title);
    return titles.flatMap((title) =>
      rowsIn(title).map((row) => ({ row, lane, title, result: results.get(title) ?? ("not run" as const) })),
    );
  });
}

/** Title and result of every test in a log; one that was skipped has not run, and the last word about a title counts. */
export function resultsIn(log: string): ReadonlyMap<string, LaneProof["result"]> {
  const results = new Map<string, LaneProof["result"]>();
  for (const [, sign, title = "", skipped] of log.matchAll(/^\s*([✔✖﹣]) (.*?) \([\d.]+ms\)( # SKIP.*)?$/gmu))
    results.set(title, skipped !== undefined || sign === "﹣" ? "not run" : sign === "✔" ? "passed" : "failed");
  return results;
}
