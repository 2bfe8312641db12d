// Light, dark, or as the system is. The choice is a setting of this browser, carried by one attribute of the document.

import type { Keep } from "./pending.ts";

export type Theme = "system" | "light" | "dark";
export const themes: readonly Theme[] = ["system", "light", "dark"];

export function storedTheme(keep: Keep): Theme {
  const stored = keep.setting("theme");
  return themes.find((one) => one === stored) ?? "system";
}

export function applyTheme(theme: Theme, root: HTMLElement): void {
  if (theme === "system") delete root.dataset["theme"];
  else root.dataset["theme"] = theme;
}
