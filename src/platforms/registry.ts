// Which platforms there are: name to lazy import, so that what is not used is not loaded. Adding a platform adds one
// line here.

export const platforms = {
  web: () => import("./chat/index.ts"),
  terminal: () => import("./chat/index.ts"),
  api: () => import("./api/index.ts"),
  hooks: () => import("./hooks/index.ts"),
  telegram: () => import("./telegram/index.ts"),
  discord: () => import("./discord/index.ts"),
  slack: () => import("./slack/index.ts"),
  irc: () => import("./irc/index.ts"),
} as const;

export type PlatformName = keyof typeof platforms;
