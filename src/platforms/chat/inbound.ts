// A client's request as an Inbound. Pure: everything that can be wrong with the text of a request is found here, and
// the answer says what it is. The key carries the conversation, so that equal ids in two of them do not collide.

import type { Instant } from "../../core/ids.ts";
import { limits } from "../../core/limits.ts";
import type { Address, Body, FileRef, Inbound } from "../../core/message.ts";
import { chatLimits, isClientId } from "./api.ts";
import { type Refusal, badRequest, tooLarge } from "./faults.ts";
import { toKey } from "./place.ts";

/** Whoever holds the token is the owner of this gateway. */
const sender = "owner";

export type Read<T> =
  | { readonly type: "read"; readonly value: T }
  | { readonly type: "refused"; readonly why: Refusal };

export function readPost(bytes: ArrayBuffer, from: Address, sentAt: Instant): Read<Inbound> {
  const json = parseJson(bytes);
  if (json.type === "refused") return json;
  if (!isObject(json.value)) return wrong("The body must be a JSON object with `id` and `text`.");
  const { id, text, files, answer, ...rest } = json.value;
  const unknown = Object.keys(rest)[0];
  if (unknown !== undefined)
    return wrong(`Unknown field \`${unknown.slice(0, 64)}\`; known are id, text, files and answer.`);
  if (typeof id !== "string" || !isClientId(id))
    return wrong("`id` must be 1 to 64 letters, digits, - or _, made by the client once for each message.");
  const body = readBody(text, files, answer);
  if (body.type === "refused") return body;
  return { type: "read", value: { key: toKey(from.chat, id), from, sender, body: body.value, sentAt } };
}

function readBody(text: unknown, given: unknown, answer: unknown): Read<Body> {
  if ((text === undefined) === (answer === undefined)) return wrong("Give either `text` or `answer`.");
  const files = readFiles(given ?? []);
  if (files.type === "refused") return files;
  if (answer !== undefined) return given === undefined ? readAnswer(answer) : wrong("An answer carries no `files`.");
  if (typeof text !== "string") return wrong("`text` must be a string.");
  if (text.trim() === "" && files.value.length === 0) return wrong("`text` is empty; there is nothing to answer.");
  if (text.length > limits.textMax)
    return refused(tooLarge("The message", `${limits.textMax.toLocaleString("en")} characters`));
  return { type: "read", value: { kind: "text", text: text.toWellFormed(), files: files.value } };
}

/** As an upload was answered; whether they are there is looked at afterwards. */
function readFiles(given: unknown): Read<readonly FileRef[]> {
  if (!Array.isArray(given)) return wrong("`files` must be a list of uploaded files.");
  if (given.length > chatLimits.filesMax)
    return wrong(`At most ${chatLimits.filesMax} files go with one message, not ${given.length}.`);
  const files = given.map(readFile);
  const odd = files.indexOf(null);
  if (odd !== -1) return wrong(`\`files[${odd}]\` must be what the upload answered: name, mime, blob and bytes.`);
  return { type: "read", value: files.filter((one) => one !== null) };
}

function readFile(value: unknown): FileRef | null {
  if (!isObject(value)) return null;
  const { name, mime, blob, bytes } = value;
  if (typeof name !== "string" || typeof mime !== "string" || typeof blob !== "string") return null;
  if (!Number.isSafeInteger(bytes) || Number(bytes) < 0 || name === "" || name.length > 200) return null;
  if (!/^[\w.+-]+\/[\w.+-]+$/.test(mime) || mime.length > 100 || !/^[\w-]{1,128}$/.test(blob)) return null;
  // Nothing in a name may steer whatever shows it.
  return { name: name.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}/\\]/gu, "_"), mime, blob, bytes: Number(bytes) };
}

function readAnswer(answer: unknown): Read<Body> {
  if (!isObject(answer)) return wrong("`answer` must be an object with `question` and `choice`.");
  const { question, choice } = answer;
  if (typeof question !== "string" || question === "" || question.length > 128)
    return wrong("`answer.question` must be the id of the question.");
  if (typeof choice !== "string" || choice.trim() === "")
    return wrong("`answer.choice` must be a string and not empty.");
  if (choice.length > limits.textMax)
    return refused(tooLarge("The answer", `${limits.textMax.toLocaleString("en")} characters`));
  return { type: "read", value: { kind: "answer", question, choice: choice.toWellFormed() } };
}

function parseJson(bytes: ArrayBuffer): Read<unknown> {
  if (bytes.byteLength === 0) return wrong("The body is empty; it must be JSON with `id` and `text`.");
  try {
    return { type: "read", value: JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) };
  } catch (error) {
    if (error instanceof SyntaxError) return wrong(`The body is not JSON: ${error.message.slice(0, 200)}`);
    if (error instanceof TypeError) return wrong("The body is not UTF-8 text.");
    throw error;
  }
}

/** A whole number from a query or header; undefined when absent. */
export function readNumber(text: string | null, name: string): Read<number | undefined> {
  if (text === null || text === "") return { type: "read", value: undefined };
  if (!/^\d{1,15}$/.test(text)) return wrong(`\`${name}\` must be a whole number, not "${text.slice(0, 32)}".`);
  return { type: "read", value: Number(text) };
}

function wrong(message: string): { readonly type: "refused"; readonly why: Refusal } {
  return refused(badRequest(message));
}

function refused(why: Refusal): { readonly type: "refused"; readonly why: Refusal } {
  return { type: "refused", why };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
