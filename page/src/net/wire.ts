// What the gateway says over HTTP, read carefully: whatever arrives becomes one of these shapes or null.
// Nothing behind this file meets a value of an unknown shape.

/** A line of the transcript. `n` is the cursor; a user's message carries the id its client gave it as `key`. */
export type Message = {
  readonly n: number;
  readonly key: string;
  readonly role: "user" | "assistant" | "notice";
  readonly text: string;
  readonly at: number;
  readonly question?: { readonly id: string; readonly choices: readonly string[] };
};

/** One conversation as the gateway lists it. */
export type Listed = {
  readonly chat: string;
  readonly title: string;
  readonly activeAt: number;
  readonly lastN: number;
};

type Fields = { readonly [name: string]: unknown };

export function readMessage(value: unknown): Message | null {
  if (!isFields(value)) return null;
  const { n, key, role, text, at, question } = value;
  if (typeof n !== "number" || typeof key !== "string" || typeof text !== "string" || typeof at !== "number")
    return null;
  if (role !== "user" && role !== "assistant" && role !== "notice") return null;
  const asked = readQuestion(question);
  return asked === null ? { n, key, role, text, at } : { n, key, role, text, at, question: asked };
}

export function readMessages(value: unknown): readonly Message[] | null {
  if (!isFields(value) || !Array.isArray(value["messages"])) return null;
  return value["messages"].map(readMessage).filter((one) => one !== null);
}

export function readListing(value: unknown): readonly Listed[] | null {
  if (!isFields(value) || !Array.isArray(value["chats"])) return null;
  return value["chats"].map(readListed).filter((one) => one !== null);
}

export function readBoot(value: unknown): string | null {
  return isFields(value) && typeof value["boot"] === "string" ? value["boot"] : null;
}

/** The growing answer; null takes it away. Undefined when it is neither. */
export function readDraft(value: unknown): string | null | undefined {
  if (!isFields(value)) return undefined;
  const { text } = value;
  return typeof text === "string" || text === null ? text : undefined;
}

/** The sentence of an error answer. */
export function readError(value: unknown): string | null {
  if (!isFields(value) || !isFields(value["error"])) return null;
  const { message } = value["error"];
  return typeof message === "string" && message !== "" ? message : null;
}

/** `Retry-After` in its seconds form; a date is not worth a clock comparison. */
export function readRetryAfter(header: string | null): number | null {
  if (header === null || !/^\d{1,6}$/.test(header.trim())) return null;
  return Number(header) * 1000;
}

function readListed(value: unknown): Listed | null {
  if (!isFields(value)) return null;
  const { chat, title, activeAt, lastN } = value;
  if (typeof chat !== "string" || chat === "") return null;
  return {
    chat,
    title: typeof title === "string" ? title : "",
    activeAt: typeof activeAt === "number" ? activeAt : 0,
    lastN: typeof lastN === "number" ? lastN : 0,
  };
}

function readQuestion(value: unknown): { id: string; choices: readonly string[] } | null {
  if (!isFields(value) || typeof value["id"] !== "string" || !Array.isArray(value["choices"])) return null;
  return { id: value["id"], choices: value["choices"].filter((one) => typeof one === "string") };
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}
