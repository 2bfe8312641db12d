// The system call filter of the sandbox as a classic BPF program, in the bytes that bubblewrap reads. It closes kernel
// interfaces that no ordinary program needs and that have been ways out of namespaces. Pure.

export type FilterArch = "x64" | "arm64";

/** AUDIT_ARCH_*: a call made under another architecture has other numbers, so the process is killed. */
const audit: Readonly<Record<FilterArch, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 };

/** Numbers on x86-64 and on arm64; null where it does not exist. */
const denied: Readonly<Record<string, readonly [x64: number | null, arm64: number | null]>> = {
  // Kernel keyrings are not divided by namespaces.
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  // io_uring makes system calls that no filter sees.
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  // Large kernel interfaces with a history of privilege escalation.
  userfaultfd: [323, 282],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  fanotify_init: [300, 262],
  modify_ldt: [154, null],
  lookup_dcookie: [212, 18],
  // Namespaces and mounts.
  unshare: [272, 97],
  setns: [308, 268],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  open_tree_attr: [467, 467],
  // A file handle leads past what is mounted.
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
  // The machine itself.
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  reboot: [169, 142],
  swapon: [167, 224],
  swapoff: [168, 225],
  acct: [163, 89],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  syslog: [103, 116],
  iopl: [172, null],
  ioperm: [173, null],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  adjtimex: [159, 171],
  clock_adjtime: [305, 266],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  vhangup: [153, 58],
  nfsservctl: [180, 42],
};

const examined = {
  x64: { clone: 56, ioctl: 16, socket: 41, socketpair: 53 },
  arm64: { clone: 220, ioctl: 29, socket: 198, socketpair: 199 },
} as const;
/** Its flags are behind a pointer, which a filter cannot follow; libraries fall back to `clone`. */
const clone3 = 435;

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET. */
const newNamespaces = 0x7e020000;
/** TIOCSTI and TIOCLINUX type into the terminal that the program was started from. */
const ioctls = [0x5412, 0x541c];
const families = { unix: 1, inet: 2, inet6: 10, netlink: 16 } as const;
/** NETLINK_ROUTE lists interfaces, NETLINK_SOCK_DIAG lists sockets. */
const netlinkProtocols = [0, 4];

const errno = { EPERM: 1, ENOSYS: 38, EAFNOSUPPORT: 97 } as const;
const allow = 0x7fff0000;
const killProcess = 0x80000000;
const failWith = (code: number) => 0x00050000 | code;

/** Offsets in `struct seccomp_data`; of an argument the lower half. */
const offset = { number: 0, arch: 4, argument: (n: number) => 16 + 8 * n } as const;

type Instruction = readonly [code: number, jumpTrue: number, jumpFalse: number, value: number];
const load = (at: number): Instruction => [0x20, 0, 0, at];
const give = (value: number): Instruction => [0x06, 0, 0, value];
/** Skips as many instructions as it says, where it holds and where not. */
const equals = (value: number, then: number, otherwise: number): Instruction => [0x15, then, otherwise, value];
const atLeast = (value: number, then: number, otherwise: number): Instruction => [0x35, then, otherwise, value];
const hasBits = (value: number, then: number, otherwise: number): Instruction => [0x45, then, otherwise, value];

/** Only for this call; every path through `body` ends with an answer. */
function onCall(number: number, body: readonly Instruction[]): readonly Instruction[] {
  return [equals(number, 0, body.length), ...body];
}

function instructionsFor(arch: FilterArch): readonly Instruction[] {
  const numbers = Object.values(denied).flatMap(([x64, arm64]) => (arch === "x64" ? x64 : arm64) ?? []);
  const { clone, ioctl, socket, socketpair } = examined[arch];
  const family: readonly Instruction[] = [
    load(offset.argument(0)),
    equals(families.unix, 6, 0),
    equals(families.inet, 5, 0),
    equals(families.inet6, 4, 0),
    equals(families.netlink, 1, 0),
    give(failWith(errno.EAFNOSUPPORT)),
    load(offset.argument(2)),
    ...netlinkProtocols.map((protocol, at) => equals(protocol, netlinkProtocols.length - at, 0)),
    give(failWith(errno.EAFNOSUPPORT)),
    give(allow),
  ];
  // The three jumps to the end depend on how many protocols there are.
  const end = family.length - 1;
  const socketBody = family.map(
    (one, at): Instruction => (at >= 1 && at <= 3 ? [one[0], end - at - 1, 0, one[3]] : one),
  );
  return [
    load(offset.arch),
    equals(audit[arch], 1, 0),
    give(killProcess),
    load(offset.number),
    // The x32 calls of x86-64 have numbers of their own.
    ...(arch === "x64" ? [atLeast(0x40000000, 0, 1), give(killProcess)] : []),
    ...onCall(clone3, [give(failWith(errno.ENOSYS))]),
    ...onCall(clone, [
      load(offset.argument(0)),
      hasBits(newNamespaces, 0, 1),
      give(failWith(errno.EPERM)),
      give(allow),
    ]),
    ...onCall(ioctl, [
      load(offset.argument(1)),
      ...ioctls.map((request, at) => equals(request, ioctls.length - at, 0)),
      give(allow),
      give(failWith(errno.EPERM)),
    ]),
    ...onCall(socket, socketBody),
    ...onCall(socketpair, socketBody),
    ...numbers.flatMap((number) => onCall(number, [give(failWith(errno.EPERM))])),
    give(allow),
  ];
}

export function filterArch(arch: string): FilterArch | null {
  return arch === "x64" || arch === "arm64" ? arch : null;
}

export function seccompFilter(arch: FilterArch): Uint8Array {
  const instructions = instructionsFor(arch);
  const bytes = new DataView(new ArrayBuffer(instructions.length * 8));
  instructions.forEach(([code, jumpTrue, jumpFalse, value], at) => {
    bytes.setUint16(at * 8, code, true);
    bytes.setUint8(at * 8 + 2, jumpTrue);
    bytes.setUint8(at * 8 + 3, jumpFalse);
    bytes.setUint32(at * 8 + 4, value, true);
  });
  return new Uint8Array(bytes.buffer);
}
