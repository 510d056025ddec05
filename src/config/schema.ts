/**
 * The shape of `holdfast.yaml` and of the person's own `config.yaml`. Defaults stand here as descriptions for editors only:
 * a value that was not written stays unset, so that the layers can be merged afterwards (resolve.ts).
 */
import * as z from "zod/mini";
import { idsWithModel, builtInIds } from "../agents/registry.ts";
import { prefixPattern, projectIdPattern } from "../contract/ids.ts";
import { kinds } from "../model/session.ts";
import { permissions } from "./permission-schema.ts";
import { notes } from "./notes.ts";
import { containment, type ContainConfig } from "./contain-schema.ts";
import { maxTextLength, noNul, rule, words, branchFault, passEnvFault, relativePathFault } from "./values.ts";

/** What is used where nobody says anything. */
export const builtInDefaults = {
  agent: "claude",
  kind: "terminal",
  restoreOnBoot: true,
  /** 0 = off: a session that is stopped without being asked for surprises more than one that waits. */
  idleStopMinutes: 0,
  /** Longer than any build or test run of a usual project; it is only a hint. */
  stuckMinutes: 30,
} as const;

const maxMinutes = 365 * 24 * 60;
const maxRetries = 20;

const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/;
const agentName = /^[a-z0-9][a-z0-9_-]{0,62}$/;
/** As in an address: lower case, with the port where it is not the usual one. */
const hostName = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?$/;
const repositoryName = /^[\w.-]+(\/[\w.-]+)*$/;

const argv = (): z.ZodMiniArray<z.ZodMiniString> =>
  z.array(z.string().check(z.maxLength(maxTextLength), noNul)).check(z.minLength(1));
const agentId = (): z.ZodMiniString => z.string().check(z.regex(agentName));
const count = (maximum: number, minimum = 0): z.ZodMiniNumberFormat =>
  z.int().check(z.minimum(minimum), z.maximum(maximum));
const webAddress = (): z.ZodMiniURL => z.url({ protocol: /^https?$/ });

const env = () =>
  z.record(z.string().check(z.regex(variableName)), z.string().check(z.maxLength(maxTextLength), noNul));
const passEnv = () =>
  z.array(words().check(rule(passEnvFault))).register(notes, {
    description:
      "Environment variables that agents get from the shell that starts the daemon, beyond those that every agent gets: names, or prefixes that end with *.",
    examples: [["MY_REGISTRY_TOKEN", "ACME_*"]],
  });
const insideRepository = () => z.array(words().check(rule(relativePathFault)));

const defaults = z
  .strictObject({
    agent: z.optional(
      agentId().register(notes, { description: "Agent of new sessions.", default: builtInDefaults.agent }),
    ),
    kind: z.optional(
      z.enum(kinds).register(notes, {
        description: "terminal: the agent's own screen in tmux. chat: structured, over the Agent Client Protocol.",
        default: builtInDefaults.kind,
      }),
    ),
    restoreOnBoot: z.optional(
      z.boolean().register(notes, {
        description: "Bring sessions back into their conversation after a reboot.",
        default: builtInDefaults.restoreOnBoot,
      }),
    ),
    idleStopMinutes: z.optional(
      count(maxMinutes).register(notes, {
        description: "Stop a session that was idle for so long; the next prompt brings it back. 0 = never.",
        default: builtInDefaults.idleStopMinutes,
      }),
    ),
    maxSessions: z.optional(
      count(10_000, 1).register(notes, {
        description: "Most sessions of a project that may run at once. Not set = no limit.",
      }),
    ),
    spareWorktrees: z.optional(
      z.literal([0, 1]).register(notes, {
        description: "Worktrees kept ready for the next session. Not set = one, where making them is slow.",
      }),
    ),
    stuckMinutes: z.optional(
      count(maxMinutes, 1).register(notes, {
        description: "Call a working session stuck when nothing happened for so long. Only a hint.",
        default: builtInDefaults.stuckMinutes,
      }),
    ),
    passEnv: z.optional(passEnv()),
    contain: z.optional(containment),
  })
  .register(notes, { description: "What holds for every project unless the project says otherwise." });

