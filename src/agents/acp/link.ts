// One process of the agent's program and the protocol spoken with it. All conversations of one person share it. Its end
// reaches all of them at once, with the reason and its last words.

import {
  type AnyMessage,
  type ContentBlock,
  type InitializeResponse,
  type NewSessionResponse,
  PROTOCOL_VERSION,
  type PromptResponse,
  RequestError,
  client,
  methods,
} from "@agentclientprotocol/sdk";
import { sentenceOf } from "../../core/fault.ts";
import { openPeer } from "../../peers/child.ts";
import { type Launch, type PeerWorkspace, prepareLaunch } from "../../peers/launch.ts";
import { programName } from "../../peers/program.ts";
import { LoginNeeded, authenticator } from "./authenticate.ts";
import { list, record, words } from "./choices.ts";
import { chooseServers, resolveServers } from "./mcp.ts";
import type { AcpOptions, AcpPace } from "./options.ts";
import { AcpTrouble } from "./trouble.ts";

export type Listener = {
  update(update: unknown): void;
  /** Resolves with the chosen option, or null when the request is withdrawn. */
  permit(request: unknown, withdrawn: AbortSignal): Promise<string | null>;
};

export interface Link {
  /** As the agent calls itself, else the name of its program. */
  readonly name: string;
  readonly can: {
    readonly load: boolean;
    readonly image: boolean;
    /** Whole files inside of a message. */
    readonly embedded: boolean;
    /** Files of conversations by their path, because there is no sandbox around it. */
    readonly links: boolean;
  };
  /** Why it is over; null while it lives. */
  over(): string | null;
  newSession(): Promise<string>;
  /** False when the agent does not know it any more. What it tells again goes to `told`. */
  loadSession(id: string, told: (update: unknown) => void): Promise<boolean>;
  /** The last one hears. Gives what ends it. */
  listen(session: string, listener: Listener): () => void;
  /** Resolves with the response, which has the reason why it stopped. */
  prompt(session: string, blocks: ContentBlock[]): Promise<PromptResponse>;
  cancel(session: string): void;
  close(why: string): Promise<void>;
}

/** As the protocol names them. */
const authRequired = -32_000;

/** `closing` ends it also while it is being opened. */
export async function openLink(
  options: AcpOptions,
  pace: AcpPace,
  workspace: PeerWorkspace,
  closing: AbortSignal,
): Promise<Link> {
  let name = programName(options.program.command);
  const servers = await resolveServers(options, workspace);
  const launch = await launched(options, workspace, name, servers.files);
  const listeners = new Map<string, Listener>();
  const replays = new Map<string, (update: unknown) => void>();
  const waiting = new Set<(why: AcpTrouble) => void>();
  let over: string | null = null;

  function update(params: unknown): void {
    const { sessionId, update: news } = record(params);
    const session = words(sessionId);
    (replays.get(session) ?? listeners.get(session)?.update)?.(news);
  }

  const endIt = (): void => void peer.end("we closed it");
  const { stream, peer, hangUp } = streamTo(options, launch, update, (why, lastWords) => {
    const said = lastWords === "" ? "" : `; its last words: ${lastWords.slice(-500)}`;
    over = `the agent ${name} is gone: ${why}${said}`;
    for (const give of waiting) give(new AcpTrouble("later", over));
    closing.removeEventListener("abort", endIt);
    hangUp();
    connection.close(new Error(over));
  });

  const permission = async ({ params, signal }: { readonly params: unknown; readonly signal: AbortSignal }) => {
    const listener = listeners.get(words(record(params)["sessionId"]));
    const optionId = (await listener?.permit(params, signal)) ?? null;
    return { outcome: optionId === null ? { outcome: "cancelled" } : { outcome: "selected", optionId } };
  };
  const app = client({ name: "everturn" }).onRequest(
    methods.client.session.requestPermission,
    (request: unknown) => request,
    permission,
  );
  const connection = app.connect(stream);
  closing.addEventListener("abort", endIt, { once: true });
  if (closing.aborted) endIt();

  /** An answer, the end of the program, or too long a silence. */
  async function answered<T>(what: string, work: Promise<T>, ms: number | null): Promise<T> {
    const { promise: given, reject } = Promise.withResolvers<never>();
    const late = new AcpTrouble("later", `the agent ${name} did not answer to ${what} in time`);
    const timer = ms === null ? undefined : setTimeout(() => reject(late), ms);
    waiting.add(reject);
    if (over !== null) reject(new AcpTrouble("later", over));
    try {
      return await Promise.race([work, given]);
    } catch (error) {
      // The library's own words for an end say less than ours.
      throw over === null ? troubleOf(name, error) : new AcpTrouble("later", over);
    } finally {
      clearTimeout(timer);
      waiting.delete(reject);
    }
  }

  const { agent } = connection;
  const close = async (why: string): Promise<void> => peer.end(why);
  let greeted: InitializeResponse;
  let can: Link["can"];
  try {
    const request = agent.request<InitializeResponse>(methods.agent.initialize, helloFrom(options));
    greeted = await answered("initialize", request, pace.connectMs);
    name = nameOf(greeted) || name;
    can = abilitiesOf(greeted, launch, name);
  } catch (error) {
    await close("it could not be used");
    throw error;
  }
  const place = {
    cwd: launch.workspace,
    mcpServers: chooseServers(options, servers, greeted, { ...workspace, ...launch }),
  };

  const login = authenticator(options, name, greeted.authMethods, (methodId) =>
    answered("authenticate", agent.request(methods.agent.authenticate, { methodId }), pace.connectMs),
  );

  return {
    name,
    can,
    over: () => over,
    async newSession() {
      const request = () => agent.request<NewSessionResponse>(methods.agent.session.new, place);
      const made = await login.ask(() => answered("session/new", request(), pace.connectMs));
      return made.sessionId;
    },
    async loadSession(id, told) {
      replays.set(id, told);
      try {
        const request = () => agent.request(methods.agent.session.load, { ...place, sessionId: id });
        await login.ask(() => answered("session/load", request(), pace.connectMs));
        return true;
      } catch (error) {
        if (over !== null || (error instanceof AcpTrouble && error.retry === "never")) throw error;
        options.log("info", "an ACP session could not be loaded and is made anew", { why: sentenceOf(error) });
        return false;
      } finally {
        replays.delete(id);
      }
    },
    listen(session, listener) {
      listeners.set(session, listener);
      return () => {
        if (listeners.get(session) === listener) listeners.delete(session);
      };
    },
    async prompt(session, prompt) {
      const request = agent.request<PromptResponse>(methods.agent.session.prompt, { sessionId: session, prompt });
      try {
        const response = await answered("session/prompt", request, null);
        login.worked();
        return response;
      } catch (error) {
        if (!(error instanceof LoginNeeded)) throw error;
        // It may have worked before its login ended, so the message is not given to it a second time.
        await login.logIn(error);
        throw new AcpTrouble("later", `the agent ${name} had to log in again`);
      }
    },
    cancel(session) {
      agent.notify(methods.agent.session.cancel, { sessionId: session }).catch((error: unknown) => {
        options.log("debug", "an ACP agent could not be told to stop", { why: sentenceOf(error) });
      });
    },
    close,
  };
}

