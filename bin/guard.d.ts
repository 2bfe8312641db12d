// Types of guard.js, for its test.

export type MachineLook = { readonly freeBytes: number; readonly totalBytes: number; readonly tasks: number };

export function reasonToEnd(before: MachineLook, now: MachineLook, own: () => number): string | null;
export function guard(folder: string, own: () => number, end: (why: string) => void): void;
