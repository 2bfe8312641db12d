// What callers may send, checked and turned into what the engine takes. Pure. What a request means is decided here: which
// conversation it belongs to by name, which words are new, and what comes with them as context.

import { createHash } from "node:crypto";
import type { CallOptions } from "../../core/call-options.ts";
import type { Instant } from "../../core/ids.ts";
import type { Address, FileRef, Inbound } from "../../core/message.ts";
import { readCommand } from "../../core/route.ts";
import { type ChatRequest, type Said, account, apiLimits, defaultModel } from "./api.ts";
import { readContent } from "./asked/content.ts";
import { readOptions } from "./asked/options.ts";
import { type Refusal, invalid } from "./faults.ts";

type Fields = Readonly<Record<string, unknown>>;

export function readRequest(body: string): ChatRequest | Refusal {
  let given: unknown;
  try {
    given = JSON.parse(body);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return invalid(`The body is not JSON: ${error.message}.`, undefined, "invalid_json");
  }
  if (typeof given !== "object" || given === null || Array.isArray(given))
    return invalid("The body must be a JSON object.", undefined, "invalid_json");
  const fields = given as Fields;
  const { model, stream, stream_options: streaming, user } = fields;
  if (stream !== undefined && stream !== null && typeof stream !== "boolean")
    return invalid("`stream` must be true or false.", "stream");
  if (model !== undefined && model !== null && typeof model !== "string")
    return invalid("`model` must be the name of a model.", "model");
  const options = readOptions(fields);
  if ("status" in options) return options;
  const messages = readMessages(fields["messages"]);
  if ("status" in messages) return messages;
  return {
    model: typeof model === "string" && model !== "" ? model : defaultModel,
    stream: stream === true,
    includeUsage: (streaming as Fields | null | undefined)?.["include_usage"] === true,
    user: typeof user === "string" && user.trim() !== "" ? user : null,
    messages,
    options,
  };
}

const roles: Readonly<Record<string, Said["role"]>> = {
  system: "system",
  developer: "system",
  user: "user",
  assistant: "assistant",
  tool: "tool",
  function: "tool",
};

function readMessages(given: unknown): readonly Said[] | Refusal {
  if (!Array.isArray(given) || given.length === 0)
    return invalid("`messages` must be a list with at least one message.", "messages");
  if (given.length > apiLimits.messagesMax)
    return invalid(`\`messages\` has more than ${apiLimits.messagesMax} messages.`, "messages");
  const messages: Said[] = [];
  for (const [i, one] of (given as readonly unknown[]).entries()) {
    const where = `messages[${i}]`;
    if (typeof one !== "object" || one === null) return invalid(`\`${where}\` must be an object.`, where);
    const { role, content } = one as Fields;
    const known = typeof role === "string" && Object.hasOwn(roles, role) ? roles[role] : undefined;
    if (known === undefined)
      return invalid(`\`${where}.role\` must be system, developer, user, assistant or tool.`, `${where}.role`);
    const read = readContent(content, `${where}.content`);
    if ("status" in read) return read;
    messages.push({ role: known, ...read });
  }
  return messages;
}

/** A request taken apart: the newest words, what was said before them, and what the app says to the agent. */
export type Asked = { readonly newest: Said; readonly before: readonly Said[]; readonly system: readonly string[] };

export function takeApart(messages: readonly Said[]): Asked | Refusal {
  const at = messages.findLastIndex(({ role }) => role === "user");
  const last = messages.findLastIndex(({ role }) => role === "assistant" || role === "tool");
  const newest = messages[at];
  if (newest === undefined || last > at)
    return invalid("The last message must be from the user: there is nothing to answer.", "messages");
  if (newest.text.trim() === "" && newest.files.length === 0)
    return invalid("The last message of the user is empty.", `messages[${at}].content`);
  if (newest.files.length > apiLimits.filesMax)
    return invalid(`At most ${apiLimits.filesMax} files may come with one message.`, `messages[${at}].content`);
  const system = messages.flatMap(({ role, text }) => (role === "system" && text.trim() !== "" ? [text] : []));
  return { newest, before: messages.slice(0, at).filter(({ role }) => role !== "system"), system };
}

const earlier = "[What was said before in this conversation, as the app tells it:]";
const instructions = "[What the app says about itself and how to answer:]";

/**
 * The text of a first message: the new words in front, so that lists show them, then what the conversation was before and
 * what the app wants. A command stays alone, else it would be none.
 */
export function firstText(asked: Asked): string {
  const words = plainText(asked);
  if (isCommand(asked.newest) || asked.system.length === 0) return words;
  return `${words}\n\n${instructions}\n${asked.system.join("\n\n")}`;
}

/** The same without what the app wants, which many apps write anew each time. */
export function plainText({ newest, before }: Pick<Asked, "newest" | "before">): string {
  if (before.length === 0 || isCommand(newest)) return newest.text;
  const lines = before.map(({ role, text, files }) => {
    const attached = files.map(({ name }) => `[file ${name}]`);
    return `${role}: ${[text, ...attached].filter((one) => one !== "").join("\n")}`;
  });
  return `${newest.text}\n\n${earlier}\n${lines.join("\n\n")}`;
}

/** Whether a stored first message is one with this plain text, whatever the app wanted then. */
export function isFirst(stored: string, plain: string): boolean {
  return stored === plain || stored.startsWith(`${plain}\n\n${instructions}\n`);
}

function isCommand({ text, files }: Said): boolean {
  return files.length === 0 && readCommand({ kind: "text", text, files: [] }) !== null;
}

/** Null when it cannot be the name of a conversation. */
export function readSession(given: string): string | null {
  const name = given.trim();
  return name !== "" && name.length <= 200 && !/\p{Cc}/u.test(name) ? name : null;
}

export function readKey(given: string): string | null {
  return /^[\x21-\x7e]{1,255}$/.test(given) ? given : null;
}

export function addressOf(caller: string, session: string): Address {
  return { platform: "api", account, chat: caller, thread: session };
}

/** The id of an answer follows from its caller and key, so that a repeat has the same and nobody else can name it. */
export function idOf(caller: string, key: string): string {
  const hash = createHash("sha256")
    .update(JSON.stringify([caller, key]))
    .digest("base64url");
  return `chatcmpl-${hash.slice(0, 32)}`;
}

export function inboundKey(caller: string, id: string): string {
  return `${caller}:${id}`;
}

export function toInbound(
  caller: string,
  id: string,
  from: Address,
  words: {
    readonly text: string;
    readonly files: readonly FileRef[];
    readonly print: string;
    readonly carries?: boolean;
    readonly options?: CallOptions | undefined;
  },
  at: Instant,
): Inbound {
  const body = { kind: "text", text: words.text, files: words.files } as const;
  const hints = { asked: words.print };
  return {
    key: inboundKey(caller, id),
    from,
    sender: caller,
    name: caller,
    body,
    sentAt: at,
    hints,
    ...(words.carries === true ? { carries: true } : {}),
    ...(words.options === undefined ? {} : { options: words.options }),
  };
}
