// The server behind the fakes: reads a request, asks the script, and plays the plan with its faults. It keeps what was
// asked of it, and refuses what the real service would refuse.

import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import {
  anthropicError,
  anthropicErrorFrame,
  anthropicFault,
  anthropicFrames,
  anthropicModels,
  anthropicSeen,
} from "./anthropic.ts";
import { googleAnswer, googleFrames, googleSeen } from "./google.ts";
import { openaiError, openaiErrorFrame, openaiFault, openaiFrames, openaiModels, openaiSeen } from "./openai.ts";
import { responsesErrorFrame, responsesFault, responsesFrames, responsesSeen } from "./responses.ts";
import type { Answer, Asked, Frame, Plan, Protocol, Refusal, Script, Seen } from "./plan.ts";
import { type Ears, type Recording, readRecording } from "./speech.ts";

export type FakeModels = {
  /** As `http://127.0.0.1:1234`. */
  readonly url: string;
  /** For the settings of a provider: with the path its packages expect. */
  readonly baseUrl: (protocol: Protocol) => string;
  readonly requests: readonly Asked[];
  /** What was to be transcribed. */
  readonly recordings: readonly Recording[];
  /** Resolves when so many have been asked. */
  readonly asked: (count: number) => Promise<void>;
  /** How many connections were closed by the other side before their answer was whole. */
  readonly left: () => number;
  /** Connections that are open now, in use or idle. */
  readonly open: () => number;
  readonly close: () => Promise<void>;
};

export type FakeOptions = {
  /** What the lists of models tell. */
  readonly models?: readonly string[];
  /** Keys that are let in; any if absent. */
  readonly keys?: readonly string[];
  readonly port?: number;
  /** How long an idle connection is kept open. */
  readonly keepAliveMs?: number;
  /** Understands what is spoken; without it there are no transcriptions here. */
  readonly ears?: Ears;
};

type Face = {
  readonly seen: (body: Record<string, unknown>, path: string) => Seen;
  readonly frames: (answer: Answer, model: string, nth: number) => Frame[];
  readonly errorFrame: Frame;
  /** What the real service would say to this request; null when it is well-formed. */
  readonly fault: (body: Record<string, unknown>) => string | null;
  readonly refuse: (status: number, message: string) => unknown;
  readonly list: (names: readonly string[]) => unknown;
};

const faces: Readonly<Record<Protocol, Face>> = {
  openai: {
    seen: openaiSeen,
    frames: openaiFrames,
    errorFrame: openaiErrorFrame,
    fault: openaiFault,
    refuse: (status, message) =>
      openaiError(message, "invalid_request_error", status === 401 ? "invalid_api_key" : null),
    list: openaiModels,
  },
  responses: {
    seen: responsesSeen,
    frames: responsesFrames,
    errorFrame: responsesErrorFrame,
    fault: responsesFault,
    refuse: (status, message) =>
      openaiError(message, "invalid_request_error", status === 401 ? "invalid_api_key" : null),
    list: openaiModels,
  },
  anthropic: {
    seen: anthropicSeen,
    frames: anthropicFrames,
    errorFrame: anthropicErrorFrame,
    fault: anthropicFault,
    refuse: (status, message) =>
      anthropicError(status === 401 ? "authentication_error" : "invalid_request_error", message),
    list: anthropicModels,
  },
  google: {
    seen: googleSeen,
    frames: googleFrames,
    errorFrame: `data: ${JSON.stringify({ error: { code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" } })}\n\n`,
    fault: () => null,
    refuse: (code, message) => ({
      error: { code, message, status: code === 401 ? "UNAUTHENTICATED" : "INVALID_ARGUMENT" },
    }),
    list: (names) => ({ models: names.map((name) => ({ name: `models/${name}` })) }),
  },
};

