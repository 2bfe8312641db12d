// `everturn mcp`: the MCP servers of the running gateway, which of their tools changed, and accepting them.

import type { ApproveToolsReply, ServersReply } from "../../control/protocol.ts";
import { visible, visibleLine } from "../../core/asked/visible.ts";
import { type Context, reachGateway, show } from "../context.ts";
import { lasting, paint, table } from "../print.ts";

export async function list(context: Context): Promise<number> {
  const reply = await reachGateway(context).get<ServersReply>("/api/mcp");
  return show(context, reply, ({ servers }) => {
    if (servers.length === 0) return "There are no MCP servers; `agent.mcp` in config.yaml names them.";
    const rows = servers.map((one) => [
      visibleLine(one.name),
      one.state === "login-needed" ? "login needed" : one.state,
      String(one.tools),
      one.kind === "remote" ? "remote" : String(one.processes),
      visibleLine(noteOn(one, context.now())),
    ]);
    const changes = servers.flatMap(({ name, changed }) =>
      changed.map(({ tool, text }) => {
        const head = paint(context.output, "bold", `${visibleLine(name)}: ${visibleLine(tool)}`);
        return `${head}\n${visible(text).replaceAll(/^/gm, "  ")}`;
      }),
    );
    return [table(["SERVER", "STATE", "TOOLS", "PROCESSES", "NOTE"], rows, context.output), ...changes].join("\n\n");
  });
}

function noteOn({ why, nextAttemptAt }: ServersReply["servers"][number], now: number): string {
  const waits = nextAttemptAt === null ? null : `next attempt in ${lasting(Math.max(0, nextAttemptAt - now))}`;
  return [why, waits].filter((part) => part !== null).join("; ");
}

export async function approve(context: Context): Promise<number> {
  const name = context.given[0] ?? "";
  const reply = await reachGateway(context).post<ApproveToolsReply>(`/api/mcp/${encodeURIComponent(name)}/approve`);
  return show(context, reply, ({ approved }) => {
    if (approved.length === 0) return `All tools of ${visibleLine(name)} were approved before; nothing changed.`;
    return `Approved as they are now: ${approved.map(visibleLine).join(", ")}.`;
  });
}
