// What we know of the servers: channels with their parents and names, roles, and which role is ours. Learned from events
// as they pass; what was told before our time is looked up by whoever needs it. Nothing here is worth storing.

import type { APIChannel, APIRole, GatewayDispatchPayload } from "discord-api-types/v10";

export type Channel = {
  readonly id: string;
  readonly name: string;
  /** Null in a direct chat. */
  readonly guild: string | null;
  /** The channel that a thread belongs to, also a post of a forum; null where it is no thread. */
  readonly parent: string | null;
  /** The newest message when it was told. */
  readonly newest: string | null;
};

export type Role = { readonly id: string; readonly name: string; readonly isOurs: boolean };

export interface Places {
  learn(event: GatewayDispatchPayload): void;
  keepChannel(channel: APIChannel): Channel;
  keepRoles(guild: string, roles: readonly APIRole[]): void;
  channel(id: string): Channel | undefined;
  role(id: string): Role | undefined;
  knowsRoles(guild: string): boolean;
}

/** The oldest are forgotten first, and looked up again when they are needed. */
const channelsMax = 20_000;
const threadTypes = new Set([10, 11, 12]);

export function places(me: string): Places {
  const channels = new Map<string, Channel>();
  const roles = new Map<string, Role>();
  const guilds = new Set<string>();

  function keep(given: object, guild: string | null): Channel {
    const channel = readChannel(given, guild);
    channels.delete(channel.id);
    channels.set(channel.id, channel);
    const [oldest] = channels.keys();
    if (channels.size > channelsMax && oldest !== undefined) channels.delete(oldest);
    return channel;
  }

  function keepRole({ id, name, tags }: APIRole): void {
    roles.set(id, { id, name, isOurs: tags?.bot_id === me });
  }

  function keepRoles(guild: string, given: readonly APIRole[]): void {
    guilds.add(guild);
    for (const role of given) keepRole(role);
  }

  return {
    learn(event) {
      switch (event.t) {
        case "GUILD_CREATE": {
          // A server that is down is told without what it holds.
          if (event.d.unavailable === true) return;
          const { id, channels: held, threads, roles: named } = event.d;
          for (const one of [...held, ...threads]) keep(one, id);
          return keepRoles(id, named);
        }
        case "CHANNEL_CREATE":
        case "CHANNEL_UPDATE":
        case "THREAD_CREATE":
        case "THREAD_UPDATE":
          return void keep(event.d, "guild_id" in event.d ? (event.d.guild_id ?? null) : null);
        case "THREAD_LIST_SYNC":
          for (const one of event.d.threads) keep(one, event.d.guild_id);
          return;
        case "CHANNEL_DELETE":
        case "THREAD_DELETE":
          return void channels.delete(event.d.id);
        case "GUILD_ROLE_CREATE":
        case "GUILD_ROLE_UPDATE":
          return keepRole(event.d.role);
        default:
      }
    },
    keepChannel: (channel) => keep(channel, "guild_id" in channel ? (channel.guild_id ?? null) : null),
    keepRoles,
    channel: (id) => channels.get(id),
    role: (id) => roles.get(id),
    knowsRoles: (guild) => guilds.has(guild),
  };
}

function readChannel(given: object, guild: string | null): Channel {
  const { id, name, type, parent_id, last_message_id } = given as Readonly<Record<string, unknown>>;
  const isThread = typeof type === "number" && threadTypes.has(type);
  return {
    id: String(id),
    name: typeof name === "string" ? name : "",
    guild,
    parent: isThread && typeof parent_id === "string" ? parent_id : null,
    newest: typeof last_message_id === "string" ? last_message_id : null,
  };
}
