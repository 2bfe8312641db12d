// Code blocks as a terminal shows them: set in, without their fences. Pure. A block ends where its own fence does, so that
// nothing inside it can pass for words outside.

const margin = "    ";

export function setIn(text: string): string {
  const lines: string[] = [];
  let fence = "";
  for (const line of text.split("\n")) {
    const [, mark = "", rest = ""] = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
    if (fence === "" && mark !== "" && !(mark.startsWith("`") && rest.includes("`"))) fence = mark;
    else if (fence !== "" && mark.startsWith(fence) && rest.trim() === "") fence = "";
    else lines.push(fence === "" ? line : `${margin}${line}`);
  }
  return lines.join("\n");
}
