// Everything that can grow or wait has its limit here, with its unit in the name.

export const limits = {
  /** Sessions whose turns run at the same time; the rest wait in fair order. */
  lanesMax: 64,
  /** Messages being stored at the same time; more are told to come back. */
  acceptsMax: 512,
  /** Largest text of one message, in UTF-16 units. */
  textMax: 2_000_000,
  /** Longest name of an inbound message. */
  keyMax: 512,
  /** Entries in the journal of one turn; a turn that reaches it ends as failed. */
  entriesMax: 2_000,
  /** Agent steps in a row that went wrong by themselves before the turn ends as failed. */
  stepFailuresMax: 5,
  /** How long steps that may succeed later are tried again, and the longest pause between two of them. */
  stepPatienceMs: 10 * 60_000,
  stepPauseMaxMs: 30_000,
  /** Summaries in a row, without anything done between them, before the turn ends as failed. */
  compactionsMax: 3,
  /** A judgment that takes longer is none, and the call is not made. The first one may wait for the trial of the sandbox. */
  vetMs: 60_000,
  /** How long commands in the background are waited for when somebody stops them. */
  stopActivityMs: 10_000,
  /** An agent step without any sign of life is abandoned after this. */
  stepSilenceMs: 10 * 60_000,
  /** A tool that set no limit of its own is abandoned after this. */
  toolMs: 10 * 60_000,
  /** How long an interrupted tool may still tell its result. */
  toolGraceMs: 1_000,
  /** A send without an answer is in doubt after this. */
  sendMs: 60_000,
  /** Sends at the same time on one platform account. */
  sendsMax: 64,
  /** Answers that take no longer than this are one message, without a placeholder before it. */
  previewAfterMs: 300,
  /** After a platform asked the whole account to pause, previews leave it alone for this long. */
  previewQuietMs: 30_000,
  /** A request about a preview is given up after this. */
  previewMs: 10_000,
  /** How long the end of a turn waits to learn which message its preview stands in. */
  draftWaitMs: 1_000,
  /** How often it is tried to take away a preview that nobody finishes. */
  removalsMax: 3,
  /** It is shown this often that an answer is on its way. */
  typingEveryMs: 4_000,
  /** How often a text that may have arrived is sent again where the platform takes no key. */
  doubtfulSendsMax: 2,
  /** The same where a repeat makes no copy, because the send has a key, is an edit, or never left. */
  harmlessSendsMax: 29,
  /** The same for sends that a break of the connection cut off. */
  cutSendsMax: 10,
  /** First and longest pause between two probes of an account that cannot be reached. */
  reachProbeMinMs: 500,
  reachProbeMaxMs: 30_000,
  /** First and longest pause between two attempts to send. */
  retryMinMs: 1_000,
  retryMaxMs: 5 * 60_000,
  /** An item waits no longer than this for its next attempt, whatever the platform asks for or the clock says. */
  itemPauseMaxMs: 3_600_000,
  /** A reply that could not be sent for this long is held. */
  giveUpMs: 3 * 24 * 3_600_000,
  /** A conversation reads at most one notice about held answers in this time. */
  heldNoticeMs: 24 * 3_600_000,
  /** First and longest pause before a platform is connected again. */
  reconnectMinMs: 1_000,
  reconnectMaxMs: 5 * 60_000,
  /** A platform that has not stood for this long makes the gateway unwell. */
  lossPatienceMs: 60_000,
  /** How long a platform may take to say how it is. */
  probeMs: 5_000,
  /** Ready is said when every platform has answered, or after this. */
  readyMs: 2_000,
  /** The longest a question may wait for its answer. */
  questionMaxMs: 30 * 24 * 3_600_000,
  /** How long something may wait to be allowed. */
  approvalMs: 30 * 24 * 3_600_000,
  /** Approvals of one conversation that wait with approvers elsewhere; further ones wait for the owner alone. */
  routedMax: 5,
  /** One line about a call that runs, and how much of what it tells is shown. */
  progressLineMax: 100,
  /** Lines about calls of a turn, finished or not, that are shown. */
  progressLinesMax: 8,
  /** Messages that may join a running turn at one step. */
  joinsMax: 20,
  /** Messages of bots in a row, without a human's between them, that are taken in one chat. */
  botsInARowMax: 3,
  /** Strangers who wait to be let in at one account, how long their codes are good, and how often they are told so. */
  pairingsMax: 3,
  pairingMs: 3_600_000,
  pairingReminderMs: 5 * 60_000,
  /** So many wrong codes within this time, and none is taken for as long. */
  pairingTriesMax: 5,
  pairingTriesMs: 10 * 60_000,
  /** What is kept of a stranger's name. */
  senderNameMax: 80,
  /** Pause between attempts to commit while the disk is full or failing. */
  storeRetryMinMs: 100,
  storeRetryMaxMs: 5_000,
  /** What a stop may take beyond the drain; the last part of it is kept for the final writes. */
  stopMs: 5_000,
  finalMs: 1_000,
  /** Requests to stop within this are one request. */
  sameRequestMs: 1_000,
  /** How long each part of a stop may take: commits, notices, turns that park, sends under way, whatever closes. */
  noteMs: 1_000,
  noticeMs: 1_000,
  parkMs: 2_000,
  sendGraceMs: 1_000,
  closeMs: 1_000,
  /** A sign of life of the boot is written this often. */
  beatMs: 30_000,
  /** Deaths without progress before a turn is given up, interruptions before its session starts over. */
  strikesMax: 3,
  /** Interruptions by a stop, with or without progress, before a session starts over. */
  interruptionsMax: 50,
  /** A session that was active this long ago counts as active when the process died. */
  recentMs: 120_000,
  /** Deaths in a row before it was ready after which the gateway holds still, and for how long. */
  unreadyMax: 3,
  safeModeMs: 5 * 60_000,
  /** How long new turns wait for the verdict on a suspect. */
  holdMs: 30_000,
  /** The longest sleep of a timer; longer ones are slept in pieces. */
  sleepMaxMs: 3_600_000,
} as const;
