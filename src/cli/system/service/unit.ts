/** The name and the text of a service definition. Pure. */
import type { Context } from "../../context.ts";

export interface ServiceFacts {
  /** argv of `start --foreground`, absolute paths. */
  command: readonly string[];
  /** Set when the home is not the default one. */
  home: string | null;
  path: string;
}

/** A name of its own for each home, so that two never meet. */
export function serviceName({ env, paths }: Pick<Context, "env" | "paths">): string {
  return (env["HOLDFAST_HOME"] ?? "") === "" ? "holdfast" : paths.tmuxSocket;
}

/**
 * KillMode=process: stopping the unit ends the daemon and nothing else; agents live in the same cgroup and must stay.
 * Delegate=yes: each agent gets a cgroup below the unit's, which systemd then leaves alone.
 * Type=exec: systemd knows at once when the program cannot be run.
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

/** Quotes for systemd: specifiers and, in commands, variables are taken literally. */
function systemdQuote(text: string, isCommand = true): string {
  const escaped = text.replace(/[\\"]/g, "\\$&").replaceAll("%", "%%");
  return `"${isCommand ? escaped.replaceAll("$", "$$$$") : escaped}"`;
}

/** AbandonProcessGroup: without it launchd ends everything the daemon started when the daemon ends. */
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
