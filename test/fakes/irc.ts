// A small IRC server in memory with what real ones here lack: tags with ids and times, accounts, SASL, history. It speaks to
// one client, ours; people are driven by tests. It can refuse, break off before and after it has taken a line, and go away.

import { readFileSync } from "node:fs";
import { type Server, type Socket, createServer } from "node:net";
import { TLSSocket, createServer as createTlsServer } from "node:tls";

export type FakeIrc = {
  readonly port: number;
  /** What was said to each target, line by line. */
  readonly said: readonly { readonly target: string; readonly text: string }[];
  /** Somebody says this; null when nobody of ours is there to hear it. */
  line(from: string, target: string, text: string): string | null;
  /** The same line again. */
  repeat(line: string): void;
  /**
   * The next line that is said to somebody is refused with this numeric, or breaks the connection; `ERROR` says so before.
   * `passing`: so many lines pass before. `times`: so many lines.
   */
  failNext(kind: Failure, passing?: number, times?: number): void;
  /** Lines with marks of letters are refused from now on. */
  refuseMarks(): void;
  /** Another password from now on; who is there is put out. */
  deny(): void;
  down(): Promise<void>;
  back(): Promise<void>;
  close(): Promise<void>;
};

type Failure = "404" | "before" | "after" | "ERROR";

/** With TLS, and with the certificate that clients must have to log in by SASL EXTERNAL, by its fingerprint. */
export type FakeLogin = { readonly certificate: string; readonly key: string; readonly fingerprint: string };

