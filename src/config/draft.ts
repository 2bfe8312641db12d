// The configuration while it is put together from the file and the environment, with the place where each part was written.
// Pure: it is given text and values, and collects faults.

import type { GenericSchema } from "valibot";
import { keysFromOutside } from "./agent/access.ts";
import { isRefusedAlways } from "./available.ts";
import { type Override, type Variables, readScalar, substitute } from "./env.ts";
import { type ConfigFault, type KeyPath, type Origin, faultAt, formatKey, nowhere } from "./faults.ts";
import { configSchema } from "./schema.ts";
import { schemaAt, takesList, wantsText, wantsTexts, within } from "./shape.ts";

export class Draft {
  value: unknown = {};
  readonly faulty: KeyPath[] = [];
  readonly #origins = new Map<string, Origin>();
  readonly #filled = new Set<string>();

  originOf(path: KeyPath): Origin {
    for (let length = path.length; length > 0; length--) {
      const origin = this.#origins.get(JSON.stringify(path.slice(0, length)));
      if (origin !== undefined) return origin;
    }
    return nowhere;
  }

  isFilled(path: KeyPath): boolean {
    // What a variable holds may be a whole list or group.
    return path.some((_, i) => this.#filled.has(JSON.stringify(path.slice(0, i + 1))));
  }

  /** What the file says. */
  read(value: unknown, lines: ReadonlyMap<string, number>, file: string, faults: ConfigFault[]): void {
    for (const [path, line] of lines) this.#origins.set(path, { file, line, variable: null });
    if (value === null) return;
    if (typeof value === "object" && !Array.isArray(value)) this.value = value;
    else faults.push(faultAt({ file, line: 1, variable: null }, "", ...notGroups));
  }

  /** Puts variables where the file names them. */
  fill(variables: Variables, faults: ConfigFault[]): void {
    this.value = this.#fillIn(this.value, configSchema, [], variables, faults);
  }

  #fillIn(
    value: unknown,
    schema: GenericSchema | null,
    path: KeyPath,
    variables: Variables,
    faults: ConfigFault[],
  ): unknown {
    // A key that is refused anyway needs no variable.
    if (isRefusedAlways(path)) return value;
    if (Array.isArray(value))
      return value.map((one, i) => this.#fillIn(one, within(schema, i), [...path, i], variables, faults));
    if (typeof value === "object" && value !== null) {
      const filled = Object.entries(value).map(([key, one]) => {
        return [key, this.#fillIn(one, within(schema, key), [...path, key], variables, faults)];
      });
      return Object.fromEntries(filled);
    }
    if (typeof value !== "string") return value;
    const result = substitute(value, variables);
    if (result.type === "plain") return result.text;
    if (result.type === "filled") {
      this.#filled.add(JSON.stringify(path));
      return this.#typed(result.text, schema, path, faults);
    }
    this.faulty.push(path);
    const say = (what: string, todo: string) => faults.push(faultAt(this.originOf(path), formatKey(path), what, todo));
    if (result.type === "unreadable") {
      say("holds ${ without a name and }", "write ${NAME}, or $${ for the characters themselves");
      return undefined;
    }
    const names = result.names.join(" and ");
    const are = result.names.length > 1 ? "are" : "is";
    say(`needs ${names}, which ${are} not set`, `set ${names} in the environment or in .env`);
    return undefined;
  }

  override({ variable, path, value }: Override, faults: ConfigFault[]): void {
    this.#forget(path);
    // Groups on the way that nobody wrote are there because of this variable.
    for (let length = 1; length <= path.length; length++) {
      const above = JSON.stringify(path.slice(0, length));
      if (!this.#origins.has(above)) this.#origins.set(above, { file: value.file, line: value.line, variable });
    }
    this.#filled.add(JSON.stringify(path));
    this.value = placed(this.value, path, this.#typed(value.text, schemaAt(configSchema, path), path, faults));
  }

  /** Keys that people keep in their environment under the usual names, where a model is configured and its key is not. */
  fillKeys(variables: Variables): readonly string[] {
    const agent = inGroup(this.value, "agent");
    if (inGroup(agent, "model") === undefined) return [];
    const main = String(inGroup(agent, "model")).split("/")[0];
    return keysFromOutside(variables).flatMap(({ provider, variable }) => {
      const isGiven = inGroup(inGroup(inGroup(agent, "providers"), provider), "apiKey") !== undefined;
      if (isGiven || (provider === main && inGroup(agent, "apiKey") !== undefined)) return [];
      const value = variables.get(variable);
      if (value === undefined) return [];
      this.override({ variable, path: ["agent", "providers", provider, "apiKey"], value }, []);
      return [variable];
    });
  }

  /** Text from a variable as the kind of value that the key wants. */
  #typed(text: string, schema: GenericSchema | null, path: KeyPath, faults: ConfigFault[]): unknown {
    const isJson = text.trimStart().startsWith("[");
    if (wantsText(schema) && !(takesList(schema) && isJson)) return text;
    if (wantsTexts(schema) && !isJson) return listOf(text);
    const scalar = readScalar(text);
    if (scalar.type === "value") return scalar.value;
    this.faulty.push(path);
    const todo = 'write it as in {"key": "value"} or ["one", "two"]';
    faults.push(faultAt(this.originOf(path), formatKey(path), "begins like JSON but cannot be read as JSON", todo));
    return undefined;
  }

  /** What was known about a key and everything below it. */
  #forget(path: KeyPath): void {
    const below = JSON.stringify(path).slice(0, -1);
    const isBelow = (key: string) => key.startsWith(`${below},`) || key === `${below}]`;
    for (const key of this.#origins.keys()) if (isBelow(key)) this.#origins.delete(key);
    for (const key of this.#filled) if (isBelow(key)) this.#filled.delete(key);
  }
}

function inGroup(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key)
    ? Object.entries(value).find(([name]) => name === key)?.[1]
    : undefined;
}

/** `ann, 123` are two. */
function listOf(text: string): readonly string[] {
  return text
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "");
}

const notGroups = [
  "the configuration must be groups of settings",
  "begin with a line such as control: and indent what is below",
] as const;

/** The value with another one at a path; what is no group on the way becomes one. */
function placed(value: unknown, [key, ...rest]: readonly string[], inner: unknown): unknown {
  if (key === undefined) return inner;
  const group = typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
  const before = inGroup(group, key);
  return Object.fromEntries([
    ...Object.entries(group).filter(([name]) => name !== key),
    [key, placed(before, rest, inner)],
  ]);
}
