// The profile of Seatbelt, the sandbox of macOS: the same table as for bubblewrap, with real paths, because Seatbelt mounts
// nothing. Of two rules that fit, the later one counts. Pure. It is tested as text; no machine of the project runs it.

export type SeatbeltPlan = {
  /** Folders and files to read beside the system's own. */
  readonly readable: readonly string[];
  readonly writable: readonly string[];
  /** The gateway's home: not there, except for what of it is in the lists above. */
  readonly hidden: readonly string[];
  /** Folders of sockets that the program may connect to. */
  readonly sockets: readonly string[];
  /** Where the proxy listens on the loopback interface; null without hosts. */
  readonly proxyPort: number | null;
};

const systemFolders = [
  ..."/usr /bin /sbin /opt /System /Library/Apple /Library/Developer /Library/Frameworks /Library/Fonts".split(" "),
  ..."/Applications/Xcode.app /private/var/db/timezone /private/var/db/dyld /private/var/select".split(" "),
];
const systemFiles =
  "hosts localtime protocols services shells ssl/cert.pem ssl/openssl.cnf paths paths.d manpaths".split(" ");
const devices = "null zero random urandom tty fd dtracehelper".split(" ");

export function seatbeltProfile({ readable, writable, hidden, sockets, proxyPort }: SeatbeltPlan): string {
  const paths = (kind: "subpath" | "literal", all: readonly string[]) =>
    all.map((path) => `(${kind} ${quoted(path)})`).join(" ");
  const lines = [
    "(version 1)",
    "(deny default)",
    "(allow process-fork process-exec)",
    "(allow signal process-info* (target same-sandbox))",
    "(allow sysctl-read)",
    "(allow ipc-posix-sem)",
    '(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo" "com.apple.trustd.agent" "com.apple.SystemConfiguration.configd"))',
    `(allow file-read-metadata ${paths("literal", parentsOf([...readable, ...writable]))})`,
    `(allow file-read* (literal "/") ${paths("subpath", systemFolders)})`,
    `(allow file-read* ${systemFiles.map((name) => `(subpath ${quoted(`/private/etc/${name}`)})`).join(" ")})`,
    `(allow file-read* file-write-data file-ioctl ${paths(
      "subpath",
      devices.map((name) => `/dev/${name}`),
    )})`,
    ...(hidden.length === 0 ? [] : [`(deny file* ${paths("subpath", hidden)})`]),
    ...(readable.length === 0 ? [] : [`(allow file-read* ${paths("subpath", readable)})`]),
    ...(writable.length === 0 ? [] : [`(allow file-read* file-write* ${paths("subpath", writable)})`]),
    "(deny network*)",
    ...sockets.map((path) => `(allow network-outbound (remote unix-socket (subpath ${quoted(path)})))`),
    ...(proxyPort === null ? [] : [`(allow network-outbound (remote ip "localhost:${proxyPort}"))`]),
  ];
  return `${lines.join("\n")}\n`;
}

export function seatbeltWords(profile: string, command: readonly string[]): readonly string[] {
  return ["/usr/bin/sandbox-exec", "-p", profile, ...command];
}

/** To walk to a folder, a program looks at those above it. */
function parentsOf(paths: readonly string[]): readonly string[] {
  const all = paths.flatMap((path) => path.split("/").map((_, at, parts) => parts.slice(0, at + 1).join("/") || "/"));
  return [...new Set(all)];
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}
