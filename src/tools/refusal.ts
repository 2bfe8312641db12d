// Sentences for what the operating system refuses.

const refusals: Readonly<Record<string, string>> = {
  ENOENT: "does not exist",
  EACCES: "may not be used by this user",
  EPERM: "may not be used by this user",
  EISDIR: "is a folder",
  ENOTDIR: "leads through something that is not a folder",
  ELOOP: "is a circle of links",
  ENAMETOOLONG: "has a name that is too long",
  ENOSPC: "cannot be written: the disk is full",
  EDQUOT: "cannot be written: the quota is used up",
  EROFS: "lies on a file system that can only be read",
  EMFILE: "cannot be opened now: too many files are open",
  ETXTBSY: "is a program that is running",
  EBUSY: "is in use",
};

/** What the system refused, to what; null when it is no refusal of the system. */
export function refusalOf(error: unknown): string | null {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return null;
  if (!("syscall" in error)) return null;
  const what = "path" in error && typeof error.path === "string" ? error.path : "It";
  const known = refusals[error.code];
  return known === undefined ? `${what}: ${error.message}` : `${what} ${known}.`;
}