const tracker = z
  .strictObject({
    type: z.enum(["github", "gitlab", "linear"]).register(notes, { description: "Which tracker." }),
    repo: z.optional(
      z
        .string()
        .check(z.regex(repositoryName))
        .register(notes, {
          description: "owner/name (GitHub), group/name (GitLab), team key (Linear). Default: from the remote origin.",
          examples: ["owner/my-app"],
        }),
    ),
    baseUrl: z.optional(
      webAddress().register(notes, { description: "Address of the tracker's API, for an instance of your own." }),
    ),
    tokenEnv: z.optional(
      z
        .string()
        .check(z.regex(variableName))
        .register(notes, {
          description:
            "Name of the environment variable that holds the token. Never the token itself. Your own config.yaml must bind it to the host under trackers; a name that begins with HOLDFAST_TRACKER_ reaches the daemon and no agent.",
          examples: ["GITHUB_TOKEN", "HOLDFAST_TRACKER_TOKEN"],
        }),
    ),
    webhookSecretEnv: z.optional(
      z
        .string()
        .check(z.regex(variableName))
        .register(notes, {
          description:
            "Name of the environment variable that holds the secret of the tracker's webhooks; your own config.yaml must bind it to the host.",
          examples: ["HOLDFAST_TRACKER_SECRET"],
        }),
    ),
  })
  .register(notes, { description: "Where issues and pull requests are. Default: from the remote origin." });

const reactionTo = (description: string, ...more: "merge"[]) =>
  z.optional(
    z
      .strictObject({
        action: z.enum(["send-to-agent", "notify", ...more]).register(notes, { description: "What to do." }),
        message: z.optional(
          words().register(notes, {
            description: "The text that is sent or shown. Default: what the agent should do next.",
          }),
        ),
        retries: z.optional(
          count(maxRetries).register(notes, {
            description: "How often to tell the agent, or to merge, before the person is told.",
            default: 2,
          }),
        ),
        enabled: z.optional(z.boolean().register(notes, { description: "false switches it off.", default: true })),
      })
      .register(notes, { description }),
  );

const reactions = z
  .strictObject({
    "ci-failed": reactionTo("The pull request's checks failed."),
    "changes-requested": reactionTo("A review asks for changes."),
    "merge-conflict": reactionTo("The branch no longer merges."),
    "agent-idle": reactionTo("The agent has been idle for 15 minutes without a pull request."),
    "approved-and-green": reactionTo("Approved, and all checks passed.", "merge"),
    "needs-input": reactionTo(
      "The agent asks for a permission or an answer. No message can answer it: a person is told either way.",
    ),
    "turn-failed": reactionTo(
      "A turn failed, was refused or was cut, or the agent crashed during it. send-to-agent asks it to continue.",
    ),
    exited: reactionTo("The agent ended by itself. send-to-agent brings it back."),
    "all-done": reactionTo(
      "No session of the project is at work any more, and at least one has finished. send-to-agent tells the project's orchestrator.",
    ),
  })
  .register(notes, { description: "What happens by itself when something happens to a session." });

const project = z
  .strictObject({
    path: z.optional(
      words().register(notes, { description: "The repository, relative to this file.", default: ".", examples: ["."] }),
    ),
    prefix: z.optional(
      z
        .string()
        .check(z.regex(prefixPattern))
        .register(notes, {
          description: "Session ids start with it. Default: the initials of the project's id.",
          examples: ["ma"],
        }),
    ),
    defaultBranch: z.optional(
      words()
        .check(rule(branchFault))
        .register(notes, {
          description: "What new branches start from. Default: detected.",
          examples: ["main"],
        }),
    ),
    agent: z.optional(agentId().register(notes, { description: "Agent of new sessions." })),
    kind: z.optional(z.enum(kinds).register(notes, { description: "Kind of new sessions." })),
    env: z.optional(env().register(notes, { description: "Environment of the project's agents." })),
    passEnv: z.optional(passEnv()),
    contain: z.optional(containment),
    symlinks: z.optional(
      insideRepository().register(notes, {
        description: "Files and directories linked from the repository into each worktree.",
        examples: [["node_modules"]],
      }),
    ),
    copy: z.optional(
      insideRepository().register(notes, {
        description: "Files and directories copied from the repository into each worktree.",
        examples: [[".env"]],
      }),
    ),
    postCreate: z.optional(
      z.array(words()).register(notes, {
        description: "Commands run in each new worktree, in this order.",
        examples: [["npm ci"]],
      }),
    ),
    tracker: z.optional(tracker),
    reactions: z.optional(reactions),
  })
  .register(notes, { description: "One git repository." });

const moreArguments = (description: string) => z.optional(argv().register(notes, { description }));

