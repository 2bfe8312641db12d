// Programs that send, serve or fetch over a network. Pure.

import { type Judgement, dangerous, plain, worst } from "../judgement.ts";
import { type Call, type Look, type Rule, type Rules, readsWhole, writes } from "../look.ts";
import { readOptions } from "../shell/options.ts";

const sends =
  (name: string): Rule =>
  () =>
    dangerous(`it connects to another machine (${name})`);

/** Options that take the next word. */
export const curlValued =
  "d data data-raw data-binary data-urlencode json F form T upload-file o output X request H header u user A user-agent e referer b cookie c cookie-jar K config x proxy m max-time E cert key w write-out r range C continue-at output-dir connect-timeout retry D dump-header trace trace-ascii stderr";

function curl({ args }: Call, look: Look): Judgement {
  const { has, values, operands } = readOptions(args, curlValued);
  const found: Judgement[] = values(
    "o",
    "output",
    "output-dir",
    "c",
    "cookie-jar",
    "D",
    "dump-header",
    "trace",
    "trace-ascii",
    "stderr",
  )
    .filter((file) => file !== "-")
    .map((file) => writes(file, look));
  if (has("d", "data", "data-raw", "data-binary", "data-urlencode", "json", "F", "form", "T", "upload-file"))
    found.push(dangerous("it sends data to another machine"));
  if (values("X", "request").some((method) => !/^(?:GET|HEAD|OPTIONS)$/i.test(method)))
    found.push(dangerous(`it asks another machine for a change (${values("X", "request").join(" ")})`));
  if (has("K", "config")) found.push(dangerous("what it does is in a file that is not judged"));
  if (
    has("u", "user", "E", "cert") ||
    values("H", "header").some((one) => /^(?:authorization|cookie|x-api-key)/i.test(one))
  )
    found.push(dangerous("it sends credentials to another machine"));
  if (operands.some((one) => one.includes("\0") || /[?&][^=]*=\$/.test(one)))
    found.push(dangerous("it asks for an address that is not written out"));
  return worst(found);
}

export const wgetValued =
  "O o P output-document output-file directory-prefix post-data post-file body-data body-file method header U user password i input-file e execute a";

function wget({ args }: Call, look: Look): Judgement {
  const { has, values, operands } = readOptions(args, wgetValued);
  const found: Judgement[] = values("O", "o", "P", "a", "output-document", "output-file", "directory-prefix")
    .filter((file) => file !== "-")
    .map((file) => writes(file, look));
  if (has("post-data", "post-file", "body-data", "body-file", "method"))
    found.push(dangerous("it sends data to another machine"));
  if (has("password", "user")) found.push(dangerous("it sends credentials to another machine"));
  if (has("e", "execute", "use-askpass")) found.push(dangerous("it is told what to do by more than its words"));
  if (operands.some((one) => one.includes("\0")))
    found.push(dangerous("it asks for an address that is not written out"));
  return worst(found);
}

/** Whether it listens or connects: both carry things out, or let somebody in. */
function netcat({ name, args }: Call, look: Look): Judgement {
  const { has, values } = readOptions(args, "e c p s w exec sh-exec");
  const inner = values("e", "c", "exec", "sh-exec").map((text) => look.script(text));
  const why = has("l", "listen")
    ? "it lets others connect to this machine"
    : `it connects to another machine (${name})`;
  return worst([dangerous(why), ...inner]);
}

function ssh({ name, args }: Call): Judgement {
  return args.length === 1 && /^(?:-V|--version)$/.test(args[0] ?? "")
    ? plain
    : dangerous(`it connects to another machine (${name})`);
}

const isRemote = (text: string): boolean => /^[^/]*:/.test(text) || /^(?:rsync|sftp|ssh):\/\//.test(text);

function rsync({ args }: Call, look: Look): Judgement {
  const { has, values, operands } = readOptions(
    args,
    "e rsh f filter exclude include files-from log-file backup-dir temp-dir",
  );
  const target = operands.at(-1);
  const found: Judgement[] = values("e", "rsh").map((text) => look.script(text));
  if (operands.some(isRemote)) found.push(dangerous("it copies to or from another machine", "outside"));
  if (args.some((arg) => /^--(?:delete|remove-source-files)/.test(arg)) || has("delete"))
    found.push(dangerous("it deletes what is not in both places"));
  if (target !== undefined && !isRemote(target)) found.push(writes(target, look));
  found.push(...operands.slice(0, -1).map((source) => readsWhole(source, look)));
  return worst(found);
}

const asksName: Rule = ({ args }) =>
  args.some((arg) => arg.includes("\0")) ? dangerous("it asks the network for a name that is not written out") : plain;

const serves =
  (name: string): Rule =>
  () =>
    dangerous(`it lets others connect to this machine (${name})`);

/** Listing and looking is plain, everything else reaches an account. */
function account(question: RegExp): Rule {
  return ({ name, args }) => {
    const words = readOptions(args).operands.join(" ");
    return args.length === 0 || question.test(words)
      ? plain
      : dangerous(`it acts with an account of the user (${name})`);
  };
}

export const networkRules: Rules = {
  curl,
  wget,
  wget2: wget,
  aria2c: wget,
  http: sends("http"),
  https: sends("https"),
  xh: sends("xh"),
  nc: netcat,
  ncat: netcat,
  netcat,
  socat: netcat,
  telnet: sends("telnet"),
  ftp: sends("ftp"),
  lftp: sends("lftp"),
  tftp: sends("tftp"),
  ssh,
  sshpass: ssh,
  mosh: ssh,
  scp: sends("scp"),
  sftp: sends("sftp"),
  "ssh-copy-id": sends("ssh-copy-id"),
  "ssh-add": sends("ssh-add"),
  rsync,
  rclone: sends("rclone"),
  mail: sends("mail"),
  mailx: sends("mailx"),
  sendmail: sends("sendmail"),
  mutt: sends("mutt"),
  ngrok: serves("ngrok"),
  cloudflared: serves("cloudflared"),
  "http-server": serves("http-server"),
  serve: serves("serve"),
  iperf: serves("iperf"),
  iperf3: serves("iperf3"),
  // What is asked for by name is told to whoever answers for the name.
  dig: asksName,
  host: asksName,
  nslookup: asksName,
  ping: asksName,
  drill: asksName,
  nmap: () => dangerous("it looks for open doors of other machines"),
  masscan: () => dangerous("it looks for open doors of other machines"),
  tcpdump: () => dangerous("it listens to what others say on the network"),
  tailscale: account(/^status/),
  aws: account(/^(?:help|--version)$/),
  gcloud: account(/^(?:version|info|help)$/),
  gsutil: account(/^(?:version|help)$/),
  az: account(/^(?:version|help)$/),
  gh: account(/^(?:--version|version|help|status|(?:pr|issue|run|repo|release) (?:list|view|status|diff|checks)\b.*)$/),
  glab: account(/^(?:--version|version|help|(?:mr|issue) (?:list|view)\b.*)$/),
  heroku: account(/^(?:help|version)$/),
  vercel: account(/^(?:help|--version)$/),
  netlify: account(/^(?:help|--version)$/),
  fly: account(/^(?:help|version)$/),
  flyctl: account(/^(?:help|version)$/),
};
