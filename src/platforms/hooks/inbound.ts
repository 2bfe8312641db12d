// What a webhook brings, turned into what the engine takes. Pure. Words that were made from a foreign body carry its name in
// front: nothing that strangers wrote there can be a command or the answer to an approval.

import type { Instant } from "../../core/ids.ts";
import type { Address, FileRef, Inbound } from "../../core/message.ts";
import { type Hook, account, hookLimits } from "./api.ts";
import { type Refusal, badRequest } from "./faults.ts";

export type GivenFile = { readonly name: string; readonly mime: string; readonly bytes: Uint8Array };

export type Call = {
  readonly id: string;
  readonly chat: string | null;
  readonly sender: string | null;
  readonly text: string;
  readonly files: readonly GivenFile[];
};

type Fields = Readonly<Record<string, unknown>>;

/** `print` names a request whose sender gave it no name of its own: no other request has it. */
export function readCall(hook: Hook, headers: Headers, body: Uint8Array, print: string): Call | Refusal {
  const given = parse(body);
  if (given === null) return badRequest("The body must be a JSON object in UTF-8.");
  const unnamed = () => (hook.style === "github" ? delivery(headers) : null) ?? print;
  const configured = hook.id === undefined ? null : usableId(at(given, hook.id));
  if (hook.text !== undefined) {
    const words = fill(hook.text, given).trim();
    if (words === "") return badRequest("The template of this hook finds no words in this body.");
    // `id` of a foreign body is mostly that of a thing to which much happens, not that of what happened.
    const text = `Webhook ${hook.name}:\n${words}`;
    return { id: configured ?? unnamed(), chat: null, sender: null, text, files: [] };
  }
  const own = usableId(given["id"]);
  if (own === null && given["id"] !== undefined && given["id"] !== null)
    return badRequest("`id` must be 1 to 200 visible ASCII characters.");
  const id = configured ?? own ?? unnamed();
  const [chat, sender] = [readName(given["chat"]), readName(given["sender"])];
  if (chat === undefined || sender === undefined)
    return badRequest("`chat` and `sender` must be texts of 1 to 200 characters.");
  const files = readFiles(given["files"]);
  if ("status" in files) return files;
  const { text } = given;
  if (typeof text !== "string" || (text.trim() === "" && files.length === 0))
    return badRequest(
      "`text` must be a text that is not empty. For a body of another shape, set `text` of this hook to a template.",
    );
  return { id, chat, sender, text, files };
}

function parse(body: Uint8Array): Fields | null {
  try {
    const given: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
    return typeof given === "object" && given !== null && !Array.isArray(given) ? (given as Fields) : null;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return null;
    throw error;
  }
}

const deliveryHeaders = ["x-github-delivery", "webhook-id", "idempotency-key"] as const;

/** Headers are not signed: only for a style whose senders give the name of what happened nowhere else. */
function delivery(headers: Headers): string | null {
  return deliveryHeaders.map((name) => headers.get(name)).find((one) => one !== null && isId(one)) ?? null;
}

function usableId(given: unknown): string | null {
  if (typeof given === "number" && Number.isSafeInteger(given)) return String(given);
  return typeof given === "string" && isId(given) ? given : null;
}

function isId(text: string): boolean {
  return /^[\x21-\x7e]{1,200}$/.test(text);
}

/** Null where there is none, undefined where it is not usable. */
function readName(given: unknown): string | null | undefined {
  if (given === undefined || given === null) return null;
  if (typeof given !== "string") return undefined;
  const name = given.trim();
  return name !== "" && name.length <= 200 && !/\p{Cc}/u.test(name) ? name : undefined;
}

function readFiles(given: unknown): readonly GivenFile[] | Refusal {
  if (given === undefined || given === null) return [];
  if (!Array.isArray(given) || given.length > hookLimits.filesMax)
    return badRequest(`\`files\` must be a list of at most ${hookLimits.filesMax} files.`);
  const files: GivenFile[] = [];
  for (const one of given as readonly (Fields | null)[]) {
    const { name, mime, data } = one ?? {};
    // Without its blanks first: looking for them at the end of what may be blanks takes the square of their number.
    const base64 = typeof data === "string" ? data.replaceAll(/\s+/g, "") : "";
    const isWhole = typeof name === "string" && name.trim() !== "" && base64 !== "";
    if (!isWhole || !/^[A-Za-z0-9+/]*={0,2}$/.test(base64))
      return badRequest("Each of `files` must have a `name` and its content as base64 in `data`.");
    const kind = typeof mime === "string" && /^[\w.+-]+\/[\w.+-]+$/.test(mime) ? mime : "application/octet-stream";
    files.push({ name, mime: kind, bytes: Buffer.from(base64, "base64") });
  }
  return files;
}

/**
 * `{{commits.0.message}}` is what stands there; what is no text is shown as JSON, and what is not there, or is too
 * deep, as nothing.
 */
export function fill(template: string, body: unknown): string {
  return template.replaceAll(/\{\{\s*([\w$.-]+)\s*\}\}/g, (_, path: string) => {
    const found = at(body, path);
    if (found === null || found === undefined) return "";
    return typeof found === "string" ? found : shown(found);
  });
}

/** Writing a value takes the square of its depth, and nobody reads one that deep. */
function shown(value: unknown): string {
  return isDeeper(value, 100) ? "" : JSON.stringify(value);
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((one) => isDeeper(one, levels - 1));
}

function at(body: unknown, path: string): unknown {
  let here = body;
  for (const step of path.split(".")) {
    if (typeof here !== "object" || here === null || !Object.hasOwn(here, step)) return undefined;
    here = (here as Fields)[step];
  }
  return here;
}

export function addressOf(hook: string, chat: string | null): Address {
  const place = { platform: "hooks", account, chat: hook };
  return chat === null ? place : { ...place, thread: chat };
}

export function toInbound(hook: Hook, call: Call, files: readonly FileRef[], at: Instant): Inbound {
  const { id, chat, sender, text } = call;
  // A template takes its words from anybody's, and so does whoever signs as GitHub does; our own way is for own programs.
  const isStrange = hook.text !== undefined || hook.style === "github";
  return {
    key: `${hook.name}:${id}`,
    from: addressOf(hook.name, chat),
    sender: sender === null ? hook.name : `${hook.name}/${sender}`,
    ...(sender === null ? {} : { name: sender }),
    body: { kind: "text", text, files },
    sentAt: at,
    hints: { request: id },
    ...(isStrange ? { outside: true } : {}),
    ...(hook.text === undefined ? {} : { task: hook.text }),
  };
}
