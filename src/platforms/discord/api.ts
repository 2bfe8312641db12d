// The calls to Discord that we use, typed. Each is made once: nothing is repeated or held back here, because only the
// caller knows what a repeat would do. The library is loaded by the first call.

import type { REST, RESTOptions, RawFile } from "@discordjs/rest";
import type {
  APIApplication,
  APIChannel,
  APIGatewayBotInfo,
  APIMessage,
  APIRole,
  APIUser,
  RESTPostAPIChannelMessageJSONBody,
} from "discord-api-types/v10";

export type ApiSettings = { readonly token: string; readonly apiRoot: string };

export type Sent = RESTPostAPIChannelMessageJSONBody;
/** A file as it goes out. */
export type Upload = { readonly name: string; readonly mime: string; readonly data: Uint8Array };
export type SlashCommand = {
  readonly name: string;
  readonly description: string;
  readonly options: readonly SlashOption[];
};
export type SlashOption = { readonly type: number; readonly name: string; readonly description: string };

export interface Api {
  me(signal: AbortSignal): Promise<APIUser>;
  application(signal: AbortSignal): Promise<APIApplication>;
  gateway(signal: AbortSignal): Promise<APIGatewayBotInfo>;
  channel(id: string, signal: AbortSignal): Promise<APIChannel>;
  roles(guild: string, signal: AbortSignal): Promise<readonly APIRole[]>;
  /** At most 100, the ones right after that id, in any order. */
  messagesAfter(channel: string, after: string, signal: AbortSignal): Promise<readonly APIMessage[]>;
  send(channel: string, body: Sent, files: readonly Upload[], signal: AbortSignal): Promise<APIMessage>;
  edit(channel: string, id: string, body: object, files: readonly Upload[], signal: AbortSignal): Promise<APIMessage>;
  remove(channel: string, id: string, signal: AbortSignal): Promise<void>;
  typing(channel: string, signal: AbortSignal): Promise<void>;
  respond(interaction: string, token: string, body: object, signal: AbortSignal): Promise<void>;
  commands(application: string, signal: AbortSignal): Promise<readonly object[]>;
  setCommands(application: string, commands: readonly SlashCommand[], signal: AbortSignal): Promise<void>;
}

/** A request without a whole answer after this is given up. One with files may take as long as its caller waits. */
const answerMs = 20_000;
const uploadMs = 60_000;

export function api({ token, apiRoot }: ApiSettings): Api {
  let loaded: Promise<REST> | null = null;

  async function rest(): Promise<REST> {
    loaded ??= import("@discordjs/rest").then(
      ({ REST: Rest }) =>
        // Its own queues would hide how long something waits and whether it was sent: a limit is an error at once.
        new Rest({
          version: "10",
          api: apiRoot,
          retries: 0,
          timeout: uploadMs,
          offset: 0,
          rejectOnRateLimit: () => true,
          makeRequest: (url, init) =>
            fetch(url, init as object as RequestInit) as ReturnType<RESTOptions["makeRequest"]>,
        }),
    );
    // It forgets the token after a refusal.
    return (await loaded).setToken(token);
  }

  const files = (uploads: readonly Upload[]): RawFile[] =>
    uploads.map(({ name, mime, data }) => ({ name, contentType: mime, data: Buffer.from(data) }));

  async function get<T>(path: string, signal: AbortSignal, query?: Readonly<Record<string, string>>): Promise<T> {
    const found = await (await rest()).get(path as `/${string}`, {
      signal: limited(signal, []),
      ...(query === undefined ? {} : { query: new URLSearchParams(query) }),
    });
    return json<T>(found);
  }

  return {
    me: (signal) => get("/users/@me", signal),
    application: (signal) => get("/applications/@me", signal),
    gateway: (signal) => get("/gateway/bot", signal),
    channel: (id, signal) => get(`/channels/${id}`, signal),
    roles: (guild, signal) => get(`/guilds/${guild}/roles`, signal),
    messagesAfter: (channel, after, signal) => get(`/channels/${channel}/messages`, signal, { after, limit: "100" }),
    async send(channel, body, uploads, signal) {
      const path = `/channels/${channel}/messages` as const;
      const limit = limited(signal, uploads);
      return json(await (await rest()).post(path, { body, files: files(uploads), signal: limit }));
    },
    async edit(channel, id, body, uploads, signal) {
      const path = `/channels/${channel}/messages/${id}` as const;
      const limit = limited(signal, uploads);
      return json(await (await rest()).patch(path, { body, files: files(uploads), signal: limit }));
    },
    async remove(channel, id, signal) {
      await (await rest()).delete(`/channels/${channel}/messages/${id}`, { signal: limited(signal, []) });
    },
    async typing(channel, signal) {
      await (await rest()).post(`/channels/${channel}/typing`, { signal });
    },
    async respond(interaction, its, body, signal) {
      await (await rest()).post(`/interactions/${interaction}/${its}/callback`, {
        body,
        auth: false,
        signal: limited(signal, []),
      });
    },
    commands: (application, signal) => get(`/applications/${application}/commands`, signal),
    async setCommands(application, commands, signal) {
      const limit = limited(signal, []);
      await (await rest()).put(`/applications/${application}/commands`, { body: commands, signal: limit });
    },
  };
}

function limited(signal: AbortSignal, uploads: readonly Upload[]): AbortSignal {
  return uploads.length > 0 ? signal : AbortSignal.any([signal, AbortSignal.timeout(answerMs)]);
}

/** A page of somebody in between is no answer of Discord, whatever its status. */
function json<T>(answer: unknown): T {
  if (answer instanceof ArrayBuffer) throw new Error("the answer was not Discord's: no JSON");
  return answer as T;
}
