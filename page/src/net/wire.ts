// What the gateway says over HTTP, read carefully: whatever arrives becomes one of these shapes or null.
// Nothing behind this file meets a value of an unknown shape.

/** A line of the transcript. `n` is the cursor; a user's message carries the id its client gave it as `key`. */
export type Message = {
  readonly n: number;
  readonly key: string;
  readonly role: "user" | "assistant" | "notice";
  readonly text: string;
  readonly at: number;
  readonly session?: string;
  /** The one that it began, joined, answered or was said in. */
  readonly turn?: string;
  readonly question?: Question;
  readonly files?: readonly FileRef[];
};

export type Question = {
  readonly id: string;
  readonly choices: readonly string[];
  /** Something is done or left, by the answer. */
  readonly approval: boolean;
};

/** A file that the gateway has; `blob` names its content. */
export type FileRef = {
  readonly name: string;
  readonly mime: string;
  readonly blob: string;
  readonly bytes: number;
};

/** What became of a question. */
export type Fate =
  | { readonly type: "open" }
  | { readonly type: "answered"; readonly choice: string }
  | { readonly type: "expired" }
  | { readonly type: "withdrawn"; readonly why: string };

/** The model of a conversation and what it has used; cost in millionths of a US dollar, null where none is known. */
export type Used = {
  readonly model: string | null;
  readonly tokens: number;
  readonly cost: number | null;
  /** Its latest turn has neither ended nor waits for anybody. */
  readonly working: boolean;
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
  const { n, key, role, text, at, question, session, turn } = value;
  if (typeof n !== "number" || typeof key !== "string" || typeof text !== "string" || typeof at !== "number")
    return null;
  if (role !== "user" && role !== "assistant" && role !== "notice") return null;
  const asked = readQuestion(question);
  const files = readFiles(value["files"]);
  return {
    n,
    key,
    role,
    text,
    at,
    ...(typeof session === "string" ? { session } : {}),
    ...(typeof turn === "string" ? { turn } : {}),
    ...(asked === null ? {} : { question: asked }),
    ...(files.length === 0 ? {} : { files }),
  };
}

export function readFiles(value: unknown): readonly FileRef[] {
  return Array.isArray(value) ? value.map(readFile).filter((one) => one !== null) : [];
}

/** The answer to an upload. */
export function readUploaded(value: unknown): FileRef | null {
  return isFields(value) ? readFile(value["file"]) : null;
}

export function readFate(value: unknown): Fate | null {
  if (!isFields(value) || !isFields(value["fate"])) return null;
  const { type, choice, why } = value["fate"];
  if (type === "answered" && typeof choice === "string") return { type, choice };
  if (type === "withdrawn") return { type, why: typeof why === "string" ? why : "" };
  return type === "open" || type === "expired" ? { type } : null;
}

export function readUsed(value: unknown): Used | null {
  if (!isFields(value) || !isFields(value["session"]) || !isFields(value["used"])) return null;
  const { total, models } = value["used"];
  const { model } = value["session"];
  if (!isFields(total) || !Array.isArray(models)) return null;
  const [input = 0, output = 0, cost = 0, steps = 0, unpriced = 0] = [
    total["input"],
    total["output"],
    total["cost"],
    total["steps"],
    total["unpriced"],
  ].map((one) => (typeof one === "number" ? one : 0));
  const latest: unknown = typeof model === "string" ? model : models[0];
  return {
    model: typeof latest === "string" ? latest : null,
    tokens: input + output,
    cost: steps === 0 || unpriced >= steps ? null : cost,
    working: isUnderWay(value["turns"]),
  };
}

function isUnderWay(turns: unknown): boolean {
  const latest: unknown = Array.isArray(turns) ? turns[0] : undefined;
  return isFields(latest) && ["queued", "running", "parked", "restarting"].includes(String(latest["state"]));
}

export function readMessages(value: unknown): readonly Message[] | null {
  if (!isFields(value) || !Array.isArray(value["messages"])) return null;
  return value["messages"].map(readMessage).filter((one) => one !== null);
}

export function readListing(value: unknown): readonly Listed[] | null {
  if (!isFields(value) || !Array.isArray(value["chats"])) return null;
  return value["chats"].map(readListed).filter((one) => one !== null);
}

export function readHello(value: unknown): { readonly boot: string | null; readonly offline: boolean } {
  if (!isFields(value)) return { boot: null, offline: false };
  const { boot, offline } = value;
  return { boot: typeof boot === "string" ? boot : null, offline: offline === true };
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

function readQuestion(value: unknown): Question | null {
  if (!isFields(value) || typeof value["id"] !== "string" || !Array.isArray(value["choices"])) return null;
  const choices = value["choices"].filter((one) => typeof one === "string");
  return { id: value["id"], choices, approval: value["kind"] === "approval" };
}

function readFile(value: unknown): FileRef | null {
  if (!isFields(value)) return null;
  const { name, mime, blob, bytes } = value;
  if (typeof name !== "string" || typeof mime !== "string" || typeof blob !== "string") return null;
  return { name, mime, blob, bytes: typeof bytes === "number" ? bytes : 0 };
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}
