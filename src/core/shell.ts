// Words for a shell, as people copy them from what we print. Pure.

/** One word as it would be typed: quoted only where a shell would read something into it. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