export async function fakeModels(script: Script, options: FakeOptions = {}): Promise<FakeModels> {
  const requests: Asked[] = [];
  const recordings: Recording[] = [];
  const waiting: { count: number; go: () => void }[] = [];
  let left = 0;
  const server = createServer((request, response) => {
    response.on("close", () => {
      if (!response.writableFinished) left++;
    });
    answer(request, response).catch((error: unknown) => {
      process.stderr.write(`the fake model failed: ${String(error)}\n`);
      response.destroy();
    });
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? "/";
    if (path === "/__requests") {
      return send(response, 200, { count: requests.length, requests: requests.map((one) => ({ ...one, key: null })) });
    }
    // Clients of the responses protocol try a WebSocket first; a server without one says so.
    if (request.headers.upgrade !== undefined) return send(response, 426, "Upgrade Required");
    const protocol = protocolOf(request);
    const face = faces[protocol];
    const key = keyOf(request);
    if (options.keys !== undefined && (key === null || !options.keys.includes(key))) {
      return send(response, 401, face.refuse(401, "Incorrect API key provided."));
    }
    if (path.endsWith("/audio/transcriptions") && options.ears !== undefined) {
      const recording = await readRecording(request, key, recordings.length + 1);
      if (!("nth" in recording)) return refuse(recording, response);
      recordings.push(recording);
      const heard = await options.ears(recording);
      return typeof heard === "string" ? send(response, 200, { text: heard }) : refuse(heard, response);
    }
    if (request.method === "GET") return send(response, 200, face.list(options.models ?? ["fake-model"]));
    const body = JSON.parse(await textOf(request)) as Record<string, unknown>;
    const asked: Asked = {
      protocol,
      path,
      key,
      headers: request.headers as Record<string, string>,
      body,
      seen: face.seen(body, path),
      nth: requests.length + 1,
    };
    requests.push(asked);
    for (const one of waiting) if (one.count <= requests.length) one.go();
    const wrong = face.fault(body);
    if (wrong !== null) return send(response, 400, face.refuse(400, wrong));
    await play(await script(asked), asked, face, response);
  }

  if (options.keepAliveMs !== undefined) server.keepAliveTimeout = options.keepAliveMs;
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((done) => server.listen(options.port ?? 0, "127.0.0.1", done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    baseUrl: (protocol) => (protocol === "google" ? `${url}/v1beta` : `${url}/v1`),
    requests,
    recordings,
    asked: (count) =>
      requests.length >= count
        ? Promise.resolve()
        : new Promise((go) => {
            waiting.push({ count, go });
          }),
    left: () => left,
    open: () => sockets.size,
    close: () => shut(server),
  };
}

async function play(plan: Plan, asked: Asked, face: Face, response: ServerResponse): Promise<void> {
  if ("dead" in plan || "status" in plan) return refuse(plan, response);
  // As the services count: about four characters to a token.
  const usage = plan.usage ?? { input: Math.ceil(JSON.stringify(asked.body).length / 4), output: 10 };
  if (isWhole(asked)) return send(response, 200, googleAnswer({ ...plan, usage }, asked.seen.model, asked.nth));
  const frames = face.frames({ ...plan, usage }, asked.seen.model, asked.nth);
  const fault = plan.break;
  const at = fault === undefined ? -1 : fault.at < 0 ? frames.length + fault.at : Math.min(fault.at, frames.length - 1);
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" });
  response.flushHeaders();
  for (const [n, frame] of frames.entries()) {
    if (plan.everyMs !== undefined) await new Promise((done) => setTimeout(done, plan.everyMs));
    if (response.destroyed) return;
    if (n === at && fault !== undefined) {
      if (fault.how === "hang") return;
      if (fault.how === "end") break;
      if (fault.how === "disconnect") return void flushed(response).then(() => response.destroy());
      response.write(fault.how === "error" ? face.errorFrame : 'data: {"choices":[{"del\n\n');
    }
    response.write(frame);
  }
  response.end();
}

/** Google has another path for an answer that is not streamed. */
function isWhole({ protocol, path }: Asked): boolean {
  return protocol === "google" && path.includes(":generateContent");
}

function refuse(plan: Refusal, response: ServerResponse): void {
  if ("status" in plan) return send(response, plan.status, plan.body, plan.headers);
  if (plan.dead === "reset") response.destroy();
}

/** What was written has left before the line is cut: the other side has seen half an answer. */
function flushed(response: ServerResponse): Promise<void> {
  return new Promise((done) => {
    response.write(": \n\n", () => setImmediate(done));
  });
}

function send(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  const isPage = typeof body === "string";
  response.writeHead(status, { "content-type": isPage ? "text/html" : "application/json", ...headers });
  response.end(isPage ? body : JSON.stringify(body));
}

function protocolOf({ url = "", headers }: IncomingMessage): Protocol {
  if (url.startsWith("/v1beta")) return "google";
  if (url.endsWith("/responses")) return "responses";
  return url.endsWith("/messages") || headers["anthropic-version"] !== undefined ? "anthropic" : "openai";
}

function keyOf({ headers }: IncomingMessage): string | null {
  const key = headers["x-api-key"] ?? headers["x-goog-api-key"] ?? headers.authorization?.replace(/^Bearer /, "");
  return typeof key === "string" ? key : null;
}

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString("utf8");
}

async function shut(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise<void>((done) => server.close(() => done()));
}
