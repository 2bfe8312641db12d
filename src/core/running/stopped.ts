// What stays of an answer that its user has stopped: the words that were shown, and that no more follow. Pure.

export const stoppedMark = "(Stopped.)";

/** As a line of the transcript; null where nothing was said yet. */
export function stoppedWords(words: string): string | null {
  return words.trim() === "" ? null : `${words.trimEnd()}\n\n${stoppedMark}`;
}

/** As the one message that it grew in: of a text that is too long for it the beginning stands there. */
export function stoppedIn(shown: string, parts: (text: string) => readonly string[]): string {
  const whole = `${shown.trimEnd()}\n\n${stoppedMark}`;
  const [first = "", ...more] = parts(whole);
  return more.length === 0 ? whole : `${first.slice(0, -cut.length).toWellFormed()}${cut}`;
}

const cut = `…\n\n${stoppedMark}`;
