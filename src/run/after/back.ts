// After a start: tells the homes of a restart that nobody asked for in a chat. The note that the last life left is removed
// only when what it asks for is stored; found again after a death in between, the same key says nothing twice.

import { readFile, rm } from "node:fs/promises";
import { sentenceOf } from "../../core/fault.ts";
import type { Address } from "../../core/message.ts";
import { onlineNotice } from "../../core/notice.ts";
import type { Gateway } from "../../ports/gateway.ts";
import type { World } from "../../ports/world.ts";

export async function tellHomes(
  file: string,
  homes: readonly Address[],
  gateway: Pick<Gateway, "post">,
  world: Pick<World, "log">,
): Promise<void> {
  const text = await textIn(file);
  if (text === null) return;
  const restart = restartIn(text);
  try {
    if (restart !== null) {
      const notice = onlineNotice(restart);
      for (const home of homes) await gateway.post(home, notice.text, `${notice.key}:${home.platform}`);
    }
    await rm(file, { force: true });
  } catch (error) {
    world.log("warn", "the homes could not be told of the restart; the next start tries again", {
      why: sentenceOf(error),
    });
  }
}

async function textIn(file: string): Promise<string | null> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    // There is something, and it cannot be read: it is removed like one that says nothing.
    return "";
  }
}

/** Null when it says nothing that can be told. */
function restartIn(text: string): string | null {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || !("restart" in value)) return null;
    return typeof value.restart === "string" && /^[\w-]{1,64}$/.test(value.restart) ? value.restart : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
