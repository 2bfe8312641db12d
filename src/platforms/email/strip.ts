// The words that somebody wrote now, out of a mail that carries everything said before; pure. Where it is not clear what is
// old, nothing is taken away: too much is better read than too little.

/** "On Monday, Ann wrote:" in the languages that mail programs speak, also over two lines. */
const attribution =
  /^(?:on\b[\s\S]{0,200}?\bwrote|am\b[\s\S]{0,200}?\bschrieb[\s\S]{0,80}?|le\b[\s\S]{0,200}?\ba écrit|el\b[\s\S]{0,200}?\bescribió|il\b[\s\S]{0,200}?\bha scritto|em\b[\s\S]{0,200}?\bescreveu|op\b[\s\S]{0,200}?\bschreef[\s\S]{0,80}?)\s*:\s*$/i;
const divider =
  /^(?:-{2,}\s*(?:original message|ursprüngliche nachricht|message d'origine|forwarded message)\s*-{2,}|_{20,})\s*$/i;
const outlook = /^(?:\*?)(?:from|von|de|da):\*?\s.+$/i;
const outlookNext = /^(?:\*?)(?:sent|gesendet|envoyé|enviado|inviato|date|datum|to|an|à|para):\*?\s.+$/i;

export function stripQuoted(text: string): string {
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  const end = endOfOwn(lines);
  const own = lines.slice(0, end);
  const signature = own.findIndex((line) => line === "-- ");
  const kept = (signature < 0 ? own : own.slice(0, signature)).join("\n").trim();
  // Somebody who only quotes, or writes between the quotes, is read whole.
  return kept === "" ? text.replaceAll("\r\n", "\n").trim() : kept;
}

/** Where the copy of earlier mails begins: behind it nobody has written anything of their own. */
function endOfOwn(lines: readonly string[]): number {
  const isOwn = (line: string): boolean => line.trim() !== "" && !line.startsWith(">") && line !== "-- ";
  const lastOwn = lines.findLastIndex(isOwn);
  const lastQuote = lines.findLastIndex((line) => line.startsWith(">"));
  for (const [n, line] of lines.entries()) {
    const words = line.trim();
    if (words === "") continue;
    const next = (lines[n + 1] ?? "").trim();
    if (divider.test(words)) return n;
    if (outlook.test(words) && outlookNext.test(next)) return n;
    // The attribution is the last of what is no quote, on one line or on two.
    const onlyQuotesFollow = lastQuote > lastOwn;
    if (onlyQuotesFollow && lastOwn === n && attribution.test(words)) return n;
    if (onlyQuotesFollow && lastOwn === n + 1 && attribution.test(`${words}\n${next}`)) return n;
    if (line.startsWith(">") && lastOwn < n) return n;
  }
  return lines.length;
}

/** Words of a mail that is only HTML. Pictures and styles say nothing. */
export function htmlToText(html: string): string {
  return withoutUnseen(html)
    .replaceAll(/<blockquote\b[^<>]*>/gi, "\n\ue000")
    .replaceAll(/<\/blockquote\s*>/gi, "\ue001\n")
    .replaceAll(/<br\s*\/?>/gi, "\n")
    .replaceAll(/<li\b[^<>]*>/gi, "\n- ")
    .replaceAll(/<\/?(?:p|div|tr|table|ul|ol|h[1-6]|pre|hr)\b[^<>]*>/gi, "\n")
    .replaceAll(
      /<a\b[^<>]*href="(https?:[^"]+)"[^<>]*>([\s\S]{0,2000}?)<\/a\s*>/gi,
      (_, href: string, words: string) =>
        words.replaceAll(/<[^<>]*>/g, "").trim() === href ? href : `${words} (${href})`,
    )
    .replaceAll(/<[^<>]*>/g, "")
    .replaceAll(/&(#x?[0-9a-f]+|\w+);/gi, entity)
    .split(/([\ue000\ue001])/)
    .reduce(quoted, { out: "", depth: 0 })
    .out.replaceAll(/[ \t]+\n/g, "\n")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim();
}

/** Without what no reader sees: styles, scripts, titles. One that is never closed takes the rest with it, as in browsers. */
function withoutUnseen(html: string): string {
  const unseen = /<(style|script|title)\b/gi;
  const seen: string[] = [];
  for (let at = 0; at < html.length; ) {
    unseen.lastIndex = at;
    const found = unseen.exec(html);
    seen.push(html.slice(at, found?.index ?? html.length));
    if (found === null) break;
    const end = new RegExp(`</${found[1]}\\s*>`, "gi");
    end.lastIndex = found.index;
    at = end.exec(html) === null ? html.length : end.lastIndex;
  }
  return seen.join("");
}

function quoted(state: { readonly out: string; readonly depth: number }, piece: string) {
  if (piece === "\ue000") return { ...state, depth: state.depth + 1 };
  if (piece === "\ue001") return { ...state, depth: Math.max(0, state.depth - 1) };
  if (state.depth === 0) return { ...state, out: state.out + piece };
  const lines = piece.trim().split("\n");
  return { ...state, out: `${state.out}\n${lines.map((line) => `> ${line}`).join("\n")}\n` };
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " " };

function entity(whole: string, name: string): string {
  if (!name.startsWith("#")) return entities[name.toLowerCase()] ?? whole;
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
}
