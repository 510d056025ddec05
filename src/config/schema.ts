/**
 * The shape of `holdfast.yaml` and of the user's own `config.yaml`. Defaults are descriptions for editors only: a missing
 * value stays unset, so that resolve.ts can merge the layers.
 */
import * as z from "zod/mini";
import { builtInIds, idsWithModel } from "../agents/registry.ts";
import { containModes, namedCaches } from "../contract/containment.ts";
import { kinds, prefixPattern, projectIdPattern } from "../contract/ids.ts";
import { ruleActions, ruleFields } from "../contract/permission-rules.ts";
import { trackerTypes } from "../contract/tracker.ts";
import { described, key, webAddress } from "../integrations/notifiers/notifier.ts";
import * as notifiers from "../integrations/notifiers/registry.ts";
import {
  branchFault,
  containPathFault,
  hostFault,
  maxTextLength,
  noNul,
  passEnvFault,
  relativePathFault,
  rule,
  text,
} from "./values.ts";

/** Values used if no file sets them. */
export const builtInDefaults = {
  agent: "claude",
  kind: "terminal",
  restoreOnBoot: true,
  /** 0 = off: an unexpected stop surprises more than a session that keeps running. */
  idleStopMinutes: 0,
  /** Longer than most builds and test runs; it is only a hint. */
  stuckMinutes: 30,
} as const;

const maxMinutes = 365 * 24 * 60;
const maxRetries = 20;
const maxRules = 500;
const maxPattern = 2000;

const agentName = /^[a-z0-9][a-z0-9_-]{0,62}$/;
/** Lower case, with the port unless it is the default one. */
const hostName = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?$/;
const repositoryName = /^[\w.-]+(\/[\w.-]+)*$/;

const argv = (): z.ZodMiniArray<z.ZodMiniString> =>
  z.array(z.string().check(z.maxLength(maxTextLength), noNul)).check(z.minLength(1));
const agentId = (): z.ZodMiniString => z.string().check(z.regex(agentName));
const integer = (maximum: number, minimum = 0): z.ZodMiniNumberFormat =>
  z.int().check(z.minimum(minimum), z.maximum(maximum));
const variableName = () => z.string().check(z.regex(/^[A-Za-z_][A-Za-z0-9_]*$/));
const env = () => z.record(variableName(), z.string().check(z.maxLength(maxTextLength), noNul));
const insideRepository = () => z.array(text().check(rule(relativePathFault)));
const containPaths = () => z.array(text().check(rule(containPathFault)));

const passEnv = () =>
  key(
    z.array(text().check(rule(passEnvFault))),
    "Environment variables that agents inherit from the shell that starts the daemon, in addition to the standard ones: names, or prefixes that end with *.",
    { examples: [["MY_REGISTRY_TOKEN", "ACME_*"]] },
  );

const containment = described(
  z.union([
    z.enum(containModes),
    z.strictObject({
      mode: key(z.enum(containModes), "Same as the short form."),
      network: key(
        z.union([
          z.enum(["on", "off"]),
          z.strictObject({
            allow: described(
              z.array(z.string().check(rule(hostFault))),
              "Hosts that agents may reach besides their own models: host, host:port, *.host, or * for every public host. A private address needs host:port.",
            ),
          }),
        ]),
        "Network access of agents.",
        { default: "on" },
      ),
      read: key(
        containPaths(),
        `Files and folders that agents can read besides the worktree: absolute, from ~/, or a package cache (${Object.keys(namedCaches).join(", ")}).`,
        { examples: [["~/reference"]] },
      ),
      write: key(
        containPaths(),
        "The same, writable. Other programs may run files that agents write there: caches are shared.",
        { examples: [["npm", "pip"]] },
      ),
    }),
  ]),
  "How agents are contained. worktree: bubblewrap limits them to their worktree, branch and own state. devcontainer: they run in the repository's dev container. A repository's file can only tighten your own config.yaml.",
  { default: "off" },
);

