// What a check says: how it is, what that means, what to do, and whether it can be put right here.

/** What `--fix` can do about it without taking anything away that somebody may want. */
export type Fix = "permissions" | "markers" | "service";

export type Verdict = {
  readonly level: "ok" | "warning" | "fault";
  readonly what: string;
  readonly todo: string | null;
  readonly fix: Fix | null;
};

export const ok = (what: string): Verdict => ({ level: "ok", what, todo: null, fix: null });
export const warning = (what: string, todo: string, fix: Fix | null = null): Verdict => ({
  level: "warning",
  what,
  todo,
  fix,
});
export const fault = (what: string, todo: string, fix: Fix | null = null): Verdict => ({
  level: "fault",
  what,
  todo,
  fix,
});
