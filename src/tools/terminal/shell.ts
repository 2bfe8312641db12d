// Which shell reads a command line on this system.

import { existsSync } from "node:fs";

export type ShellCommand = {
  readonly words: readonly string[];
  /** The words are handed over as they are, without quotes of ours. */
  readonly isVerbatim: boolean;
};

export function shellFor(
  command: string,
  platform: NodeJS.Platform = process.platform,
  isThere: (path: string) => boolean = existsSync,
): ShellCommand {
  if (platform === "win32") return { words: ["cmd.exe", "/d", "/s", "/c", `"${command}"`], isVerbatim: true };
  const bash = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/run/current-system/sw/bin/bash"].find(isThere);
  return { words: [bash ?? "/bin/sh", "-c", command], isVerbatim: false };
}
