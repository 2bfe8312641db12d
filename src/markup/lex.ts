// Markdown as tokens, in bounded time. The lexer compares every mark of emphasis with the rest of its paragraph and calls
// itself for every level of a quote, so a hostile text could keep it busy for minutes: what is absurd is not markdown.

import { Lexer, type Token } from "marked";

/** Longer texts than any platform takes as markdown. */
const textMax = 500_000;
/** Marks times letters of one paragraph, and of a whole text: some milliseconds, and half a second. */
const paragraphMax = 2_000_000;
const budgetMax = 200_000_000;
/** Quotes and lists that begin in one line. */
const nested = /^(?:[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])(?=[ \t]))){60}/m;

/** null: this is not markdown, show it as it is. */
export function lex(text: string): readonly Token[] | null {
  if (text.length > textMax || nested.test(text)) return null;
  try {
    return new Sparing({ gfm: true, breaks: true }).lex(text);
  } catch {
    // The lexer has its own limits of depth. Whatever they are, the words are shown.
    return null;
  }
}

/** Leaves the inside of a paragraph alone where reading it would take too long. */
class Sparing extends Lexer {
  spent = 0;

  override inlineTokens(src: string, tokens: Token[] = []): Token[] {
    const marks = src.match(/[*_~`[<]+/g)?.length ?? 0;
    const cost = marks * src.length;
    this.spent += cost;
    if (cost <= paragraphMax && this.spent <= budgetMax) return super.inlineTokens(src, tokens);
    tokens.push({ type: "text", raw: src, text: src, escaped: false });
    return tokens;
  }
}
