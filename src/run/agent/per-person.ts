// Tools that each person has for themselves: made for the person's own workspace at their first call, and chosen by who
// asked for the turn. To a model they look the same for everybody.

import type { ToolResult } from "../../core/journal.ts";
import type { Requester } from "../../core/requester.ts";
import type { Tool } from "../../ports/tool.ts";
import type { Workspace, Workspaces } from "../../ports/workspaces.ts";

/** Sets of tools that are kept; the one that was not used for longest is made again. */
const setsMax = 1_000;

/** `shown` is the workspace whose tools lend name, description and effect. */
export function perPerson(
  make: (workspace: Workspace) => readonly Tool[],
  { workspaceFor }: Workspaces,
  shown: Workspace,
): readonly Tool[] {
  const sets = new Map<string, readonly Tool[]>();

  async function own<C extends { readonly requester: Requester }>(
    name: string,
    context: C,
  ): Promise<{ readonly tool: Tool | undefined; readonly context: C }> {
    const workspace = await workspaceFor(context.requester);
    const { person } = workspace;
    const tools = sets.get(person) ?? make(workspace);
    sets.delete(person);
    sets.set(person, tools);
    const [oldest] = sets.keys();
    if (sets.size > setsMax && oldest !== undefined) sets.delete(oldest);
    const requester = { ...context.requester, person };
    return { tool: tools.find((tool) => tool.name === name), context: { ...context, requester } };
  }

  return make(shown).map((face) => {
    const { name, vet, check, drop } = face;
    const none: ToolResult = { type: "failed", why: `There is no tool named ${name}.` };
    return {
      ...face,
      async run(input, context) {
        const mine = await own(name, context);
        return mine.tool?.run(input, mine.context) ?? none;
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
          return (await mine.tool?.check?.(input, mine.context)) ?? null;
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
