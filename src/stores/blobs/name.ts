// The name of a stored file as people see it. Pure.

const nameMax = 200;

/** A name as it can be shown and saved anywhere: one part, without signs that steer. */
export function safeName(name: string): string {
  const last = name.split(/[/\\]/).at(-1) ?? "";
  const clean = last.replace(/[\p{Cc}\p{Cf}\p{Cs}<>:"|?*]/gu, "_").trim();
  if (clean === "" || /^\.+$/.test(clean)) return "file";
  return clean.length <= nameMax ? clean : `${clean.slice(0, nameMax - 20)}${clean.slice(-20)}`.toWellFormed();
}