/** `echoes`: it offers echo-message. */
export async function fakeIrc(password = "right", echoes = false, login: FakeLogin | null = null): Promise<FakeIrc> {
  const past: { readonly from: string; readonly target: string; readonly time: string; readonly line: string }[] = [];
  const said: { target: string; text: string }[] = [];
  let client: Socket | null = null;
  let fails: { readonly kind: Failure; passing: number; times: number } | null = null;
  let wanted = password;
  let ids = 0;
  let isPlain = false;
  const open = new Set<Socket>();

  const send = (socket: Socket, line: string): void => void socket.write(`${line}\r\n`);

  function take(socket: Socket, line: string, seen: { nick: string; pass: string }): void {
    const [command = "", ...rest] = line.split(" ");
    const trailing = line.includes(" :") ? line.slice(line.indexOf(" :") + 2) : (rest.at(-1) ?? "");
    switch (command) {
      case "CAP":
        if (rest[0] === "LS")
          send(
            socket,
            `:fake CAP * LS :message-tags server-time account-tag batch draft/chathistory${echoes ? " echo-message" : ""}${login === null ? "" : " sasl=EXTERNAL"}`,
          );
        if (rest[0] === "REQ") send(socket, `:fake CAP * ACK :${trailing}`);
        if (rest[0] === "END") welcome(socket, seen);
        return;
      case "AUTHENTICATE":
        return authenticate(socket, rest[0] ?? "");
      case "PASS":
        seen.pass = rest[0] ?? "";
        return;
      case "NICK":
        seen.nick = rest[0] ?? "";
        return;
      case "JOIN":
        return send(socket, `:${seen.nick}!e@h JOIN ${rest[0]}`);
      case "PING":
        return send(socket, `:fake PONG fake :${trailing}`);
      case "CHATHISTORY":
        return tell(socket, rest);
      case "QUIT":
        return void socket.end("ERROR :Closing link\r\n");
      case "PRIVMSG":
        return hear(socket, seen.nick, rest[0] ?? "", trailing);
    }
  }

  function authenticate(socket: Socket, word: string): void {
    if (word === "EXTERNAL") return send(socket, "AUTHENTICATE +");
    const seen = socket instanceof TLSSocket ? socket.getPeerCertificate().fingerprint256 : null;
    const isKnown = word === "+" && login !== null && seen === login.fingerprint;
    send(socket, isKnown ? ":fake 903 * :SASL authentication successful" : ":fake 904 * :SASL authentication failed");
  }

  function welcome(socket: Socket, seen: { readonly nick: string; readonly pass: string }): void {
    if (seen.pass !== wanted) {
      send(socket, `:fake 464 ${seen.nick} :Password incorrect`);
      return void socket.end();
    }
    client = socket;
    send(socket, `:fake 001 ${seen.nick} :Welcome`);
  }

  /** What was said after a moment: who wrote in queries, or the lines of one target, in a batch. */
  function tell(socket: Socket, [verb = "", target = "", after = "", limit = ""]: readonly string[]): void {
    const begin = (verb === "TARGETS" ? target : after).replace("timestamp=", "");
    const later = past.filter((one) => one.time > begin);
    const queries = later.filter((one) => !one.target.startsWith("#"));
    if (verb === "TARGETS") {
      for (const from of new Set(queries.map((one) => one.from)))
        send(socket, `:fake CHATHISTORY TARGETS ${from} ${begin}`);
      return;
    }
    const lines = later.filter((one) => one.target === target || (one.from === target && queries.includes(one)));
    send(socket, `:fake BATCH +h chathistory ${target}`);
    for (const { line } of lines.slice(0, Number(limit))) send(socket, line.replace("@", "@batch=h;"));
    send(socket, ":fake BATCH -h");
  }

  function hear(socket: Socket, nick: string, target: string, text: string): void {
    const failure = fails === null || fails.passing-- > 0 ? null : fails.kind;
    if (failure !== null && fails !== null && --fails.times === 0) fails = null;
    if (failure === "404" || (isPlain && ["\x02", "\x1d", "\x1e"].some((mark) => text.includes(mark))))
      return send(socket, `:fake 404 ever ${target} :Cannot send to channel`);
    if (failure !== "before" && failure !== "ERROR") said.push({ target, text });
    if (failure === "ERROR") return void socket.end("ERROR :Closing link: (ever@host) [Server shutting down]\r\n");
    // What was answered before still arrives.
    if (failure !== null) return void socket.end();
    if (echoes) send(socket, `:${nick}!e@h PRIVMSG ${target} :${text}`);
  }

  const accept = (socket: Socket): void => {
    open.add(socket);
    const seen = { nick: "", pass: "" };
    let buffered = "";
    socket.setEncoding("utf8");
    socket.on("data", (chunk: string) => {
      const lines = (buffered + chunk).split("\r\n");
      buffered = lines.pop() ?? "";
      for (const line of lines) if (!socket.destroyed && !socket.writableEnded) take(socket, line, seen);
    });
    socket.on("error", () => undefined);
    socket.on("close", () => {
      open.delete(socket);
      if (client === socket) client = null;
    });
  };
  const server: Server = login === null ? createServer(accept) : createTlsServer(filesOf(login), accept);
  const listen = (port: number): Promise<void> =>
    new Promise((resolve) => server.listen(port, "127.0.0.1", () => resolve()));
  await listen(0);
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;

  const down = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of open) socket.destroy();
    await closed;
  };
  return {
    port,
    said,
    line(from, target, text) {
      const id = ++ids;
      const time = new Date(1_800_000_000_000 + id).toISOString();
      const tags = `time=${time};msgid=m${id};account=${from}`;
      const line = `@${tags} :${from}!${from}@host PRIVMSG ${target} :${text}`;
      past.push({ from, target, time, line });
      if (client !== null) send(client, line);
      return client === null ? null : line;
    },
    repeat(line) {
      if (client !== null) send(client, line);
    },
    failNext: (kind, passing = 0, times = 1) => void (fails = { kind, passing, times }),
    refuseMarks: () => void (isPlain = true),
    deny() {
      wanted = "another";
      client?.destroy();
    },
    down,
    back: () => listen(port),
    close: async () => void (server.listening && (await down())),
  };
}

/** Whoever has no certificate, or one that nobody signed, is asked for an account all the same. */
function filesOf({ certificate, key }: FakeLogin) {
  return { cert: readFileSync(certificate), key: readFileSync(key), requestCert: true, rejectUnauthorized: false };
}
