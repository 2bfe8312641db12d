// A small SMTP server in memory: it takes mails, refuses commands on demand as busy servers do, and keeps what it took,
// whatever became of its answer.

import { type AddressInfo, type Socket, createServer } from "node:net";
import PostalMime from "postal-mime";

export type SmtpCommand = "CONNECT" | "MAIL" | "RCPT" | "DATA" | ".";

export type FakeSmtp = {
  readonly port: number;
  /** The texts that were taken for somebody, in order. */
  texts(to: string): Promise<readonly string[]>;
  /** Ids of all mails that were taken, with copies. */
  ids(): Promise<readonly string[]>;
  /** From now on this command is refused; after 421, as a server says that shuts down, so is everything. Null: as usual. */
  refuse(command: SmtpCommand | null, code?: 421 | 451): void;
  close(): Promise<void>;
};

type Taken = { readonly to: string; readonly source: string };

export async function fakeSmtp(): Promise<FakeSmtp> {
  const taken: Taken[] = [];
  const open = new Set<Socket>();
  let isShuttingDown = false;
  let refused: { readonly command: SmtpCommand; readonly code: 421 | 451 } | null = null;

  function serve(socket: Socket): void {
    open.add(socket);
    let buffered = "";
    let to = "";
    let body: string[] | null = null;
    const answer = (command: SmtpCommand, line: string): boolean => {
      const isRefused = isShuttingDown || refused?.command === command;
      const code = refused?.code ?? 451;
      socket.write(`${isRefused ? `${code} 4.3.2 try again later` : line}\r\n`);
      isShuttingDown ||= isRefused && code === 421;
      if (isShuttingDown) socket.end();
      return !isRefused;
    };
    const take = (line: string): void => {
      if (body !== null) {
        if (line !== ".") return void body.push(line.replace(/^\.\./, "."));
        const source = body.join("\r\n");
        body = null;
        if (answer(".", "250 2.0.0 taken")) taken.push({ to, source });
        return;
      }
      const command = line.slice(0, 4).toUpperCase();
      if (command === "EHLO" || command === "HELO") socket.write("250-fake.test\r\n250 8BITMIME\r\n");
      else if (command === "MAIL") answer("MAIL", "250 2.1.0 ok");
      else if (command === "RCPT") {
        to = /<([^>]*)>/.exec(line)?.[1] ?? "";
        answer("RCPT", "250 2.1.5 ok");
      } else if (command === "DATA") {
        if (answer("DATA", "354 go ahead")) body = [];
      } else if (command === "QUIT") socket.end("221 2.0.0 bye\r\n");
      else socket.write("250 2.0.0 ok\r\n");
    };
    socket.setEncoding("utf8");
    socket.on("data", (chunk: string) => {
      const lines = (buffered + chunk).split("\r\n");
      buffered = lines.pop() ?? "";
      for (const line of lines) if (!socket.writableEnded) take(line);
    });
    socket.on("error", () => undefined);
    socket.on("close", () => open.delete(socket));
    answer("CONNECT", "220 fake.test ESMTP");
  }

  const server = createServer(serve);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const parsed = () => Promise.all(taken.map(async ({ to, source }) => ({ to, mail: await PostalMime.parse(source) })));
  return {
    port: (server.address() as AddressInfo).port,
    async texts(to) {
      const all = await parsed();
      return all.flatMap((one) => (one.to === to ? [(one.mail.text ?? "").trim()] : []));
    },
    ids: async () => (await parsed()).map(({ mail }) => mail.messageId ?? ""),
    refuse(command, code = 451) {
      refused = command === null ? null : { command, code };
      isShuttingDown = false;
    },
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
