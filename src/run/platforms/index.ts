// The platforms of one life, from the configuration: our own clients, and those out there. Only what is configured is
// loaded. Adding one adds its file here and a line below.

import type { Config } from "../../config/schema.ts";
import { type PlatformSettings, defaultPlatformSettings } from "../../engine/parts.ts";
import type { Models } from "../../ports/agent.ts";
import type { Blobs, PersonBlobs } from "../../ports/blobs.ts";
import type { Gateway } from "../../ports/gateway.ts";
import type { Routes } from "../../ports/http.ts";
import type { Platform, Surroundings } from "../../ports/platform.ts";
import type { Archive, Store } from "../../ports/store.ts";

export type Opened = { readonly platform: Platform; readonly routes?: Routes };

export type LifeFacts = { readonly boot: string; readonly version: string };

/** One of our own clients; one that only rehearses keeps no files. */
export type Near = (store: Archive, facts: LifeFacts, blobs?: Blobs) => Opened;
/** One out there, or one that others reach. */
export type Far = (around: Around) => Opened;
export type Around = Surroundings & {
  readonly archive: Archive;
  readonly store: Pick<Store, "turn" | "turnBy">;
  /** The files of a person, group or API key; see `Requester.person`. */
  readonly filesOf: (person: string) => PersonBlobs;
  /** There as soon as anything is sent. */
  readonly gateway: () => Pick<Gateway, "post" | "status">;
  /** Of the agent; undefined where it has none. */
  readonly models: () => Models | undefined;
};

/** Null where it is not configured. */
type Loader = (platforms: Config["platforms"]) => Promise<Far> | null;

const far: readonly Loader[] = [
  ({ api }) => (api === false ? null : import("./api.ts").then(({ openApi }) => openApi(api))),
  ({ hooks }) => (hooks === false ? null : import("./hooks.ts").then(({ openHooks }) => openHooks(hooks))),
  ({ telegram }) =>
    telegram === false ? null : import("./telegram.ts").then(({ openTelegram }) => openTelegram(telegram)),
  ({ discord }) => (discord === false ? null : import("./discord.ts").then(({ openDiscord }) => openDiscord(discord))),
  ({ slack }) => (slack === false ? null : import("./slack.ts").then(({ openSlack }) => openSlack(slack))),
  ({ email }) => (email === false ? null : import("./email.ts").then(({ openEmail }) => openEmail(email))),
  ({ irc }) => (irc === false ? null : import("./irc.ts").then(({ openIrc }) => openIrc(irc))),
  ({ matrix }) => (matrix === false ? null : import("./matrix.ts").then(({ openMatrix }) => openMatrix(matrix))),
];

export async function loadNear({ platforms, agent }: Config): Promise<readonly Near[]> {
  const wanted = (["web", "terminal"] as const).filter((name) => platforms[name] !== false);
  if (wanted.length === 0) return [];
  const { chat } = await import("../../platforms/chat/index.ts");
  const offline = agent.backend === "echo";
  return wanted.map((name) => (store, facts, blobs) => chat(name, store, { ...facts, offline }, blobs));
}

export function loadFar({ platforms }: Config): Promise<readonly Far[]> {
  return Promise.all(far.map((load) => load(platforms)).filter((one) => one !== null));
}

/** `accounts`: ours, by platform; where the platform is not open, it has no home. */
export function platformSettings(
  config: Config,
  accounts: Readonly<Record<string, string>>,
): Record<string, PlatformSettings> {
  const settings: Record<string, PlatformSettings> = {};
  for (const [name, own] of Object.entries(config.platforms)) {
    if (own === false) continue;
    const { busy } = own;
    // Whoever is let in at our own clients owns the gateway, and sees its state without being told.
    if (!("admins" in own)) {
      settings[name] = { ...defaultPlatformSettings, busy, restartNotices: false, admins: ["*"] };
      continue;
    }
    const account = accounts[name];
    const home = own.home === undefined || account === undefined ? null : { account, ...own.home };
    const inDoubt = "inDoubt" in own ? own.inDoubt : "resend";
    const { admins, restartNotices, allow = [], groups, chats, pairing } = own;
    const access = { allow, groups, chats, pairing };
    settings[name] = { busy, inDoubt, home, restartNotices, admins, approvers: approversOf(own), access };
  }
  return settings;
}

type Configured = Extract<Exclude<Config["platforms"][keyof Config["platforms"]], false>, { readonly admins: unknown }>;

/** Keys of the API have a role each; elsewhere people are listed, or the default holds. */
function approversOf(own: Configured): readonly string[] | null {
  if ("keys" in own) return Object.entries(own.keys).flatMap(([name, { role }]) => (role === "approver" ? [name] : []));
  return "approvers" in own ? (own.approvers ?? null) : null;
}

export function accountsOf(opened: readonly Opened[]): Readonly<Record<string, string>> {
  return Object.fromEntries(opened.map(({ platform }) => [platform.name, platform.account]));
}
