// The words that somebody wrote now, out of a mail that carries everything said before; pure. Where it is not clear what is
// old, nothing is taken away: too much is better read than too little. Strangers write the lines, so each is looked at a
// fixed number of times, and patterns see short ones only.

/** "On Monday, Ann wrote:" in the languages that mail programs speak, also over two lines. */
const attribution =
  /^(?:on\b[\s\S]{0,200}?\bwrote|am\b[\s\S]{0,200}?\bschrieb[\s\S]{0,80}?|le\b[\s\S]{0,200}?\ba écrit|el\b[\s\S]{0,200}?\bescribió|il\b[\s\S]{0,200}?\bha scritto|em\b[\s\S]{0,200}?\bescreveu|op\b[\s\S]{0,200}?\bschreef[\s\S]{0,80}?)\s*:\s*$/i;
const divider =
  /^(?:-{2,}\s*(?:original message|ursprüngliche nachricht|message d'origine|forwarded message)\s*-{2,}|_{20,})\s*$/i;
const outlook = /^(?:\*?)(?:from|von|de|da):\*?\s.+$/i;
const outlookNext = /^(?:\*?)(?:sent|gesendet|envoyé|enviado|inviato|date|datum|to|an|à|para):\*?\s.+$/i;

/** What mail programs write above a quote is short; the beginning of a header tells what it is. */
const lineMax = 300;

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
    const words = line.slice(0, lineMax).trim();
    if (words === "") continue;
    const below = lines[n + 1] ?? "";
    const next = below.slice(0, lineMax).trim();
    const isShort = line.length <= lineMax;
    if (isShort && divider.test(words)) return n;
    if (outlook.test(words) && outlookNext.test(next)) return n;
    // The attribution is the last of what is no quote, on one line or on two.
    const onlyQuotesFollow = lastQuote > lastOwn && isShort;
    if (onlyQuotesFollow && lastOwn === n && attribution.test(words)) return n;
    const areShort = onlyQuotesFollow && below.length <= lineMax;
    if (areShort && lastOwn === n + 1 && attribution.test(`${words}\n${next}`)) return n;
    if (line.startsWith(">") && lastOwn < n) return n;
  }
  return lines.length;
}
