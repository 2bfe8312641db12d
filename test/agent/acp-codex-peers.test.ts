// Codex as an ACP agent, with a fake of OpenAI's responses.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { acpPeerSuite } from "./acp-peer-suite.ts";

await acpPeerSuite({
  name: "codex-acp",
  login: ["OPENAI_API_KEY"],
  env(url, folder) {
    const settings = ['model = "fake-model"', `openai_base_url = "${url}/v1"`, "[features]", "plugins = false", ""];
    writeFileSync(join(folder, "config.toml"), settings.join("\n"));
    return {
      OPENAI_API_KEY: "planted-provider-key-4711",
      CODEX_HOME: folder,
      INITIAL_AGENT_MODE: "workspace-write",
      NO_BROWSER: "1",
    };
  },
  // Its own sandbox does not work inside of ours, so it asks to run a command without.
  call: (command) => ({
    name: "exec_command",
    login: ["OPENAI_API_KEY"],
    input: { cmd: command, sandbox_permissions: "require_escalated", justification: "As the user wants" },
  }),
});
