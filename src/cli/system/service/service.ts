/** The service definition: its file, its text and the commands that enable it. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { join } from "node:path";
import type { Context } from "../../context.ts";

export interface Service {
  manager: "systemd" | "launchd";
  file: string;
  text: string;
  enable: string[][];
  disable: string[][];
  /** Steps that only the user can take. */
  advice: string[];
}

export function describeService(context: Context, startArguments: readonly string[]): Service {
  const { env, paths } = context;
  const own = (env["HOLDFAST_HOME"] ?? "") !== "";
  const name = serviceName(context);
  const facts: ServiceFacts = {
    command: [...launcher(context.dist), "start", "--foreground", ...startArguments],
    home: own ? paths.home : null,
    path: env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin",
  };
  return process.platform === "darwin" ? launchd(facts, name, env) : systemd(facts, name, env);
}

function systemd(facts: ServiceFacts, name: string, env: NodeJS.ProcessEnv): Service {
  const unit = `${name}.service`;
  const user = ["systemctl", "--user"];
  return {
    manager: "systemd",
    file: join(env["XDG_CONFIG_HOME"] ?? join(env["HOME"] ?? homedir(), ".config"), "systemd/user", unit),
    text: systemdUnit(facts),
    enable: [
      [...user, "daemon-reload"],
      [...user, "enable", "--now", unit],
    ],
    disable: [[...user, "disable", "--now", unit]],
    advice: ["To keep it running after logout and start it at boot: loginctl enable-linger"],
  };
}

function launchd(facts: ServiceFacts, name: string, env: NodeJS.ProcessEnv): Service {
  const file = join(env["HOME"] ?? homedir(), "Library/LaunchAgents", `${name}.plist`);
  const domain = `gui/${userInfo().uid}`;
  return {
    manager: "launchd",
    file,
    text: launchdPlist(facts, name),
    enable: [["launchctl", "bootstrap", domain, file]],
    disable: [["launchctl", "bootout", `${domain}/${name}`]],
    advice: [],
  };
}

/** The launcher next to the bundle, which finds the right Node; otherwise this Node with this bundle. */
function launcher(dist: string): string[] {
  const script = join(dist, "../bin/holdfast");
  return existsSync(script) ? [script] : [process.execPath, join(dist, "cli.cjs")];
}

export interface Ran {
  /** Commands that were run. */
  ran: string[];
  /** The first command that failed, the reason, and the commands that were not run. */
  failed: { program: string; why: string; left: string[] } | null;
}

/** Runs commands in order until one fails. */
export function runAll(commands: readonly (readonly string[])[]): Ran {
  const lines = commands.map((command) => command.join(" "));
  for (const [index, [program, ...args]] of commands.entries()) {
    try {
      execFileSync(program!, args, { stdio: ["ignore", "ignore", "pipe"], timeout: 30_000 });
    } catch (error) {
      const why = String((error as { stderr?: Buffer }).stderr ?? "").trim() || (error as Error).message;
      return { ran: lines.slice(0, index), failed: { program: program!, why, left: lines.slice(index) } };
    }
  }
  return { ran: lines, failed: null };
}

/** Prints the commands that were run and those that the user must run. */
export function printRan(context: Context, { ran, failed }: Ran): void {
  for (const line of ran) context.out(`Ran: ${line}`);
  if (failed === null) return;
  context.err(`Could not run ${failed.program}: ${failed.why}`);
  context.err("Run it yourself:");
  for (const line of failed.left) context.err(`  ${line}`);
}

interface ServiceFacts {
  /** argv of `start --foreground`, absolute paths. */
  command: readonly string[];
  /** Set if the home is not the default one. */
  home: string | null;
  path: string;
}

/** A unique name per home. */
export function serviceName({ env, paths }: Pick<Context, "env" | "paths">): string {
  return (env["HOLDFAST_HOME"] ?? "") === "" ? "holdfast" : paths.tmuxSocket;
}

/**
 * KillMode=process: stopping the unit stops only the daemon; agents are in the same cgroup and must keep running.
 * Delegate=yes: each agent gets a cgroup below the unit's, which systemd then leaves alone.
 * Type=exec: systemd knows immediately if the program cannot be run.
 */
export function systemdUnit({ command, home, path }: ServiceFacts): string {
  return `[Unit]
Description=Holdfast, keeps AI coding agents running

[Service]
Type=exec
ExecStart=${command.map((word) => systemdQuote(word)).join(" ")}
KillMode=process
Delegate=yes
Restart=on-failure
RestartSec=2
Environment=${systemdQuote(`PATH=${path}`, false)}
${home === null ? "" : `Environment=${systemdQuote(`HOLDFAST_HOME=${home}`, false)}\n`}
[Install]
WantedBy=default.target
`;
}

/** Quotes for systemd, so that specifiers and, in commands, variables are not expanded. */
function systemdQuote(text: string, isCommand = true): string {
  const escaped = text.replace(/[\\"]/g, "\\$&").replaceAll("%", "%%");
  return `"${isCommand ? escaped.replaceAll("$", "$$$$") : escaped}"`;
}

/** AbandonProcessGroup: without it launchd kills everything the daemon started when the daemon exits. */
export function launchdPlist({ command, home, path }: ServiceFacts, label: string): string {
  const variables = [["PATH", path], ...(home === null ? [] : [["HOLDFAST_HOME", home]])];
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${xml(label)}</string>
  <key>ProgramArguments</key>
  <array>
${command.map((word) => `    <string>${xml(word)}</string>`).join("\n")}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
${variables.map(([name, value]) => `    <key>${name}</key>\n    <string>${xml(value!)}</string>`).join("\n")}
  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>AbandonProcessGroup</key>
  <true/>
</dict>
</plist>
`;
}

function xml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
