// `everturn chat`: a conversation with the running gateway in this terminal. It survives the gateway: what was typed
// meanwhile is kept and sent when it is back, and the answer to what was asked before arrives then.

import { homedir } from "node:os";
import { createInterface } from "node:readline";
import { Fault } from "../../core/fault.ts";
import type { Message } from "../../core/message.ts";
import { type Context, reachGateway, textFlag } from "../context.ts";
import { type FeedEvent, follow } from "../talk/feed.ts";
import { type FileDesk, fileDesk, readFileOrder } from "../talk/files.ts";
import { choices } from "../talk/choices.ts";
import { setIn } from "../talk/fences.ts";
import { messageText, piped } from "../talk/piped.ts";
import { noPreview, previewAfter } from "../talk/preview.ts";
import { screen } from "../talk/screen.ts";
import { type Sender, sender } from "../talk/sender.ts";

/** How much of what was said before is shown at the start. */
const shownBefore = 10;

export async function chat(context: Context): Promise<number> {
  const conversation = textFlag(context, "conversation") ?? "main";
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(conversation))
    throw new Fault("not-possible", "A conversation's id is 1 to 64 letters, digits, - or _.");
  const connect = () => reachGateway(context);
  await connect().get("/api/status");
  const over = new AbortController();
  const path = `/api/chat/terminal/${conversation}`;
  const out = sender(connect, `${path}/messages`, over.signal);
  const isTyped = process.stdin.isTTY && context.output.tty;
  const desk = fileDesk(connect, path, homedir());
  const talk = isTyped ? typed(context, out, desk) : piped(connect, out, context.output, over.signal, desk);
  const following = follow(connect, `${path}/events`, (event) => talk.told(event), over.signal);
  // A feed that breaks is a mistake of ours: it must end the command, not leave it waiting for ever.
  const code = await Promise.race([talk.run(process.stdin), following.then(() => 1)]);
  over.abort();
  await following;
  if (out.unconfirmed > 0)
    context.output.err(
      out.unconfirmed === 1
        ? "One of your messages was not confirmed by the gateway; say it again next time."
        : `${out.unconfirmed} of your messages were not confirmed by the gateway; say them again next time.`,
    );
  return code;
}

function typed(
  context: Context,
  out: Sender,
  desk: FileDesk,
): { told(event: FeedEvent): void; run(): Promise<number> } {
  const { output } = context;
  const typing = createInterface({ input: process.stdin, output: process.stdout, prompt: "> " });
  const show = screen(process.stdout, typing, output);
  const before: Message[] = [];
  const asked = choices();
  let isLive = false;
  let preview = noPreview;
  /** The last that was said is ours: an answer is to come. */
  let isAwaited = false;

  function remark(text: string): void {
    show.say(text, "dim");
  }

  function say(message: Message): void {
    asked.shown(message);
    isAwaited = message.role === "user";
    const text = setIn(messageText(message, (file) => desk.label(file)));
    if (message.role !== "user") show.say(`${text}\n`, "green");
    else if (!out.sent(message.key)) show.say(`> ${text}`, "cyan");
  }

  async function obey(line: string): Promise<void> {
    try {
      const order = readFileOrder(line);
      if (order?.type === "wrong") return remark(order.why);
      if (order?.type === "save") return remark(`Saved as ${await desk.save(order.number, order.to)}.`);
      const files = order === null ? [] : [await desk.attach(order.path)];
      const sent = await out.send(order === null ? asked.read(line) : order.words, files);
      if (sent.result === "refused") remark(`Not sent: ${sent.why}`);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      remark(`Not done: ${error.message}`);
    }
  }

  return {
    told(event) {
      const shown = preview.text;
      preview = previewAfter(preview, event);
      if (preview.text !== shown) show.draft(preview.text === null ? null : setIn(preview.text));
      switch (event.type) {
        case "message":
          return isLive ? say(event.message) : void before.push(event.message);
        case "draft":
          return;
        case "away":
          return remark("gateway is away, waiting…");
        case "back":
          return remark(event.restarted ? "back (it was restarted)" : "back");
        case "live":
          for (const message of before.splice(0).slice(isLive ? 0 : -shownBefore)) say(message);
          isLive = true;
      }
    },
    run() {
      remark("Type a message and press Enter. /help shows commands, /file <path> sends a file, Ctrl-D ends the chat.");
      typing.on("line", (line) => {
        show.entered(line);
        if (line.trim() === "") return;
        if (line.trim() === "/quit" || line.trim() === "/exit") return typing.close();
        void obey(line);
      });
      typing.on("SIGINT", () => typing.close());
      return new Promise((resolve) => {
        typing.once("close", () => {
          const isUnderWay = preview.text !== null || isAwaited;
          output.out(isUnderWay ? "\nThe turn goes on; open `everturn chat` again to see its answer." : "");
          resolve(0);
        });
      });
    },
  };
}
