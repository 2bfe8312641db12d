// The offline agent's tools: one of each effect class, with a real effect on a folder that can be looked at.

import { createHash } from "node:crypto";
import { appendFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Instant } from "../../core/ids.ts";
import type { ToolResult } from "../../core/journal.ts";
import type { FileRef } from "../../core/message.ts";
import type { Tool, ToolContext } from "../../ports/tool.ts";

export type Demo = {
  /** Where the tools leave their traces. */
  readonly workspace: string;
  /** How long each tool takes. */
  readonly toolMs: number;
  /** The tool that restarts the gateway; absent where that is not possible. */
  readonly restart?: Tool;
};

const noInput = { type: "object", properties: {}, additionalProperties: false };

export function demoTools({ workspace, toolMs, restart }: Demo): readonly Tool[] {
  const work = (context: ToolContext) => sleep(toolMs, undefined, { signal: context.signal });
  const fileOf = async (name: string) => {
    await mkdir(workspace, { recursive: true });
    return join(workspace, name);
  };
  return [
    {
      name: "look_at_clock",
      description: "Tells the time. Changes nothing, so it may run again.",
      effect: "pure",
      input: noInput,
      async run(_input, context) {
        await work(context);
        return ok(`it is ${new Date().toISOString()}`);
      },
    },
    {
      name: "stamp",
      description: "Leaves one stamp per key; the same key again changes nothing.",
      effect: "keyed",
      input: noInput,
      async run(_input, context) {
        const name = `stamp-${nameOf(context.key)}.txt`;
        await writeFile(await fileOf(name), `${context.key}\n`);
        await work(context);
        return ok(`stamped ${name}, once for this call`);
      },
    },
    {
      name: "write_note",
      description: "Writes a note; afterwards one can see whether it was written.",
      effect: "checkable",
      input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
      async run(input, context) {
        await work(context);
        const name = `note-${nameOf(context.key)}.txt`;
        await writeFile(await fileOf(name), textIn(input));
        return ok(`wrote ${name}`);
      },
      async check(input, context) {
        const name = `note-${nameOf(context.key)}.txt`;
        const found = await readFile(await fileOf(name), "utf8").catch(notThere);
        return found === textIn(input) ? ok(`wrote ${name} (found after an interruption)`) : null;
      },
    },
    {
      name: "ring_bell",
      description: "Rings a bell. Nobody can tell afterwards whether it rang, so it never runs twice by itself.",
      effect: "once",
      input: noInput,
      async run(_input, context) {
        await appendFile(await fileOf("bell.log"), `${context.key}\n`);
        await work(context);
        return ok("the bell rang");
      },
    },
    {
      name: "post_letter",
      description: "Posts a letter, which cannot be called back: only with its user's word, and never twice.",
      effect: "once",
      input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
      async vet(input) {
        const what = `post a letter that says: ${textIn(input)}`;
        return {
          type: "approve",
          why: "a letter cannot be called back",
          what,
          bound: nameOf(what),
          subject: "posting any letter",
        };
      },
      async run(input, context) {
        await appendFile(await fileOf("letters.log"), `${context.key} ${textIn(input)}\n`);
        await work(context);
        return ok("the letter is posted");
      },
    },
    {
      name: "send_back",
      description: "Sends files to the user before the answer is finished.",
      effect: "pure",
      input: { type: "object", properties: { files: { type: "array" } }, required: ["files"] },
      async run(input) {
        const { files } = input as { files: readonly FileRef[] };
        return { type: "ok", output: "sent", wishes: [{ type: "send", text: "Here you are.", files }] };
      },
    },
    {
      name: "remind",
      description: "Sets a reminder that survives restarts.",
      effect: "pure",
      input: {
        type: "object",
        properties: { at: { type: "number" }, text: { type: "string" } },
        required: ["at", "text"],
      },
      async run(input) {
        const at = Number((input as { at: unknown }).at) as Instant;
        return { type: "ok", output: "the reminder is set", wishes: [{ type: "wake", at, text: textIn(input) }] };
      },
    },
    ...(restart === undefined ? [] : [restart]),
  ];
}

function ok(output: string): ToolResult {
  return { type: "ok", output };
}

function textIn(input: unknown): string {
  return String((input as { text?: unknown }).text);
}

/** A short name that is safe in any file system. */
function nameOf(key: string): string {
  return createHash("sha256").update(key).digest("hex").slice(0, 12);
}

function notThere(error: unknown): null {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
  throw error;
}
