// Markdown written in the dialect of a platform. Every platform that shows formatted text configures it in its markup.ts.

export { type Dialect, type Item, dialect, markOf, prefixed } from "./dialect.ts";
export { plain } from "./plain.ts";
export { type Table, layOut } from "./table.ts";
export { write } from "./write.ts";