const agent = z
  .strictObject({
    terminal: z.optional(
      z
        .strictObject({
          command: z.optional(
            argv().register(notes, {
              description:
                "Program and arguments of a first start. {id} is the conversation, {prompt} the first prompt, if there is one.",
            }),
          ),
          resume: z.optional(
            argv().register(notes, {
              description: "Program and arguments that resume the conversation {id}.",
            }),
          ),
          args: moreArguments("Arguments added to the command in a terminal."),
        })
        .register(notes, { description: "How it runs in a terminal." }),
    ),
    chat: z.optional(
      z
        .strictObject({
          command: z.optional(
            argv().register(notes, { description: "Program and arguments that speak ACP on stdin and stdout." }),
          ),
          args: moreArguments("Arguments added to the command of a chat."),
        })
        .register(notes, { description: "How it runs as a chat." }),
    ),
    args: moreArguments("Arguments added to the agent's command in both kinds."),
    model: z.optional(
      words().register(notes, {
        description: `Model that the agent uses, by the agent's own name for it. For ${idsWithModel.join(", ")}.`,
        examples: ["opus"],
      }),
    ),
    env: z.optional(
      env().register(notes, {
        description: "Environment of this agent. PATH also decides where its program is found.",
      }),
    ),
  })
  .register(notes, {
    description:
      "With a command: an agent of your own, which in your config.yaml may replace a built-in one. Without one: changes to the built-in agent of that name.",
  });

/** Only here is the agent's name known: without a command it has to be that of a built-in agent. */
const agentFaults = z.superRefine<Record<string, z.infer<typeof agent>>>((value, context) => {
  const fault = (path: string[], input: unknown, message: string, hint: string): void =>
    void context.issues.push({ code: "custom", path, input, message, params: { hint } });
  for (const [id, one] of Object.entries(value)) {
    const own = one.terminal?.command !== undefined || one.chat?.command !== undefined;
    const canExtend = builtInIds.includes(id);
    if (!own && !canExtend) {
      const hint = "add terminal: {command: [...]} or chat: {command: [...]}";
      fault([id], one, "needs a terminal command or a chat command", hint);
    } else if (one.terminal?.resume !== undefined && one.terminal.command === undefined) {
      fault([id, "terminal"], one.terminal, 'needs "command" beside "resume"', "add the command of a first start");
    } else if (one.model !== undefined && (own || !idsWithModel.includes(id))) {
      const hint = own ? "put the model into the command" : `only ${idsWithModel.join(", ")} take one`;
      fault([id, "model"], one.model, "cannot be set for this agent", hint);
    }
  }
});

const notify = z
  .strictObject({
    desktop: z.optional(z.boolean().register(notes, { description: "Show notifications on this desktop." })),
    webhook: z.optional(webAddress().register(notes, { description: "Address that gets each notification as JSON." })),
    slack: z.optional(webAddress().register(notes, { description: "Address of a Slack incoming webhook." })),
  })
  .register(notes, { description: "Where notifications go besides the dashboard." });

const agents = z
  .record(agentId(), agent)
  .check(agentFaults)
  .register(notes, { description: "Agents of your own, and changes to built-in ones, by name." });

const variable = (description: string) =>
  z.optional(z.string().check(z.regex(variableName)).register(notes, { description }));

/** Only here may a variable be bound to a host: a repository's file is written by strangers. */
const trackerHosts = z
  .record(
    z.string().check(z.regex(hostName)),
    z.strictObject({
      type: z.enum(["github", "gitlab", "linear"]).register(notes, { description: "Which tracker runs there." }),
      tokenEnv: variable("Name of the environment variable that holds the token for this host."),
      webhookSecretEnv: variable("Name of the environment variable that holds the secret of its webhooks."),
    }),
  )
  .register(notes, {
    description: "Trackers by host, such as ghe.example.com, with the variables that belong to each.",
  });

export const userConfigSchema = z.strictObject({
  defaults: z.optional(defaults),
  agents: z.optional(agents),
  notify: z.optional(notify),
  trackers: z.optional(trackerHosts),
  permissions: z.optional(permissions),
});

export const configSchema = z.strictObject({
  defaults: z.optional(defaults),
  projects: z.optional(
    z.record(z.string().check(z.regex(projectIdPattern)), project).register(notes, { description: "Projects by id." }),
  ),
  agents: z.optional(agents),
  // Loads, so that older files keep working, and counts for nothing: see TRUST-9.
  notify: z.optional(notify),
});

export type HoldfastConfig = z.infer<typeof configSchema>;
export type UserConfig = z.infer<typeof userConfigSchema>;
export type DefaultsConfig = z.infer<typeof defaults>;
export type ProjectConfig = z.infer<typeof project>;
export type TrackerConfig = z.infer<typeof tracker>;
export type { ContainConfig };
export type ReactionsConfig = z.infer<typeof reactions>;
export type AgentConfig = z.infer<typeof agent>;
export type TrackerHosts = NonNullable<UserConfig["trackers"]>;
export type NotifyConfig = z.infer<typeof notify>;