const defaults = described(
  z.strictObject({
    agent: key(agentId(), "Agent of new sessions.", { default: builtInDefaults.agent }),
    kind: key(
      z.enum(kinds),
      "terminal: the agent's own screen in tmux. chat: structured, over the Agent Client Protocol.",
      { default: builtInDefaults.kind },
    ),
    restoreOnBoot: key(z.boolean(), "Resume sessions in their conversation after a reboot.", {
      default: builtInDefaults.restoreOnBoot,
    }),
    idleStopMinutes: key(
      integer(maxMinutes),
      "Stop sessions idle for this many minutes; the next prompt restarts them. 0 = never.",
      { default: builtInDefaults.idleStopMinutes },
    ),
    maxSessions: key(integer(10_000, 1), "Maximum sessions running at once per project. Unset: no limit."),
    spareWorktrees: key(z.literal([0, 1]), "Number of pre-created worktrees. Unset: one if creating them is slow."),
    stuckMinutes: key(integer(maxMinutes, 1), "Minutes without activity before a working session is shown as stuck.", {
      default: builtInDefaults.stuckMinutes,
    }),
    passEnv: passEnv(),
    contain: z.optional(containment),
  }),
  "Defaults for every project.",
);

const tracker = described(
  z.strictObject({
    type: described(z.enum(trackerTypes), "Tracker type."),
    repo: key(
      z.string().check(z.regex(repositoryName)),
      "owner/name (GitHub), group/name (GitLab), team key (Linear). Default: from the origin remote.",
      { examples: ["owner/my-app"] },
    ),
    baseUrl: key(webAddress(), "Address of the tracker's API, for a self-hosted instance."),
    tokenEnv: key(
      variableName(),
      "Name of the environment variable that contains the token. Never the token itself. Your own config.yaml must bind it to the host under trackers; variables that begin with HOLDFAST_TRACKER_ are not passed to agents.",
      { examples: ["GITHUB_TOKEN", "HOLDFAST_TRACKER_TOKEN"] },
    ),
    webhookSecretEnv: key(
      variableName(),
      "Name of the environment variable that contains the secret of the tracker's webhooks; your own config.yaml must bind it to the host.",
      { examples: ["HOLDFAST_TRACKER_SECRET"] },
    ),
  }),
  "Where issues and pull requests are. Default: from the origin remote.",
);

const reactionTo = (description: string, ...more: "merge"[]) =>
  key(
    z.strictObject({
      action: described(z.enum(["send-to-agent", "notify", ...more]), "What to do."),
      message: key(text(), "Text to send or show. Default: what the agent should do next."),
      retries: key(
        integer(maxRetries),
        "How many times to message the agent (or try the merge) before notifying you.",
        { default: 2 },
      ),
      enabled: key(z.boolean(), "false turns it off.", { default: true }),
    }),
    description,
  );

const reactions = key(
  z.strictObject({
    "ci-failed": reactionTo("The pull request's checks failed."),
    "changes-requested": reactionTo("A review asks for changes."),
    "merge-conflict": reactionTo("The branch has merge conflicts."),
    "agent-idle": reactionTo("The agent has been idle for 15 minutes without a pull request."),
    "approved-and-green": reactionTo("Approved, and all checks passed.", "merge"),
    "needs-input": reactionTo(
      "The agent needs a permission or an answer. You are always notified; no message is sent.",
    ),
    "turn-failed": reactionTo(
      "A turn failed, was refused or was cut, or the agent crashed during it. send-to-agent asks it to continue.",
    ),
    exited: reactionTo("The agent exited on its own. send-to-agent restarts it."),
    "all-done": reactionTo(
      "No session of the project is working anymore, and at least one has finished. send-to-agent messages the project's orchestrator.",
    ),
  }),
  "Automatic reactions to session events.",
);

