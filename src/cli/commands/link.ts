// `everturn link`: a link that lets one browser in, once. It is a key, so it is shown on a terminal only, unless somebody
// says that it may go elsewhere.

import { environment } from "../../config/load.ts";
import type { NewLinkReply } from "../../control/protocol.ts";
import { Fault } from "../../core/fault.ts";
import { type Context, reachGateway, show } from "../context.ts";

export async function link(context: Context): Promise<number> {
  const { output, flags } = context;
  if (!output.tty && flags["print"] !== true)
    throw new Fault(
      "not-possible",
      "A link is a key, and this output is not a terminal. Over ssh use `ssh -t`; for a script add --print.",
    );
  const reply = await newLink(context);
  const code = show(context, reply, (made) => made.link);
  if (output.tty && flags["json"] !== true) for (const line of hints(reply.link, environment())) output.err(line);
  return code;
}

export function newLink(context: Context): Promise<NewLinkReply> {
  return reachGateway(context).post<NewLinkReply>("/api/links");
}

/** What to do with it; from another machine the port of this one must be reached first. */
export function hints(made: string, env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const { port } = new URL(made);
  const first = "Open it in your browser within 10 minutes; it works once.";
  if ((env["SSH_CONNECTION"] ?? "") === "") return [first];
  return [
    first,
    `If your browser is on another computer, run there first: ssh -L ${port}:127.0.0.1:${port} <this machine>`,
  ];
}
