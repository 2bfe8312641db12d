// What the documented configuration can say and this version cannot do yet. Refusing is better than ignoring in silence.
// When something gets built, its line is deleted here and nothing else changes.

import type { KeyPath } from "./faults.ts";

/** A key that is refused whenever it is set and not switched off by `false`, or only with the values that `refused` says. */
export type NotYet = {
  readonly key: string;
  readonly refused?: (value: unknown) => boolean;
  readonly todo: string;
};

const is =
  (...values: readonly unknown[]) =>
  (value: unknown): boolean =>
    values.includes(value);

export const notYet: readonly NotYet[] = [
  { key: "control.host", refused: isElsewhere, todo: "write 127.0.0.1 or remove it" },
  { key: "control.auth", refused: is("password", "header"), todo: "write token or remove it" },
  { key: "sessions.reset", refused: (value) => typeof value === "object", todo: "write never or remove it" },
  { key: "store.url", refused: isPostgres, todo: "write sqlite or remove it" },
];

/** Whether a key is refused whatever its value; such a key is never suggested. */
export function isRefusedAlways(path: KeyPath): boolean {
  const key = path.join(".");
  return notYet.some((one) => one.key === key && one.refused === undefined);
}

export function isRefused(rule: NotYet, value: unknown): boolean {
  return rule.refused === undefined ? value !== false : rule.refused(value);
}

export function isRefusedAt(path: KeyPath, value: unknown): boolean {
  const key = path.join(".");
  return notYet.some((one) => one.key === key && isRefused(one, value));
}

function isElsewhere(value: unknown): boolean {
  if (typeof value !== "string" || value.trim() === "") return false;
  return !/^(127(\.\d{1,3}){3}|localhost|\[?::1\]?)$/i.test(value.trim());
}

function isPostgres(value: unknown): boolean {
  return typeof value === "string" && /^postgres(ql)?:/.test(value);
}
