// Tools that each person has for themselves: made for the person's own workspace at their first call, and chosen by who
// asked for the turn. To a model they look the same for everybody. Here text from outside is followed through files: a
// marked conversation marks the workspace that it writes to, and a marked workspace marks those who read there.

import type { ToolResult } from "../../core/journal.ts";
import type { Requester } from "../../core/requester.ts";
import type { Tool, ToolContext } from "../../ports/tool.ts";
import type { Workspace, Workspaces } from "../../ports/workspaces.ts";

/** Sets of tools that are kept; the one that was not used for longest is made again. */
const setsMax = 1_000;

/** What a tool does with files; whatever can write can show what it read. */
export const fileUses: Readonly<Record<string, "reads" | "writes">> = {
  terminal: "writes",
  process: "reads",
  read_file: "reads",
  search_files: "reads",
  write_file: "writes",
  edit_file: "writes",
};

const commandTools: ReadonlySet<string> = new Set(["terminal", "process"]);

/** Whether a call reaches text from outside by itself: over the network, or in files that were sent. */
function readsOutside(input: unknown, { grant }: ToolContext, { files }: Workspace, network: boolean): boolean {
  const isOnline = network || grant.hosts.length > 0 || grant.outside;
  return isOnline || (JSON.stringify(input) ?? "").includes(files);
}

/** A tool of a program that works in the workspace: in a marked conversation it may write there what came from outside. */
export function followedWrites(tool: Tool, { workspaceFor, mark }: Workspaces): Tool {
  return {
    ...tool,
    async run(input, context) {
      const workspace = await workspaceFor(context.requester);
      if (context.outside && !workspace.isMarked) await mark(workspace);
      return tool.run(input, context);
    },
  };
}

/**
 * `shown` is the workspace whose tools lend name, description and effect. `network`: commands reach the network without a
 * grant.
 */
export function perPerson(
  make: (workspace: Workspace) => readonly Tool[],
  { workspaceFor, mark }: Workspaces,
  shown: Workspace,
  network: boolean,
): readonly Tool[] {
  const sets = new Map<string, readonly Tool[]>();

  async function own<C extends { readonly requester: Requester }>(
    name: string,
    context: C,
  ): Promise<{ readonly tool: Tool | undefined; readonly context: C; readonly workspace: Workspace }> {
    const workspace = await workspaceFor(context.requester);
    const { person } = workspace;
    const tools = sets.get(person) ?? make(workspace);
    sets.delete(person);
    sets.set(person, tools);
    const [oldest] = sets.keys();
    if (sets.size > setsMax && oldest !== undefined) sets.delete(oldest);
    const requester = { ...context.requester, person };
    return { tool: tools.find((tool) => tool.name === name), context: { ...context, requester }, workspace };
  }

  async function followed<R extends ToolResult | null>(
    { tool, context, workspace }: { tool: Tool | undefined; context: ToolContext; workspace: Workspace },
    input: unknown,
    work: () => R | Promise<R>,
  ): Promise<R> {
    const use = fileUses[tool?.name ?? ""] ?? null;
    if (use === null) return work();
    // Tools for files have no network of their own; what commands wrote is marked where they wrote it.
    const isOutside = readsOutside(input, context, workspace, network && commandTools.has(tool?.name ?? ""));
    // Before it runs: a mark too many is harmless, a file without its mark is not.
    const marks = use === "writes" && (context.outside || isOutside) && !workspace.isMarked;
    if (marks) await mark(workspace);
    const result = await work();
    return (isOutside || workspace.isMarked) && result !== null ? { ...result, outside: true } : result;
  }

  return make(shown).map((face) => {
    const { name, vet, check, drop } = face;
    const none: ToolResult = { type: "failed", why: `There is no tool named ${name}.` };
    return {
      ...face,
      async run(input, context) {
        const mine = await own(name, context);
        return followed(mine, input, () => mine.tool?.run(input, mine.context) ?? none);
      },
      ...(vet && {
        async vet(input, context) {
          const mine = await own(name, context);
          return (await mine.tool?.vet?.(input, mine.context)) ?? { type: "run" };
        },
      }),
      ...(check && {
        async check(input, context) {
          const mine = await own(name, context);
          return followed(mine, input, () => mine.tool?.check?.(input, mine.context) ?? null);
        },
      }),
      ...(drop && {
        async drop(input, context) {
          const mine = await own(name, context);
          await mine.tool?.drop?.(input, mine.context);
        },
      }),
    };
  });
}
