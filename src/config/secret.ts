// A value that does not print. Whoever needs it calls `reveal()`, so every use can be found by that one word.
// Also here: what may be shown of a configuration, and what the log must hide. Nothing here keeps a secret anywhere else.

const shown = "[secret]";

export class Secret {
  readonly #value: string;
  constructor(value: string) {
    this.#value = value;
    Object.freeze(this);
  }
  reveal(): string {
    return this.#value;
  }
  toString(): string {
    return shown;
  }
  toJSON(): string {
    return shown;
  }
  [Symbol.toPrimitive](): string {
    return shown;
  }
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return shown;
  }
}

/** The same value as plain data for people to read: secrets and passwords inside addresses are replaced. */
export function toPrintable(value: unknown): unknown {
  if (value instanceof Secret) return shown;
  if (typeof value === "string") return withoutPassword(value);
  if (typeof value === "bigint") return String(value);
  if (Array.isArray(value)) return value.map(toPrintable);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, toPrintable(inner)]));
}

/** Every secret in a configuration, for the log to hide. */
export function secretsOf(value: unknown): readonly string[] {
  if (value instanceof Secret) return [value.reveal()];
  if (typeof value === "string") {
    const password = passwordIn.exec(value)?.[2];
    return password === undefined ? [] : [password];
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(secretsOf);
}

// The password may itself hold an @; the last one before the next slash ends it.
const passwordIn = /(:\/\/[^/\s:@]*:)([^/\s]+)(?=@)/;

export function withoutPassword(text: string): string {
  return text.replace(passwordIn, (_all, before: string) => `${before}${shown}`);
}
