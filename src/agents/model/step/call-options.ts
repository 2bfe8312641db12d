// The options of a message as a provider's package takes them. A package that leaves an option out says so in a warning;
// then the call fails with the name of that option, because a caller must not get an answer made without it. Pure.

import type { LanguageModelV4CallOptions, SharedV4Warning } from "@ai-sdk/provider";
import { type CallOptions, isNeutral, optionParams } from "../../../core/call-options.ts";
import { type Failure, type Where, unsupportedOption } from "../errors/translate.ts";
import { parseModel } from "../providers/names.ts";

type Taken = Pick<
  LanguageModelV4CallOptions,
  | "temperature"
  | "topP"
  | "topK"
  | "maxOutputTokens"
  | "stopSequences"
  | "seed"
  | "presencePenalty"
  | "frequencyPenalty"
  | "reasoning"
  | "responseFormat"
  | "providerOptions"
>;

export function requestOptions({ model: _model, ...options }: CallOptions, model: string): Taken {
  const { stopSequences, responseFormat, ...numbers } = options;
  return {
    ...numbers,
    ...(stopSequences === undefined ? {} : { stopSequences: [...stopSequences] }),
    ...(responseFormat === undefined ? {} : formatOf(responseFormat, model)),
  };
}

function formatOf(
  { schema, name, description, strict = false }: NonNullable<CallOptions["responseFormat"]>,
  model: string,
): Pick<Taken, "responseFormat" | "providerOptions"> {
  const named = { ...(name === undefined ? {} : { name }), ...(description === undefined ? {} : { description }) };
  const responseFormat = { type: "json", ...(schema === undefined ? {} : { schema }), ...named } as const;
  if (schema === undefined) return { responseFormat };
  const provider = parseModel(model)?.provider ?? "openai";
  return { responseFormat, providerOptions: { [provider]: { strictJsonSchema: strict } } };
}

/** The first option of the caller that the package did not pass on; null when all were. */
export function leftOut(
  warnings: readonly SharedV4Warning[],
  wanted: CallOptions | undefined,
  where: Where,
): Failure | null {
  if (wanted === undefined) return null;
  for (const warning of warnings) {
    if (warning.type !== "unsupported" || !Object.hasOwn(wanted, warning.feature)) continue;
    const name = warning.feature as keyof typeof optionParams;
    if (!isNeutral(name, wanted)) return unsupportedOption(optionParams[name], warning.details, where);
  }
  return null;
}
