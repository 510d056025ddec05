/** What each route answers; the names are those of the table in http.ts. */
import type { TranscriptPage } from "./transcript.ts";
import type {
  ChangesJson,
  DeviceJson,
  EventJson,
  FilesJson,
  FindingJson,
  HealthJson,
  Infer,
  InfoJson,
  PatchJson,
  PreflightJson,
  ProjectJson,
  PushBrowserJson,
  PushJson,
  SessionJson,
  SettingsJson,
  StopJson,
  TrackerJson,
  TrashJson,
  TrustJson,
  VerbAnswer,
  WorkJson,
  answerJson,
  permissionRulesJson,
  permissionTestJson,
  questionJson,
  cancelJson,
  challengeJson,
  cleanupJson,
  linesJson,
  loginJson,
  loginLinkJson,
  logoutJson,
  primerJson,
  pushTestJson,
  queueJson,
  receiptJson,
  rotatedJson,
  spawningJson,
  wakeJson,
  workerJson,
} from "./wire.ts";

export interface Answers {
  health: HealthJson;
  challenge: Infer<typeof challengeJson>;
  info: InfoJson;
  login: Infer<typeof loginJson>;
  loginLink: Infer<typeof loginLinkJson>;
  logout: Infer<typeof logoutJson>;
  devices: DeviceJson[];
  deviceEdit: DeviceJson;
  deviceRevoke: DeviceJson;
  tokenRotate: Infer<typeof rotatedJson>;
  daemonStop: StopJson;
  sessions: SessionJson[];
  session: SessionJson;
  spawn: SessionJson;
  spawning: Infer<typeof spawningJson>;
  stop: VerbAnswer;
  kill: VerbAnswer;
  restore: VerbAnswer;
  archive: VerbAnswer;
  unarchive: VerbAnswer;
  wake: VerbAnswer;
  delete: VerbAnswer;
  snooze: VerbAnswer;
  rename: SessionJson;
  prompt: Infer<typeof receiptJson>;
  events: EventJson[];
  changes: ChangesJson;
  patch: PatchJson;
  files: FilesJson;
  work: WorkJson;
  preflight: PreflightJson;
  transcript: TranscriptPage;
  cleanup: Infer<typeof cleanupJson>[];
  projects: ProjectJson[];
  projectAdd: ProjectJson[];
  projectRemove: ProjectJson;
  trustAt: TrustJson;
  trust: TrustJson;
  trustAnswer: TrustJson;
  trash: TrashJson[];
  trashRestore: TrashJson;
  trashEmpty: TrashJson[];
  doctor: FindingJson[];
  settings: SettingsJson;
  workers: Infer<typeof workerJson>[];
  answer: Infer<typeof answerJson>;
  questions: Infer<typeof questionJson>[];
  permissionRules: Infer<typeof permissionRulesJson>;
  permissionTest: Infer<typeof permissionTestJson>;
  cancel: Infer<typeof cancelJson>;
  endTurn: SessionJson;
  configure: SessionJson;
  acpKill: VerbAnswer;
  acpRestart: VerbAnswer;
  screen: Infer<typeof linesJson>;
  acpLogs: Infer<typeof linesJson>;
  primer: Infer<typeof primerJson>;
  primerDismiss: SessionJson;
  convert: VerbAnswer;
  promptEdit: Infer<typeof queueJson>;
  queue: Infer<typeof queueJson>;
  trackers: TrackerJson[];
  trackersRefresh: TrackerJson[];
  claimPullRequest: SessionJson;
  webhook: Infer<typeof wakeJson>;
  /** Sent as it is, not as JSON. */
  attachment: { mimeType: string; bytes: Uint8Array };
  push: PushJson;
  pushSubscribe: PushBrowserJson;
  pushRemove: PushBrowserJson;
  pushTest: Infer<typeof pushTestJson>;
  openapi: Record<string, unknown>;
}