function helloFrom({ version = "0" }: AcpOptions) {
  return {
    protocolVersion: PROTOCOL_VERSION,
    clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
    clientInfo: { name: "everturn", version },
  };
}

function abilitiesOf(
  { protocolVersion, agentCapabilities }: InitializeResponse,
  launch: Launch,
  name: string,
): Link["can"] {
  if (protocolVersion !== PROTOCOL_VERSION) {
    const why = `the agent ${name} speaks version ${protocolVersion} of the protocol, and we speak ${PROTOCOL_VERSION}`;
    throw new AcpTrouble("never", why);
  }
  const { loadSession, promptCapabilities } = agentCapabilities ?? {};
  const { image, embeddedContext } = promptCapabilities ?? {};
  return {
    load: loadSession === true,
    image: image === true,
    embedded: embeddedContext === true,
    links: !launch.isWalled,
  };
}

async function launched(
  { host, program }: AcpOptions,
  workspace: PeerWorkspace,
  name: string,
  files: readonly string[],
): Promise<Launch> {
  try {
    return await prepareLaunch(host, program, { name: "acp", workspace, files });
  } catch (error) {
    throw new AcpTrouble("later", `the agent ${name} cannot be started: ${sentenceOf(error)}`);
  }
}

/** The last part of a package's name. */
function nameOf({ agentInfo }: InitializeResponse): string {
  return words(agentInfo?.name).split("/").at(-1)?.slice(0, 60) ?? "";
}

function troubleOf(name: string, error: unknown): AcpTrouble {
  if (error instanceof AcpTrouble) return error;
  if (!(error instanceof RequestError))
    return new AcpTrouble("later", `the agent ${name} failed: ${sentenceOf(error)}`);
  const { details, message } = record(error.data);
  const more = words(details) || words(message) || (typeof error.data === "string" ? error.data : "");
  if (error.code === authRequired) return new LoginNeeded(name, more || error.message);
  return new AcpTrouble("later", `the agent ${name} failed: ${error.message}${more === "" ? "" : `: ${more}`}`);
}

/** Messages to and from the program. What is no message is passed over, and too much of it ends the program. */
function streamTo(
  options: AcpOptions,
  { command, name, cwd, env }: Launch,
  update: (params: unknown) => void,
  ended: (why: string, lastWords: string) => void,
) {
  let feed: ReadableStreamDefaultController<AnyMessage> | null = null;
  let garbage = 0;
  const readable = new ReadableStream<AnyMessage>({
    start(controller) {
      feed = controller;
    },
    cancel() {
      feed = null;
    },
  });
  const peer = openPeer({
    spawn: options.host.spawn,
    command,
    name,
    cwd,
    env,
    line(text) {
      const message = messageIn(text);
      garbage = message === null ? garbage + 1 : 0;
      // Straight to whom it concerns: the library would refuse kinds that are newer than itself, and say so on our output.
      if (message !== null && "method" in message && message.method === methods.client.session.update) {
        update("params" in message ? message.params : undefined);
      } else if (message !== null) feed?.enqueue(message);
      else if (garbage > garbageMax) void peer.end("it sends lines that are no messages");
    },
    // What it said last may still be on its way when its end is known.
    ended: (why) => setImmediate(() => ended(why, peer.lastWords())),
  });
  const writable = new WritableStream<AnyMessage>({ write: (message) => peer.send(JSON.stringify(message)) });
  const hangUp = (): void => {
    feed?.close();
    feed = null;
  };
  return { stream: { readable, writable }, peer, hangUp };
}

const garbageMax = 100;

function messageIn(text: string): AnyMessage | null {
  try {
    const message: unknown = JSON.parse(text);
    const { jsonrpc, method, id } = record(message);
    const isMessage =
      jsonrpc === "2.0" && (typeof method === "string" || id !== undefined) && list(message).length === 0;
    return isMessage ? (message as AnyMessage) : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
