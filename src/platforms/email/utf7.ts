// UTF-7 (RFC 2152), which old mail programs still write and no decoder of the platform knows. Pure. The mail parser takes such
// bytes for ASCII, so bodies are decoded after it and encoded words of the headers before it.

/** `+AOQ-` is ä, `+-` is a plus sign; what is neither stays as it is. */
export function decodeUtf7(text: string): string {
  return text.replaceAll(/\+([A-Za-z0-9+/]*)(-?)/g, (whole, coded: string, end: string) => {
    if (coded === "") return end === "-" ? "+" : whole;
    const bytes = Buffer.from(coded, "base64");
    const units = bytes.subarray(0, bytes.length - (bytes.length % 2)).swap16();
    // Fewer than 16 bits are no character: a plus sign that was not escaped.
    return units.length === 0 ? whole : units.toString("utf16le").toWellFormed();
  });
}

/** Which of its words a mail says to be UTF-7. */
export type Utf7Parts = { readonly isText: boolean; readonly isHtml: boolean };

const label = /utf-?7\b/i;

/** By the `Content-Type` of its parts. Nearly always there are none, and then it costs one look. */
export function utf7PartsOf(source: Uint8Array): Utf7Parts {
  const ascii = Buffer.from(source.buffer, source.byteOffset, source.length).toString("latin1");
  if (!label.test(ascii)) return { isText: false, isHtml: false };
  const types = contentTypesIn(ascii).filter((type) => /charset\s?=\s?["']?(?:x-|unicode-1-1-)?utf-?7\b/i.test(type));
  return {
    isText: types.some((type) => /^content-type:\s?text\/plain\b/i.test(type)),
    isHtml: types.some((type) => /^content-type:\s?text\/html\b/i.test(type)),
  };
}

/** Headers stand at the top and behind each boundary that they announce, up to an empty line; a body may quote some. */
function contentTypesIn(mail: string): readonly string[] {
  const types: string[] = [];
  const boundaries = new Set<string>();
  let block: string[] | null = [];
  for (const line of [...mail.split("\n"), ""]) {
    const text = line.endsWith("\r") ? line.slice(0, -1) : line;
    if (block === null) {
      if (text.startsWith("--") && boundaries.has(text.slice(2).trimEnd())) block = [];
    } else if (text !== "") block.push(text);
    else {
      const found = block
        .join("\n")
        .replaceAll(/\n[ \t]+/g, " ")
        .split("\n")
        .filter((one) => /^content-type:/i.test(one));
      for (const type of found) {
        types.push(type);
        const named = /\bboundary\s?=\s?(?:"([^"]+)"|([^\s;"]+))/i.exec(type);
        const boundary = named?.[1] ?? named?.[2];
        if (boundary !== undefined) boundaries.add(boundary.trimEnd());
      }
      block = null;
    }
  }
  return types;
}

/** The same mail; encoded words of its headers that are UTF-7 are UTF-8. */
export function withReadableHeaders(source: Uint8Array): Uint8Array {
  const bytes = Buffer.from(source.buffer, source.byteOffset, source.length);
  const found = /\r?\n\r?\n/.exec(bytes.toString("latin1", 0, headersMax));
  const heads = bytes.toString("latin1", 0, found?.index ?? headersMax);
  if (!label.test(heads)) return source;
  const readable = heads.replaceAll(
    /=\?(?:unicode-1-1-)?utf-?7(?:\*[^?\s]*)?\?([qb])\?([^?\s]*)\?=/gi,
    (_, kind: string, coded: string) => {
      const text = kind.toLowerCase() === "b" ? Buffer.from(coded, "base64").toString("latin1") : unquoted(coded);
      return `=?utf-8?B?${Buffer.from(decodeUtf7(text)).toString("base64")}?=`;
    },
  );
  return Buffer.concat([Buffer.from(readable, "latin1"), bytes.subarray(heads.length)]);
}

const headersMax = 256_000;

function unquoted(text: string): string {
  return text
    .replaceAll("_", " ")
    .replaceAll(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
