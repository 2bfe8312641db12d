// Takes known secrets out of anything that JSON can hold, whatever its depth, and keeps its shape. Pure, never throws.

/** Takes secrets out of one text. */
export type Hide = (text: string) => string;

/** The same value when nothing had to be hidden, so that nobody pays for copies of what is clean. */
export function hideDeep(hide: Hide, value: unknown): unknown {
  if (typeof value === "string") return hide(value);
  if (typeof value !== "object" || value === null) return value;
  return new Walk(hide).whole(value);
}

type Open = { readonly from: object; readonly to: Record<string, unknown> | unknown[] };

/** Without recursion, because depth is in the hands of whoever made the value. */
class Walk {
  readonly #hide: Hide;
  /** What an object became; a cycle then leads to the copy of itself. */
  readonly #made = new Map<object, object>();
  readonly #open: Open[] = [];
  #changed = false;

  constructor(hide: Hide) {
    this.#hide = hide;
  }

  whole(value: object): unknown {
    const result = this.#copy(value);
    for (let next = this.#open.pop(); next !== undefined; next = this.#open.pop()) this.#fill(next);
    return this.#changed ? result : value;
  }

  #copy(value: unknown): unknown {
    if (typeof value === "string") return this.#text(value);
    if (typeof value !== "object" || value === null) return value;
    const known = this.#made.get(value);
    if (known !== undefined) return known;
    // Bytes, dates and the like are no text; whoever makes text of them hides it then.
    if (!Array.isArray(value) && !isRecord(value)) return value;
    const to: Open["to"] = Array.isArray(value) ? [] : {};
    this.#made.set(value, to);
    this.#open.push({ from: value, to });
    return to;
  }

  #fill({ from, to }: Open): void {
    for (const key of keysOf(from)) {
      const one = this.#copy(this.#valueOf(from, key));
      if (Array.isArray(to)) to[Number(key)] = one;
      // A plain assignment to __proto__ would change what the object is.
      else Object.defineProperty(to, this.#text(key), { value: one, ...ordinary });
    }
  }

  #text(text: string): string {
    const hidden = this.#hide(text);
    if (hidden !== text) this.#changed = true;
    return hidden;
  }

  #valueOf(from: object, key: string): unknown {
    try {
      return Reflect.get(from, key);
    } catch {
      this.#changed = true;
      return "[unreadable]";
    }
  }
}

const ordinary = { enumerable: true, configurable: true, writable: true } as const;

function isRecord(value: object): boolean {
  try {
    const kind: unknown = Object.getPrototypeOf(value);
    return kind === null || kind === Object.prototype;
  } catch {
    return false;
  }
}

function keysOf(value: object): readonly string[] {
  try {
    return Array.isArray(value) ? value.map((_, at) => String(at)) : Object.keys(value);
  } catch {
    return [];
  }
}
