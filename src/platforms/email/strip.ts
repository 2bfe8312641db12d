// The words that somebody wrote now, out of a mail that carries everything said before; pure. Where it is not clear what is
// old, nothing is taken away: too much is better read than too little. Strangers write the lines, so each is looked at a
// fixed number of times, and patterns see short ones only.

/** `isReply`: it names a mail before it. Without one nothing in it was said before. */
export type Around = { readonly subject: string; readonly isReply: boolean };

/** "On Monday, Ann wrote:" in the languages that mail programs speak, also over two lines. */
const attribution =
  /^(?:on\b[\s\S]{0,200}?\bwrote|am\b[\s\S]{0,200}?\bschrieb[\s\S]{0,80}?|le\b[\s\S]{0,200}?\ba écrit|el\b[\s\S]{0,200}?\bescribió|il\b[\s\S]{0,200}?\bha scritto|em\b[\s\S]{0,200}?\bescreveu|op\b[\s\S]{0,200}?\bschreef[\s\S]{0,80}?)\s*:\s*$/i;
const divider = /^-{2,}\s*(?:original message|ursprüngliche nachricht|message d'origine)\s*-{2,}$/i;
const rule = /^_{20,}$/;

/** How subjects begin of what is passed on; servers may put a tag before. A reply to it begins otherwise. */
const passedOn = /^(?:\[[^\]]{1,40}\]\s?)?\[?(?:fwd?|wg|tr|rv|enc|i|doorst|vb|vs)\s?:/i;
/** What they write above it, for the case that somebody changed the subject. */
const forward =
  /^(?:-{2,}\s*(?:forwarded message|weitergeleitete nachricht|message transféré|mensaje reenviado|messaggio inoltrato|mensagem encaminhada|doorgestuurd bericht)\s*-{2,}|(?:begin forwarded message|anfang der weitergeleiteten nachricht|début du message (?:transféré|réexpédié)|inicio del mensaje reenviado|inizio messaggio inoltrato|início da mensagem (?:re)?encaminhada|begin doorgestuurd bericht)\s?:)$/i;

type Header = "from" | "when" | "to" | "subject";

/** What stands above a copy in the manner of Outlook. */
const names: Readonly<Record<Header, string>> = {
  from: "from,von,de,da,van",
  when: "sent,gesendet,envoyé,enviado,enviado el,enviado em,enviada em,inviato,verzonden,date,datum,data,fecha",
  to: "to,an,à,para,a,aan,cc",
  subject: "subject,betreff,objet,asunto,oggetto,assunto,onderwerp",
};
const headers: ReadonlyMap<string, Header> = new Map(
  Object.entries(names).flatMap(([header, all]) => all.split(",").map((name) => [name, header as Header] as const)),
);
const headersMax = 6;

/** What mail programs write above a quote is short; the beginning of a header tells what it is. */
const lineMax = 300;

export function stripQuoted(text: string, { subject, isReply }: Around): string {
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  const whole = lines.join("\n").trim();
  if (passedOn.test(subject)) return whole;
  const own = isReply ? lines.slice(0, endOfOwn(lines)) : lines;
  const kept = own.slice(0, signatureIn(own)).join("\n").trim();
  // Somebody who only quotes, or writes between the quotes, is read whole.
  return kept === "" ? whole : kept;
}

/** Whether a text, as it was kept, repeats what others wrote: forwarded, or quoted between the lines. */
export function carriesOthers(kept: string, subject: string): boolean {
  const lines = kept.split("\n");
  const isCopied = (line: string, n: number): boolean =>
    line.startsWith(">") || isForward(line) || isDivider(line) || isBlock(lines, n);
  return passedOn.test(subject) || lines.some(isCopied);
}

/** Where the signature begins. What is passed on may stand below it, and then all of it stays. */
function signatureIn(own: readonly string[]): number {
  const at = own.indexOf("-- ");
  const isCopy = (line: string, n: number): boolean =>
    line.startsWith(">") || isForward(line) || isDivider(line) || isBlock(own, n);
  return at < 0 || own.some((line, n) => n > at && isCopy(line, n)) ? own.length : at;
}

/** Where the copy of earlier mails begins: behind it nobody has written anything of their own. */
function endOfOwn(lines: readonly string[]): number {
  const isOwn = (line: string): boolean => line.trim() !== "" && !line.startsWith(">") && line !== "-- ";
  const lastOwn = lines.findLastIndex(isOwn);
  const lastQuote = lines.findLastIndex((line) => line.startsWith(">"));
  for (const [n, line] of lines.entries()) {
    const words = line.slice(0, lineMax).trim();
    if (words === "") continue;
    if (isForward(line)) return lines.length;
    const below = lines[n + 1] ?? "";
    const next = below.slice(0, lineMax).trim();
    const isShort = line.length <= lineMax;
    if (isDivider(line)) return n;
    if (isShort && rule.test(words) && isBlock(lines, next === "" ? n + 2 : n + 1)) return n;
    if (isBlock(lines, n)) return n;
    // The attribution is the last of what is no quote, on one line or on two.
    const onlyQuotesFollow = lastQuote > lastOwn && isShort;
    if (onlyQuotesFollow && lastOwn === n && attribution.test(words)) return n;
    const areShort = onlyQuotesFollow && below.length <= lineMax;
    if (areShort && lastOwn === n + 1 && attribution.test(`${words}\n${next}`)) return n;
    if (line.startsWith(">") && lastOwn < n) return n;
  }
  return lines.length;
}

function isForward(line: string): boolean {
  return line.length <= lineMax && forward.test(line.trim());
}

function isDivider(line: string): boolean {
  return line.length <= lineMax && divider.test(line.trim());
}

/**
 * Whether the headers of an earlier mail begin here: three or more on their own, with its date right behind its sender, or
 * with its subject. "From: Berlin, To: Munich" is what somebody wants.
 */
function isBlock(lines: readonly string[], from: number): boolean {
  if (headerOf(lines[from]) !== "from") return false;
  const above = (lines[from - 1] ?? "").slice(0, lineMax).trim();
  if (above !== "" && !rule.test(above)) return false;
  const found = lines.slice(from, from + headersMax).map(headerOf);
  const end = found.indexOf(null);
  const block = end < 0 ? found : found.slice(0, end);
  return block.length >= 3 && (block[1] === "when" || block.includes("subject"));
}

/** Also between the stars that stand for bold letters, and with the space that the French write before a colon. */
function headerOf(line: string | undefined): Header | null {
  const name = /^\*?(\p{L}[\p{L} ]{0,15}?)\s?:\*?\s+\S/u.exec(line?.slice(0, lineMax).trim() ?? "")?.[1];
  return headers.get(name?.toLowerCase() ?? "") ?? null;
}
