// A value that does not print. Whoever needs it calls `reveal()`, so every use can be found by that one word.
// Also here: what may be shown of a configuration, and what the log must hide. Nothing here keeps a secret anywhere else.

const shown = "[secret]";

export class Secret {
  readonly #value: string;
  /** It does not print, but may be a word that everybody says: wherever else it stands, it is left alone. */
  readonly isOrdinary: boolean;
  constructor(value: string, isOrdinary = false) {
    this.#value = value;
    this.isOrdinary = isOrdinary;
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

/** The same value as plain data for people to read: secrets are replaced, also those inside addresses. */
export function toPrintable(value: unknown): unknown {
  if (value instanceof Secret) return shown;
  if (typeof value === "string") return withoutSecrets(value);
  if (typeof value === "bigint") return String(value);
  if (Array.isArray(value)) return value.map(toPrintable);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, toPrintable(inner)]));
}

/** Every secret in a configuration, to be hidden wherever it stands. */
export function secretsOf(value: unknown): readonly string[] {
  if (value instanceof Secret) {
    if (value.isOrdinary) return [];
    const text = value.reveal();
    const credentials = /^(?:Bearer|Basic|Bot|Token)\s+(\S+)$/i.exec(text)?.[1];
    return [text, ...(credentials === undefined ? [] : [credentials]), ...secretsInAddresses(text)];
  }
  if (typeof value === "string") return secretsInAddresses(value);
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(secretsOf);
}

// The password may itself hold an @; the last one before the next slash ends it.
const passwordIn = /(:\/\/[^/\s:@]*:)([^/\s]+)(?=@)/g;
const parameterIn = /([?&#;]([^?&#;=\s]{1,100})=)([^&#\s]+)/g;

export function withoutSecrets(text: string): string {
  return text
    .replaceAll(passwordIn, (_all, before: string) => `${before}${shown}`)
    .replaceAll(parameterIn, (all, before: string, name: string) => (isSecretName(name) ? `${before}${shown}` : all));
}

/** As they stand there, and as they are meant. */
function secretsInAddresses(text: string): readonly string[] {
  const passwords = [...text.matchAll(passwordIn)].map((found) => found[2] ?? "");
  const parameters = [...text.matchAll(parameterIn)].flatMap(([, , name = "", value = ""]) =>
    isSecretName(name) ? [value] : [],
  );
  return [...new Set([...passwords, ...parameters].flatMap((one) => [one, meant(one)]))];
}

function meant(escaped: string): string {
  try {
    return decodeURIComponent(escaped);
  } catch (error) {
    // Not escaped at all, then: a percent sign may be part of a password.
    if (error instanceof URIError) return escaped;
    throw error;
  }
}

/** How words end that name a secret; "tokens" are counted, and authors write. */
const secretWord =
  /(?:keys?|token|secrets?|password|passwd|passphrase|credentials?|authorization|cookie|signature)$|^(?:auth|pass|pwd|pat|jwt|sig|bearer|private)$/;
/** What is said about a secret and is none. */
const factWord =
  /^(?:type|mode|method|scheme|url|uri|path|file|dir|name|host|endpoint|algorithm|header|prefix|enabled|ttl|timeout|seconds|limit|size|count|max|min|sock)$/;

/** Whether what has this name is likely to be secret: `API_KEY`, `x-auth-token`, `dbPassword2`. */
export function isSecretName(name: string): boolean {
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== "");
  return words.some((word) => secretWord.test(word)) && !factWord.test(words.at(-1) ?? "");
}

/**
 * Whether a value under a name that anybody may choose is to be hidden wherever it stands. Most of them are words, folders
 * and addresses, and to hide those would garble what people read.
 */
export function looksSecret(name: string, value: string): boolean {
  if (isSecretName(name)) return true;
  if (value.length < 16 || /\s/.test(value)) return false;
  if (/^(?:~|\.{0,2})\/.*\/|^[a-z]:\\|:\/\/|^-|^[a-z]+\/[a-z0-9.+-]+$/i.test(value)) return false;
  return /[a-z]/i.test(value) && /\d/.test(value);
}
