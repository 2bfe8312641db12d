// What a rule for the terminal can allow, by the words that its subject begins with. Pure.

export const terminalRules = {
  hosts: "commands that connect to ",
  read: "commands that read anything in ",
  write: "commands that change or delete anything in ",
  command: "in the sandbox: ",
} as const;

/** Rules of releases before 0.5.0 allowed a command without any wall. They are shown, hold no more, and are asked for again. */
export function isRuleInEffect({ tool, subject }: { readonly tool: string; readonly subject: string }): boolean {
  return tool !== "terminal" || Object.values(terminalRules).some((prefix) => subject.startsWith(prefix));
}
