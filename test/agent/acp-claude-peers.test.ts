// Claude Code as an ACP agent, with a fake of Anthropic's messages.

import { acpPeerSuite } from "./acp-peer-suite.ts";

await acpPeerSuite({
  name: "claude-agent-acp",
  login: ["ANTHROPIC_API_KEY"],
  env: (url) => ({
    ANTHROPIC_API_KEY: "planted-provider-key-4711",
    ANTHROPIC_BASE_URL: url,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  }),
  call: (command) => ({ name: "Bash", input: { command, description: "As the user wants" } }),
});
