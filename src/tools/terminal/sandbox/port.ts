// The sandbox of this folder behind the port that the terminal works with.

import { Fault } from "../../../core/fault.ts";
import type { Sandbox, SandboxState } from "../../../ports/sandbox.ts";
import { type SandboxChoice, type SandboxPlaces, openSandbox } from "./sandbox.ts";

export type PortOptions = SandboxPlaces & {
  readonly choice: SandboxChoice;
  /** `off` was chosen by somebody who knows what it means. */
  readonly unsafe: boolean;
};

export const offWithoutUnsafe =
  "agent.tools.terminal.sandbox is off, so commands would run with all rights of the gateway. Set sandbox: auto to have one again, or agent.tools.terminal.unsafe: true to accept it.";

export function sandboxPort({ choice, unsafe, ...places }: PortOptions): Sandbox {
  const inner = openSandbox(choice, places);
  return {
    async state(): Promise<SandboxState> {
      if (choice === "off" && !unsafe) return { type: "missing", why: offWithoutUnsafe };
      const found = await inner.state();
      if (found.type === "on") return { type: "on", kind: "bubblewrap" };
      if (found.type === "missing") return found;
      return { type: "off", why: found.warning ?? "It is switched off.", isAccepted: choice === "off" };
    },
    async wrap(command, { person, cwd, grant, env }) {
      if ((await inner.state()).type !== "on") throw new Fault("not-possible", "There is no sandbox here.");
      const [program = "", ...words] = await inner.words({ cwd, network: grant.hosts.length > 0 }, person);
      const at = words.lastIndexOf("--chdir");
      const binds = grant.paths.flatMap(({ path, access }) => [
        access === "write" ? "--bind" : "--ro-bind",
        path,
        path,
      ]);
      return {
        program,
        words: [...words.slice(0, at), ...binds, ...words.slice(at), ...command],
        env: { HOME: "/tmp", ...env },
      };
    },
  };
}
