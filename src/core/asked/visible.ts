// Text in which nothing can hide: what has no look of its own, or changes how its neighbours look, is written out. Pure.

/**
 * Controls, formats (they turn the direction of writing, or join and part without being seen), halves of a pair, breaks and
 * spaces that look like the usual ones, and whatever is drawn as nothing.
 */
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/gu;

/** Line breaks and tabs stay; everything else that is not seen is shown as `\u{202e}`. */
export function visible(text: string): string {
  return text.replaceAll(unseen, (one) => (one === "\n" || one === "\t" ? one : written(one)));
}

/** The same on one line. */
export function visibleLine(text: string): string {
  return text.replaceAll(unseen, written);
}

/** JSON that says the same and hides nothing: escaped in its own way. */
export function visibleJson(json: string): string {
  return json.replaceAll(unseen, (one) => (one === "\n" ? one : one.split("").map(unit).join("")));
}

function unit(half: string): string {
  return `\\u${half.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function written(one: string): string {
  return `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`;
}
