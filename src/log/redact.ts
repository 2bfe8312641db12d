// Takes secrets out of what is about to be written: those known by name or by value, and those known by their shape.
// Pure, bounded in depth, width and length, and never throws, whatever it is given: cycles, getters that fail, proxies.

import { masker } from "./known.ts";

const mask = "[secret]";

/** Ends of key names whose value is never shown. "tokens" is a count, so the word must end there. */
const hiddenKey =
  /(token|api[-_]?key|password|passwd|passphrase|secret|authorization|cookie|private[-_]?key|credentials?)$/i;

const nameOfSecret =
  "(?:access_?|refresh_?|auth_?|bot_?|id_?)?token|api[-_]?key|password|passwd|(?:client[-_]?)?secret";

type Pattern = readonly [RegExp, string];
/** Each pattern runs in time linear to the text. */
const patterns: readonly Pattern[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, mask],
  [/\b(Bearer)\s+[A-Za-z0-9._~+/=:-]{8,}/gi, `$1 ${mask}`],
  [/\b(Basic|Bot)\s+[A-Za-z0-9._+/=-]{16,}/g, `$1 ${mask}`],
  [/((?:^|[\s,;{"'])(?:set-)?(?:cookie|authorization)["']?\s*[:=]\s*)[^\r\n]+/gi, `$1${mask}`],
  [new RegExp(`([?&#](?:${nameOfSecret}|key|sig|signature)=)[^&\\s"'<>#]+`, "gi"), `$1${mask}`],
  // A one-time link to the page.
  [/(#link=)[\w-]{16,}/g, `$1${mask}`],
  [new RegExp(`(["'](?:${nameOfSecret})["']\\s*:\\s*)(?:"[^"]*"?|'[^']*'?)`, "gi"), `$1"${mask}"`],
  [/\b([A-Z0-9_]{0,64}(?:TOKEN|API_KEY|PASSWORD|SECRET|SECRET_KEY)=)[^\s"']+/g, `$1${mask}`],
  // As words on a command line: token=…, --api-key=…, --password ….
  [new RegExp(`((?:^|[\\s"'])(?:--?)?(?:${nameOfSecret})=)[^\\s"'&]+`, "gi"), `$1${mask}`],
  [new RegExp(`((?:^|\\s)--?(?:${nameOfSecret})\\s+)[^\\s"'-][^\\s"']*`, "gi"), `$1${mask}`],
  // The password in an address may itself hold an @.
  [/(:\/\/[^/\s:@]{0,256}:)[^/\s]{1,512}@/g, `$1${mask}@`],
  [/\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g, mask],
  [/\b[sp]k[-_][A-Za-z0-9_-]{16,}/g, mask],
  [/\bxox[a-z]-[A-Za-z0-9-]{8,}|\bxapp-[A-Za-z0-9-]{8,}/g, mask],
  [/\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}|\bglpat-[A-Za-z0-9_-]{16,}/g, mask],
  [/\bAIza[A-Za-z0-9_-]{30,}|\bAKIA[A-Z0-9]{12,}|\bhf_[A-Za-z0-9]{20,}|\bnpm_[A-Za-z0-9]{30,}/g, mask],
  [/(?<!\d)\d{5,14}:[A-Za-z0-9_-]{30,}/g, mask],
  [/\b[A-Za-z0-9_-]{23,28}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}/g, mask],
];

const most = { depth: 6, items: 100, values: 1_000, text: 8_192, all: 65_536 } as const;

export type Redactor = {
  /** One piece of text. */
  readonly text: (value: string) => string;
  /** Anything, as plain data that JSON can hold. */
  readonly facts: (value: unknown) => unknown;
};

/** `secrets` are hidden wherever they stand, also where they were escaped for an address or for JSON. */
export function redactor(secrets: readonly string[]): Redactor {
  const known = knownForms(secrets);
  const text = (value: string) => clip(hide(value.slice(0, 4 * most.text), known), most.text);
  return { text, facts: (value) => new Walk(text).facts(value) };
}

/** Shorter ones are words of ordinary sentences, and hiding them would garble what people read. */
const hiddenFrom = 6;

/**
 * Hides exactly the given secrets, in every form they take, in texts of any length; nothing is guessed by its shape and
 * nothing is cut. Where no secret occurs it is the same text.
 */
export function hideKnown(secrets: readonly string[]): (text: string) => string {
  const forms = knownForms(secrets.filter((one) => typeof one === "string" && one.length >= hiddenFrom));
  return masker(forms, mask);
}

/** Longest first, so that a secret inside another leaves no rest of the longer one. */
function knownForms(secrets: readonly string[]): readonly string[] {
  const forms = secrets
    .filter((one) => typeof one === "string" && one.length >= 4)
    .flatMap((one) => [one, JSON.stringify(one).slice(1, -1), uriForm(one), ...encodedForms(one)]);
  return [...new Set(forms)].sort((a, b) => b.length - a.length);
}

/** Of what was encoded together with its surroundings, these are long enough to be nothing else. */
const pieceMin = 8;

/** As base64 and as hex; in base64 also as it looks in the middle of something longer, such as a name and a password. */
function encodedForms(text: string): readonly string[] {
  const bytes = Buffer.from(text);
  const pieces = [0, 1, 2].map((before) => {
    const whole = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
    // Characters that also hold bits of a neighbour are not the same everywhere.
    const end = Math.floor(((before + bytes.length) * 8) / 6);
    return whole.slice(Math.ceil((before * 8) / 6), end);
  });
  const inside = [...pieces, bytes.toString("hex")].filter((one) => one.length >= pieceMin);
  const plain = [bytes.toString("base64"), ...inside];
  return [...plain, ...plain.map((one) => one.replaceAll("+", "-").replaceAll("/", "_"))];
}

function uriForm(text: string): string {
  // Half of a surrogate pair cannot be escaped and would throw.
  return encodeURIComponent(text.toWellFormed());
}

function hide(text: string, known: readonly string[]): string {
  let result = text;
  for (const secret of known) if (result.includes(secret)) result = result.replaceAll(secret, mask);
  for (const [pattern, instead] of patterns) result = result.replace(pattern, instead);
  return result;
}

function clip(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}… (${text.length - length} more)` : text;
}

/** One walk over one record, with what it may still write. */
class Walk {
  readonly #text: (value: string) => string;
  readonly #above = new Set<object>();
  #values = 0;
  #length = 0;

  constructor(text: (value: string) => string) {
    this.#text = text;
  }

  facts(value: unknown): unknown {
    try {
      return this.#plain(value, 0);
    } catch {
      return "[unreadable]";
    }
  }

  #plain(value: unknown, depth: number): unknown {
    this.#values += 1;
    if (this.#values > most.values || this.#length > most.all) return "[more]";
    switch (typeof value) {
      case "string":
        return this.#string(value);
      case "number":
        return Number.isFinite(value) ? value : String(value);
      case "bigint":
        return this.#string(value.toString());
      case "symbol":
        return this.#string(String(value));
      case "function":
        return "[function]";
      case "object":
        return value === null ? null : this.#object(value, depth);
      default:
        return value;
    }
  }

  #string(value: string): string {
    const result = this.#text(value);
    this.#length += result.length;
    return result;
  }

  #object(value: object, depth: number): unknown {
    if (this.#above.has(value)) return "[cycle]";
    if (depth >= most.depth) return "[deep]";
    this.#above.add(value);
    try {
      return this.#parts(value, depth + 1);
    } catch {
      // A getter or a proxy that fails costs its own value, not the record.
      return "[unreadable]";
    } finally {
      this.#above.delete(value);
    }
  }

  #parts(value: object, depth: number): unknown {
    if (value instanceof Error) return this.#error(value, depth);
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? "[no date]" : value.toISOString();
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`;
    if (value instanceof Map)
      return this.#entries(
        [...head(value.entries())].map(([key, one]) => [keyOf(key), one]),
        value.size,
        depth,
      );
    if (value instanceof Set) return this.#list([...head(value.values())], value.size, depth);
    if (Array.isArray(value)) return this.#list(value.slice(0, most.items), value.length, depth);
    if ("toJSON" in value && typeof value.toJSON === "function") return this.#plain(value.toJSON(), depth);
    const keys = Object.keys(value);
    const shown = keys.slice(0, most.items).map((key): [string, unknown] => [key, valueOf(value, key)]);
    return this.#entries(shown, keys.length, depth);
  }

  #list(items: readonly unknown[], size: number, depth: number): unknown {
    // Array.from also walks over holes.
    const shown = Array.from(items, (one) => this.#plain(one, depth));
    return size > shown.length ? [...shown, `[${size - shown.length} more]`] : shown;
  }

  #entries(entries: readonly (readonly [string, unknown])[], size: number, depth: number): unknown {
    const shown = entries.map(([key, one]) => {
      const isHidden = hiddenKey.test(key) && one !== null && one !== undefined && typeof one !== "boolean";
      return [this.#string(key), isHidden ? mask : this.#plain(one, depth)];
    });
    if (size > shown.length) shown.push(["…", `[${size - shown.length} more]`]);
    return Object.fromEntries(shown);
  }

  /** Faults are for people and need no stack; anything else that was thrown is ours to find. */
  #error(error: Error, depth: number): unknown {
    const entries: [string, unknown][] = [
      ["name", error.name],
      ["message", error.message],
    ];
    for (const key of ["code", "cause", "errors"]) {
      const value: unknown = valueOf(error, key);
      if (value !== undefined) entries.push([key, value]);
    }
    if (error.name !== "Fault" && typeof error.stack === "string") entries.push(["stack", error.stack]);
    return this.#entries(entries, entries.length, depth);
  }
}

function* head<T>(items: Iterable<T>): Iterable<T> {
  let taken = 0;
  for (const item of items) {
    if (taken++ >= most.items) return;
    yield item;
  }
}

function keyOf(key: unknown): string {
  return typeof key === "string" || typeof key === "number" || typeof key === "bigint" ? String(key) : typeof key;
}

function valueOf(value: object, key: string): unknown {
  try {
    return Reflect.get(value, key);
  } catch {
    return "[unreadable]";
  }
}
