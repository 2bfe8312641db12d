// The gateway half of a Discord in a box: hello, heartbeats with their answers, identify, resume with a replay of what the
// client has not settled, invalid sessions and close codes. It keeps sessions and their events when clients die.

import type { Server } from "node:http";
import { type WebSocket, WebSocketServer } from "ws";

export type Dispatch = { readonly op: 0; readonly t: string; readonly s: number; readonly d: unknown };

type Session = {
  readonly id: string;
  seq: number;
  readonly events: Dispatch[];
  socket: WebSocket | null;
  /** What the client said last that it has. */
  beat: number | null;
};

export type GatewayFake = {
  /** To every session, also to those whose client is gone for now. */
  dispatch(t: string, d: unknown): void;
  /** Sends the newest event again, as a replay does. */
  repeat(): void;
  /** Forgets all sessions: who resumes is told so. */
  forget(): void;
  /** Closes what is connected. */
  close(code: number): void;
  /** Breaks sockets without a word. */
  drop(): void;
  /** Asks the client what it has; resolves with its answer, or null when it is gone. */
  ask(): Promise<number | null>;
  /** Tells clients to come back on another connection. */
  reconnect(): void;
  readonly counts: { identified: number; resumed: number; invalid: number };
  readonly session: () => Session | null;
  readonly isConnected: () => boolean;
  /** Whoever is connected now gets no event and no answer any more, and is not told so. */
  deafen(): void;
  /** Takes no connection. */
  isClosed: boolean;
  /** Closes whoever identifies with this code. */
  refuseWith: number | null;
  heartbeatMs: number;
};

export type GatewayFacts = {
  readonly isToken: (token: string) => boolean;
  readonly ready: (session: string) => object;
  /** What is told after READY. */
  readonly guilds: () => readonly object[];
};

/** Events older than these cannot be resumed any more. */
const eventsMax = 2_000;

export function gatewayFake(server: Server, facts: GatewayFacts): GatewayFake {
  const sockets = new WebSocketServer({ noServer: true });
  const sessions = new Map<string, Session>();
  const deaf = new WeakSet<WebSocket>();
  const asking: ((seq: number | null) => void)[] = [];
  let count = 0;
  let latest: Session | null = null;
  const counts = { identified: 0, resumed: 0, invalid: 0 };

  const fake: GatewayFake = {
    counts,
    isClosed: false,
    refuseWith: null,
    heartbeatMs: 41_250,
    session: () => latest,
    isConnected: () => latest?.socket?.readyState === 1,
    dispatch(t, d) {
      for (const session of sessions.values()) emit(session, t, d);
    },
    repeat() {
      for (const { socket, events } of sessions.values()) send(socket, events.at(-1) ?? {});
    },
    forget: () => sessions.clear(),
    close(code) {
      for (const one of sockets.clients) one.close(code);
    },
    drop() {
      for (const one of sockets.clients) one.terminate();
    },
    ask() {
      const socket = latest?.socket;
      if (socket === null || socket === undefined || socket.readyState !== 1) return Promise.resolve(null);
      const answer = new Promise<number | null>((resolve) => asking.push(resolve));
      send(socket, { op: 1, d: null });
      return answer;
    },
    deafen() {
      for (const one of sockets.clients) deaf.add(one);
    },
    reconnect() {
      for (const one of sockets.clients) send(one, { op: 7, d: null });
    },
  };

  function send(socket: WebSocket | null, payload: object): void {
    if (socket !== null && socket.readyState === 1 && !deaf.has(socket)) socket.send(JSON.stringify(payload));
  }

  function emit(session: Session, t: string, d: unknown): void {
    const event: Dispatch = { op: 0, t, s: ++session.seq, d };
    session.events.push(event);
    if (session.events.length > eventsMax) session.events.shift();
    send(session.socket, event);
  }

  function refused(socket: WebSocket, code: number): null {
    socket.close(code);
    return null;
  }

  function identify(socket: WebSocket, token: string): Session | null {
    if (!facts.isToken(token)) return refused(socket, 4004);
    counts.identified++;
    if (fake.refuseWith !== null) return refused(socket, fake.refuseWith);
    const session: Session = { id: `session${++count}`, seq: 0, events: [], socket, beat: null };
    // One client, one session: the older one runs out.
    sessions.clear();
    sessions.set(session.id, session);
    latest = session;
    emit(session, "READY", facts.ready(session.id));
    for (const guild of facts.guilds()) emit(session, "GUILD_CREATE", guild);
    return session;
  }

  function resume(socket: WebSocket, d: { token: string; session_id: string; seq: number }): Session | null {
    if (!facts.isToken(d.token)) return refused(socket, 4004);
    const session = sessions.get(d.session_id);
    const first = session?.events[0]?.s ?? 1;
    if (session === undefined || d.seq + 1 < first) {
      counts.invalid++;
      send(socket, { op: 9, d: false });
      return null;
    }
    if (d.seq > session.seq) return refused(socket, 4007);
    counts.resumed++;
    session.socket?.close(4000);
    session.socket = socket;
    latest = session;
    // Nobody promises that what a session began with is told again: a client that has not dealt with it must begin anew.
    const again = session.events.filter(({ s, t }) => s > d.seq && t !== "READY" && t !== "GUILD_CREATE");
    for (const event of again) send(socket, event);
    emit(session, "RESUMED", {});
    return session;
  }

  function greet(socket: WebSocket): void {
    let session: Session | null = null;
    send(socket, { op: 10, d: { heartbeat_interval: fake.heartbeatMs } });
    socket.on("message", (data) => {
      if (deaf.has(socket)) return;
      const { op, d } = JSON.parse((data as Buffer).toString("utf8")) as { op: number; d: never };
      if (op === 1) {
        if (session !== null) session.beat = d;
        send(socket, { op: 11 });
        for (const resolve of asking.splice(0)) resolve(d);
      } else if (op === 2) session = identify(socket, (d as { token: string }).token);
      else if (op === 6) session = resume(socket, d);
      else socket.close(session === null ? 4003 : 4001);
    });
    socket.on("close", (code) => {
      if (session?.socket !== socket) return;
      session.socket = null;
      for (const resolve of asking.splice(0)) resolve(null);
      // A farewell ends the session; a broken connection does not.
      if (code === 1000 || code === 1001) sessions.delete(session.id);
    });
    socket.on("error", () => undefined);
  }

  server.on("upgrade", (request, socket, head) => {
    if (fake.isClosed) return void socket.destroy();
    sockets.handleUpgrade(request, socket, head, greet);
  });
  return fake;
}