const project = described(
  z.strictObject({
    path: key(text(), "The repository, relative to this file.", { default: ".", examples: ["."] }),
    prefix: key(
      z.string().check(z.regex(prefixPattern)),
      "Prefix of session ids. Default: the initials of the project's id.",
      { examples: ["ma"] },
    ),
    defaultBranch: key(text().check(rule(branchFault)), "Base of new branches. Default: detected.", {
      examples: ["main"],
    }),
    agent: key(agentId(), "Agent of new sessions."),
    kind: key(z.enum(kinds), "Kind of new sessions."),
    env: key(env(), "Environment of the project's agents."),
    passEnv: passEnv(),
    contain: z.optional(containment),
    symlinks: key(insideRepository(), "Files and directories linked from the repository into each worktree.", {
      examples: [["node_modules"]],
    }),
    copy: key(insideRepository(), "Files and directories copied from the repository into each worktree.", {
      examples: [[".env"]],
    }),
    postCreate: key(z.array(text()), "Commands run in each new worktree, in this order.", {
      examples: [["npm ci"]],
    }),
    tracker: z.optional(tracker),
    reactions,
  }),
  "One git repository.",
);

const moreArguments = (description: string) => key(argv(), description);

const agent = described(
  z.strictObject({
    terminal: key(
      z.strictObject({
        command: key(
          argv(),
          "Program and arguments of a first start. {id} is the conversation, {prompt} the first prompt, if there is one.",
        ),
        resume: key(argv(), "Command that resumes conversation {id}."),
        args: moreArguments("Arguments added to the command in a terminal."),
      }),
      "How it runs in a terminal.",
    ),
    chat: key(
      z.strictObject({
        command: key(argv(), "Program and arguments that speak ACP on stdin and stdout."),
        args: moreArguments("Arguments added to the command of a chat."),
      }),
      "How it runs as a chat.",
    ),
    args: moreArguments("Arguments added to the agent's command in both kinds."),
    model: key(text(), `Model, by the agent's own name for it. Supported by ${idsWithModel.join(", ")}.`, {
      examples: ["opus"],
    }),
    env: key(env(), "Environment of this agent. PATH also determines where its program is found."),
  }),
  "With a command: a custom agent; in your config.yaml it may replace a built-in agent. Without a command: changes to the built-in agent with that name.",
);

type Fault = (path: PropertyKey[], input: unknown, message: string, hint: string) => void;

/** A check of several keys together, with a hint for each fault. */
const faultsOf = <T>(check: (value: T, fault: Fault) => void) =>
  z.superRefine<T>((value, context) =>
    check(value, (path, input, message, hint) => {
      context.issues.push({ code: "custom", path, input, message, params: { hint } });
    }),
  );

/** Checked here because only the map knows the agent's name: without a command it must name a built-in agent. */
const agentFaults = faultsOf<Record<string, AgentConfig>>((value, fault) => {
  for (const [id, one] of Object.entries(value)) {
    const isCustom = one.terminal?.command !== undefined || one.chat?.command !== undefined;
    const isBuiltIn = builtInIds.includes(id);
    if (!isCustom && !isBuiltIn) {
      const hint = "add terminal: {command: [...]} or chat: {command: [...]}";
      fault([id], one, "needs a terminal command or a chat command", hint);
    } else if (one.terminal?.resume !== undefined && one.terminal.command === undefined) {
      fault([id, "terminal"], one.terminal, 'needs "command" with "resume"', "add the command of a first start");
    } else if (one.model !== undefined && (isCustom || !idsWithModel.includes(id))) {
      const hint = isCustom ? "put the model into the command" : `only ${idsWithModel.join(", ")} support it`;
      fault([id, "model"], one.model, "cannot be set for this agent", hint);
    }
  }
});

const notify = key(
  z.strictObject(
    Object.fromEntries(
      Object.values(notifiers).map(({ name, schema, description }) => [name, key(schema, description)]),
    ),
  ),
  "Where notifications go besides the dashboard.",
);

