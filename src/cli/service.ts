/** Where the service definition goes, and which commands put it into effect. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { join } from "node:path";
import type { Context } from "./context.ts";
import { launchdPlist, type ServiceFacts, serviceName, systemdUnit } from "./service-unit.ts";

export interface Service {
  manager: "systemd" | "launchd";
  file: string;
  text: string;
  enable: string[][];
  disable: string[][];
  /** Advice that only the person can follow. */
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
    advice: ["So that it goes on after logout and starts at boot: loginctl enable-linger"],
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

/** The launcher beside the bundle, which finds the right Node by itself; else this Node with this bundle. */
function launcher(dist: string): string[] {
  const script = join(dist, "../bin/holdfast");
  return existsSync(script) ? [script] : [process.execPath, join(dist, "cli.cjs")];
}

/** Runs commands in turn and says so; those that could not be run are left for the person. */
export function runAll(context: Context, commands: readonly (readonly string[])[]): boolean {
  for (const [index, [program, ...args]] of commands.entries()) {
    try {
      execFileSync(program!, args, { stdio: ["ignore", "ignore", "pipe"], timeout: 30_000 });
      context.out(`Ran: ${[program, ...args].join(" ")}`);
    } catch (error) {
      const why = String((error as { stderr?: Buffer }).stderr ?? "").trim() || (error as Error).message;
      context.err(`Could not run ${program}: ${why}`);
      context.err(`Run it yourself where it works:`);
      for (const left of commands.slice(index)) context.err(`  ${left.join(" ")}`);
      return false;
    }
  }
  return true;
}
