// One way to write a tool: its face to the model, the schema of its input, and what it does with an input that is right.
// What goes wrong outside becomes a failed result with a sentence; an abort and a mistake of ours pass through.

import type * as v from "valibot";
import type { Verdict } from "../core/approval.ts";
import { Fault } from "../core/fault.ts";
import type { ToolEffect, ToolResult } from "../core/journal.ts";
import type { Tool, ToolContext, VetContext } from "../ports/tool.ts";
import { checked } from "./input.ts";
import { refusalOf } from "./refusal.ts";

/** The parts of an input as a model sees them; those that must be there are named apart. */
export type Face = {
  readonly properties: Readonly<Record<string, unknown>>;
  readonly required: readonly string[];
};

export type Definition<S extends v.GenericSchema> = {
  readonly name: string;
  readonly description: string;
  readonly effect: ToolEffect;
  readonly face: Face;
  readonly schema: S;
  readonly timeoutMs?: number;
  readonly vet?: (input: v.InferOutput<S>, context: VetContext) => Promise<Verdict>;
  readonly run: (input: v.InferOutput<S>, context: ToolContext) => Promise<ToolResult>;
  readonly check?: (input: v.InferOutput<S>, context: ToolContext) => Promise<ToolResult | null>;
  /** What was begun has a key; the input adds nothing to it. */
  readonly drop?: (context: ToolContext) => Promise<void>;
};

export function define<S extends v.GenericSchema>(one: Definition<S>): Tool {
  const { name, description, effect, face, schema, vet, run, check, drop } = one;
  return {
    name,
    description,
    effect,
    input: { type: "object", properties: face.properties, required: face.required, additionalProperties: false },
    ...(one.timeoutMs === undefined ? {} : { timeoutMs: one.timeoutMs }),
    ...(vet === undefined ? {} : { vet: (input, context) => vetted(schema, input, (good) => vet(good, context)) }),
    run: (input, context) => tried(schema, input, context, "failed", (good) => run(good, context)),
    // Who cannot find out whether it happened must not say that it did not.
    ...(check === undefined
      ? {}
      : { check: (input, context) => tried(schema, input, context, "unknown", (good) => check(good, context)) }),
    ...(drop === undefined ? {} : { drop: (_input, context) => drop(context) }),
  };
}

async function vetted<T extends v.GenericSchema>(
  schema: T,
  input: unknown,
  judge: (good: v.InferOutput<T>) => Promise<Verdict>,
): Promise<Verdict> {
  const read = checked(schema, input);
  if (read.type === "bad") return { type: "refuse", why: read.why };
  try {
    return await judge(read.input);
  } catch (error) {
    return { type: "refuse", why: whyNot(error) };
  }
}

async function tried<T extends v.GenericSchema, R>(
  schema: T,
  input: unknown,
  context: ToolContext,
  otherwise: "failed" | "unknown",
  work: (good: v.InferOutput<T>) => Promise<R>,
): Promise<R | ToolResult> {
  const read = checked(schema, input);
  if (read.type === "bad") return failed(read.why);
  try {
    context.signal.throwIfAborted();
    return await work(read.input);
  } catch (error) {
    context.signal.throwIfAborted();
    return { type: otherwise, why: whyNot(error) };
  }
}

export function ok(output: unknown): ToolResult {
  return { type: "ok", output };
}

export function failed(why: string): ToolResult {
  return { type: "failed", why };
}

/** The sentence for what went wrong outside; anything else is a mistake of ours and is thrown on. */
function whyNot(error: unknown): string {
  if (error instanceof Fault) return error.message;
  const refused = refusalOf(error);
  if (refused === null) throw error;
  return refused;
}