const agents = key(
  z.record(agentId(), agent).check(agentFaults),
  "Custom agents, and changes to built-in ones, by name.",
);

/** Only the user's own file binds a variable to a host: a repository's file may be written by strangers. */
const trackerHosts = key(
  z.record(
    z.string().check(z.regex(hostName)),
    z.strictObject({
      type: described(z.enum(trackerTypes), "Type of the tracker at this host."),
      tokenEnv: key(variableName(), "Name of the environment variable that contains the token for this host."),
      webhookSecretEnv: key(
        variableName(),
        "Name of the environment variable that contains the secret of its webhooks.",
      ),
    }),
  ),
  "Trackers by host, such as ghe.example.com, with the variables that belong to each.",
);

const ruleAction = (description: string) => key(z.nullable(z.literal(true)), description);
const pattern = (description: string, examples: string[]) =>
  key(z.string().check(z.minLength(1), z.maxLength(maxPattern)), description, { examples });

const permissionRule = z.strictObject({
  allow: ruleAction("Answer with the agent's option to allow this call once."),
  ask: ruleAction("Leave it to you, whatever later rules say."),
  deny: ruleAction("Answer with the agent's option to reject this call once."),
  agent: pattern("Agent by name; * matches any text.", ["claude"]),
  project: pattern("Project by id; * matches any text.", ["my-app"]),
  tool: pattern("Kind of tool as ACP names it: read, edit, delete, move, search, execute, think, fetch, other.", [
    "execute",
  ]),
  command: pattern(
    "The complete command line. In an allow rule * never matches ; & | $ ` < > ( ) \\\\ or a line break.",
    ["npm test *"],
  ),
  path: pattern("Every path of the call, relative to the worktree or absolute; ** matches any number of directories.", [
    "src/**",
  ]),
});

const ruleFaults = faultsOf<PermissionConfig[]>((rules, fault) => {
  for (const [at, one] of rules.entries()) {
    if (ruleActions.filter((name) => one[name] !== undefined).length !== 1) {
      fault([at], one, "needs exactly one of allow, ask and deny", "write one of them, such as allow: true");
    } else if (ruleFields.every((field) => one[field] === undefined)) {
      fault([at], one, "would match every call", `add a condition: ${ruleFields.join(", ")} (tool: "*" for all)`);
    }
    if (one.path?.split("/").includes("..") === true) {
      fault([at, "path"], one.path, "may not contain ..", "write it relative to the worktree, or as an absolute path");
    }
    if (one.path?.startsWith("~") === true) {
      fault([at, "path"], one.path, "may not start with ~", "write the absolute path of your home");
    }
  }
});

const permissions = key(
  z.array(permissionRule).check(z.maxLength(maxRules), ruleFaults),
  "Answers to permission requests of chat agents; the first matching rule counts. Requests without a matching rule wait for you.",
);

export const userConfigSchema = z.strictObject({
  defaults: z.optional(defaults),
  agents,
  notify,
  trackers: trackerHosts,
  permissions,
});

export const configSchema = z.strictObject({
  defaults: z.optional(defaults),
  projects: key(z.record(z.string().check(z.regex(projectIdPattern)), project), "Projects by id."),
  agents,
  // Accepted so that older files keep working, but ignored: see TRUST-9.
  notify,
});

export type HoldfastConfig = z.infer<typeof configSchema>;
export type UserConfig = z.infer<typeof userConfigSchema>;
export type DefaultsConfig = z.infer<typeof defaults>;
export type ProjectConfig = z.infer<typeof project>;
export type TrackerConfig = z.infer<typeof tracker>;
export type ContainConfig = z.infer<typeof containment>;
export type AgentConfig = z.infer<typeof agent>;
export type PermissionConfig = z.infer<typeof permissionRule>;
export type TrackerHosts = NonNullable<UserConfig["trackers"]>;
