// The tools of one server as they were listed last, and which of them are approved. The first list after the server was
// configured is approved as it is; what differs later is not offered to models until an approver has said yes. The
// approval is stored, so a restart changes nothing.

import { createHash } from "node:crypto";
import { sentenceOf } from "../../core/fault.ts";
import type { Listed } from "./connection.ts";
import {
  type ApprovedTools,
  type ToolChange,
  type ToolDefinition,
  approvedAs,
  changesIn,
  definitionOf,
  digestOf,
  readApproved,
} from "./definitions.ts";
import type { McpOptions, McpServer } from "./options.ts";

export type CatalogView = {
  /** Approved and still listed: what models are offered. */
  readonly offered: readonly ToolDefinition[];
  /** Listed and not approved. */
  readonly changes: readonly ToolChange[];
};

export interface ToolCatalog {
  /** Called with every list that a process of the server gives; resolves when it is known what is approved. */
  saw(listed: readonly Listed[]): Promise<void>;
  /** As listed last; null before that. */
  latest(): readonly Listed[] | null;
  /** The same object until something is different. */
  view(): CatalogView;
  isApproved(listed: Listed): boolean;
  changeOf(listed: Listed): ToolChange;
  /** Stored when it resolves. */
  approve(listed: readonly Listed[]): Promise<void>;
}

export function toolCatalog(
  name: string,
  settings: McpServer,
  { facts, log }: Pick<McpOptions, "facts" | "log">,
): ToolCatalog {
  const fact = `mcp.tools.${name}`;
  const server = identityOf(settings);
  let approved: ApprovedTools | null = null;
  let loading: Promise<void> | null = null;
  let latest: readonly Listed[] | null = null;
  let view: CatalogView = { offered: [], changes: [] };
  let said = "";

  /** A store that cannot be read now is read at the next list. */
  async function load(): Promise<void> {
    try {
      const stored = readApproved(await facts.read(fact));
      approved ??= stored?.server === server ? stored : null;
    } catch (error) {
      loading = null;
      throw error;
    }
  }

  async function approve(listed: readonly Listed[]): Promise<void> {
    const next = { server, tools: { ...approved?.tools, ...definitionsOf(listed) } };
    await facts.write(fact, JSON.stringify(next));
    approved = next;
    look();
  }

  function look(): void {
    const [known, listed] = [approved ?? { server, tools: {} }, latest ?? []];
    view = {
      offered: listed.flatMap((one) => approvedAs(known, one.name) ?? []),
      changes: changesIn(known, listed),
    };
    const names = view.changes.map(({ after }) => after.name);
    const text = names.join(", ");
    if (text !== "" && text !== said)
      log("warn", "an MCP server changed its tools; they wait for approval", {
        server: name,
        tools: names.slice(0, 20),
      });
    said = text;
  }

  return {
    async saw(listed) {
      await (loading ??= load());
      latest = listed;
      if (approved !== null) return look();
      // Kept also where it cannot be stored now: then the list of the next start is the first one again.
      approved = { server, tools: definitionsOf(listed) };
      look();
      await facts.write(fact, JSON.stringify(approved)).catch((error: unknown) => {
        log("warn", "the tools of an MCP server could not be stored", { server: name, why: sentenceOf(error) });
      });
    },
    latest: () => latest,
    view: () => view,
    isApproved: (listed) => approved !== null && approvedAs(approved, listed.name)?.digest === digestOf(listed),
    changeOf: (listed) => ({
      before: approved === null ? null : approvedAs(approved, listed.name),
      after: definitionOf(listed),
    }),
    approve,
  };
}

function definitionsOf(listed: readonly Listed[]): Readonly<Record<string, ToolDefinition>> {
  return Object.fromEntries(listed.map((one) => [one.name, definitionOf(one)]));
}

/** Of what is started or asked, without secrets: whose tools were approved. */
function identityOf(settings: McpServer): string {
  const what = "url" in settings ? ["url", settings.url] : ["command", ...settings.command];
  return createHash("sha256").update(JSON.stringify(what)).digest("hex");
}
