// The content of one message as OpenAI writes it: a text, or parts of text, pictures, sound and files. Pure. What cannot be
// had from its bytes alone becomes a line of the text, so that words never wait for media.

import { invalid, type Refusal } from "../faults.ts";
import type { GivenFile } from "../api.ts";

export type Content = { readonly text: string; readonly files: readonly GivenFile[] };

export function readContent(content: unknown, where: string): Content | Refusal {
  if (content === null || content === undefined) return { text: "", files: [] };
  if (typeof content === "string") return { text: content, files: [] };
  if (!Array.isArray(content)) return invalid(`\`${where}\` must be a text or a list of parts.`, where);
  const texts: string[] = [];
  const files: GivenFile[] = [];
  for (const [i, part] of content.entries()) {
    const read = readPart(part, `${where}[${i}]`, files.length + 1);
    if ("status" in read) return read;
    if (read.text !== "") texts.push(read.text);
    files.push(...read.files);
  }
  return { text: texts.join("\n\n"), files };
}

type Part = Readonly<Record<string, unknown>>;

function readPart(part: unknown, where: string, n: number): Content | Refusal {
  if (typeof part !== "object" || part === null)
    return invalid(`\`${where}\` must be an object with a \`type\`.`, where);
  const given = part as Part;
  switch (given["type"]) {
    case "text":
    case "input_text":
    case "output_text":
    case "refusal": {
      const text = given["text"] ?? given["refusal"];
      return typeof text === "string" ? { text, files: [] } : invalid(`\`${where}.text\` must be text.`, where);
    }
    case "image_url":
      return readPicture(given["image_url"], `${where}.image_url`, n);
    case "input_audio":
      return readSound(given["input_audio"], `${where}.input_audio`, n);
    case "file":
      return readFile(given["file"], `${where}.file`, n);
    default:
      return invalid(
        `\`${where}.type\` must be text, image_url, input_audio or file.`,
        `${where}.type`,
        "unsupported_content",
      );
  }
}

function readPicture(given: unknown, where: string, n: number): Content | Refusal {
  const url = typeof given === "string" ? given : (given as Part | null | undefined)?.["url"];
  if (typeof url !== "string" || url === "") return invalid(`\`${where}.url\` must be an address.`, where);
  // Fetching what a caller names would let it reach addresses that only the gateway can; its agent has a tool for that.
  if (/^https?:\/\//i.test(url)) return { text: `[picture: ${url}]`, files: [] };
  return fileOf(readDataUrl(url), where, `picture-${n}`, null);
}

function readSound(given: unknown, where: string, n: number): Content | Refusal {
  const { data, format } = (given ?? {}) as Part;
  if (typeof data !== "string") return invalid(`\`${where}.data\` must be base64.`, where);
  const kind = typeof format === "string" && /^[a-z0-9]{1,8}$/.test(format) ? format : "wav";
  const found = data.startsWith("data:")
    ? readDataUrl(data)
    : { mime: soundTypes[kind] ?? `audio/${kind}`, base64: data };
  return fileOf(found, where, `sound-${n}`, null);
}

const soundTypes: Readonly<Record<string, string>> = { mp3: "audio/mpeg", wav: "audio/wav", m4a: "audio/mp4" };

function readFile(given: unknown, where: string, n: number): Content | Refusal {
  const { file_data: data, filename, file_id: id } = (given ?? {}) as Part;
  const name = typeof filename === "string" && filename.trim() !== "" ? filename : null;
  if (typeof data !== "string") {
    if (typeof id !== "string") return invalid(`\`${where}.file_data\` must be base64 or a data URL.`, where);
    return { text: `[file ${name ?? id} was only named, not sent: its content must come as file_data]`, files: [] };
  }
  const found = data.startsWith("data:") ? readDataUrl(data) : { mime: "application/octet-stream", base64: data };
  return fileOf(found, where, `file-${n}`, name);
}

type Encoded = { readonly mime: string; readonly base64: string };

/** By where it begins and ends: what stands between may be of any length. */
function readDataUrl(url: string): Encoded | null {
  const comma = url.indexOf(",");
  const head = url.slice(0, Math.max(comma, 0));
  if (!/^data:/i.test(head) || !/^;base64$/i.test(head.slice(-7))) return null;
  return { mime: head.slice(5, head.indexOf(";")).trim().toLowerCase(), base64: url.slice(comma + 1) };
}

function fileOf(found: Encoded | null, where: string, named: string, name: string | null): Content | Refusal {
  if (found === null)
    return invalid(`\`${where}\` must be an http address or a data URL such as data:image/png;base64,….`, where);
  const base64 = found.base64.replaceAll(/\s+/g, "");
  if (base64 === "" || !/^[A-Za-z0-9+/_-]*={0,2}$/.test(base64))
    return invalid(`\`${where}\` is not base64.`, where, "invalid_base64");
  const mime = found.mime === "" ? "application/octet-stream" : found.mime;
  const bytes = Buffer.from(base64.replaceAll("-", "+").replaceAll("_", "/"), "base64");
  return { text: "", files: [{ name: name ?? `${named}.${endingOf(mime)}`, mime, bytes }] };
}

function endingOf(mime: string): string {
  const known: Readonly<Record<string, string>> = { "image/jpeg": "jpg", "audio/mpeg": "mp3", "text/plain": "txt" };
  return known[mime] ?? /^[a-z]+\/([a-z0-9]{1,8})$/.exec(mime)?.[1] ?? "bin";
}
