// The types of attend.js for the program.

import type { ChildProcess } from "node:child_process";

export type End = { readonly code: number | null; readonly signal: string | null; readonly error?: Error };

export type Reply =
  | { readonly everturn: "loaded"; readonly pid: number }
  | { readonly everturn: "failed"; readonly why: string };

export const loadMs: number;

export type Attendance = {
  prepare(patienceMs: number): Promise<Reply>;
  dismiss(): void;
  first(): void;
  stay(): Promise<End>;
  letGo(): void;
  readonly ended: Promise<End>;
};

export function attend(parts: { start(patienceMs: number | null): ChildProcess; readonly own: boolean }): Attendance;

export function codeOf(end: End): number;
