// MCP servers as their owner sees them: how they are, which of their tools changed, and the word that accepts them.

import type { ApproveToolsReply, ServersReply } from "../protocol.ts";
import { type ApiRoute, json, smallBody } from "./route.ts";

export const serverRoutes: readonly ApiRoute[] = [
  {
    method: "GET",
    role: "owner",
    body: "none",
    path: "/api/mcp",
    handle: (_, { servers }) => json({ servers: servers.list() } satisfies ServersReply),
  },
  {
    method: "POST",
    role: "owner",
    body: smallBody,
    path: "/api/mcp/:name/approve",
    async handle({ params }, { servers }) {
      const server = params["name"] ?? "";
      return json({ server, approved: await servers.approve(server) } satisfies ApproveToolsReply);
    },
  },
];
