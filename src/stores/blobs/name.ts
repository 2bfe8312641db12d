// The name of a stored file as people see it. Pure.

/** File systems allow 255 bytes; what is appended to a name while a file is written must fit as well. */
const nameMaxBytes = 200;
const extensionMaxBytes = 40;

/** A name as it can be shown and saved anywhere: one part, without signs that steer. */
export function safeName(name: string): string {
  const last = name.split(/[/\\]/).at(-1) ?? "";
  const clean = last.replace(/[\p{Cc}\p{Cf}\p{Cs}<>:"|?*]/gu, "_").trim();
  if (clean === "" || /^\.+$/.test(clean)) return "file";
  if (Buffer.byteLength(clean) <= nameMaxBytes) return clean;
  const extension = extensionOf(clean);
  const stem = clean.slice(0, clean.length - extension.length);
  return `${cutToBytes(stem, nameMaxBytes - Buffer.byteLength(extension)).trimEnd()}${extension}`;
}

/** An ending that is too long to be an extension counts as a part of the name. */
function extensionOf(name: string): string {
  const ending = /(?<=[^.])(?:\.tar)?\.[^.\s]+$/u.exec(name)?.[0] ?? "";
  return Buffer.byteLength(ending) <= extensionMaxBytes ? ending : "";
}

/** The beginning of a text that fits, cut between code points. */
function cutToBytes(text: string, max: number): string {
  let bytes = 0;
  let end = 0;
  for (const letter of text) {
    bytes += Buffer.byteLength(letter);
    if (bytes > max) break;
    end += letter.length;
  }
  return text.slice(0, end);
}
