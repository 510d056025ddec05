/** Everything that a repository can say to have git start a program, and the places where it can say so. */
import { appendFileSync, chmodSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { put } from "../worktree.fixture.ts";

const hooks = [
  "applypatch-msg",
  "commit-msg",
  "post-checkout",
  "post-commit",
  "post-index-change",
  "post-merge",
  "post-rewrite",
  "pre-auto-gc",
  "pre-commit",
  "pre-push",
  "pre-rebase",
  "prepare-commit-msg",
  "proc-receive",
  "push-to-checkout",
  "query-watchman",
  "reference-transaction",
];

/** Keys whose value is a program; `$` stands for it. */
const keys: readonly (readonly [key: string, value: string])[] = [
  ["core.fsmonitor", "$"],
  ["core.sshCommand", "$"],
  ["core.pager", "$"],
  ["core.editor", "$"],
  ["core.askPass", "$"],
  ["core.alternateRefsCommand", "$"],
  ["core.gitProxy", "$"],
  ["diff.external", "$"],
  ["diff.evil.textconv", "$"],
  ["diff.evil.command", "$"],
  ["filter.evil.clean", "$"],
  ["filter.evil.smudge", "$"],
  ["filter.both.process", "$"],
  ["filter.a=b.clean", "$"],
  ["filter.evil.required", "true"],
  ["merge.evil.driver", "$ %O %A %B"],
  ["gpg.program", "$"],
  ["gpg.openpgp.program", "$"],
  ["gpg.x509.program", "$"],
  ["gpg.ssh.program", "$"],
  ["gpg.ssh.defaultKeyCommand", "$"],
  ["commit.gpgSign", "true"],
  ["log.showSignature", "true"],
  ["credential.helper", "!$"],
  ["credential.https://host.invalid.helper", "!$"],
  ["sequence.editor", "$"],
  ["interactive.diffFilter", "$"],
  ["pager.status", "$"],
  ["pager.diff", "$"],
  ["pager.config", "$"],
  ["alias.status", "!$"],
  ["alias.diff", "!$"],
  ["uploadpack.packObjectsHook", "$"],
  ["remote.origin.url", "ext::$"],
  ["remote.origin.uploadpack", "$"],
  ["remote.origin.receivepack", "$"],
  ["remote.helper.vcs", "$"],
  ["url.ext::$ .insteadOf", "https://"],
  ["protocol.allow", "always"],
  ["protocol.ext.allow", "always"],
  ["submodule.sub.update", "!$"],
  ["submodule.recurse", "true"],
  ["status.submoduleSummary", "true"],
  ["diff.ignoreSubmodules", "none"],
  ["submodule.sub.ignore", "none"],
  ["trailer.x.command", "$"],
  ["tar.tar.gz.command", "$"],
  ["mergetool.evil.cmd", "$"],
  ["difftool.evil.cmd", "$"],
  ["browser.evil.cmd", "$"],
  ["man.evil.cmd", "$"],
  ["hook.evil.command", "$"],
  ["hook.evil.event", "reference-transaction"],
  ["lfs.customtransfer.evil.path", "$"],
  ["gc.auto", "1"],
];

export interface Trap {
  names: string[];
  /** Writes every key into a configuration file, and every hook beside it. */
  plant: (config: string, hooksIn: string) => void;
  /** Sets every variable of the environment that can name a program; takes them away again. */
  inEnvironment: () => () => void;
  /** One more key, for what must be tried alone. */
  program: (name: string) => string;
  ran: () => string[];
  forget: () => void;
}

const variables = [
  "GIT_EXTERNAL_DIFF",
  "GIT_SSH",
  "GIT_SSH_COMMAND",
  "GIT_ASKPASS",
  "SSH_ASKPASS",
  "GIT_PAGER",
  "PAGER",
  "GIT_EDITOR",
  "GIT_SEQUENCE_EDITOR",
  "EDITOR",
  "VISUAL",
  "GIT_PROXY_COMMAND",
];

/** As git writes it; a process for each key would take a minute. */
function asText([key, value]: readonly [string, string]): string {
  const [, section, middle, name] = /^([^.]+)\.(?:(.*)\.)?([^.]+)$/s.exec(key)!;
  const quote = (text: string): string => `"${text.replaceAll(/[\\"]/g, String.raw`\$&`)}"`;
  return `[${section}${middle === undefined ? "" : ` ${quote(middle)}`}]\n\t${name} = ${quote(value)}\n`;
}

export function setTrap(dir: string): Trap {
  const canaries = join(dir, "ran");
  const programs = join(dir, "programs");
  mkdirSync(canaries, { recursive: true });
  const program = (name: string): string => {
    const plain = name.replaceAll(/[^A-Za-z0-9.-]/g, "_");
    // No other program by its name alone: one of the traps is a `cat` in the current directory.
    put(programs, { [plain]: `#!/bin/sh\n: > '${canaries}/${plain}'\nexec /bin/cat\n` });
    chmodSync(join(programs, plain), 0o755);
    return join(programs, plain);
  };
  const settings = keys.map(
    ([key, value]) => [key.replace("$", program(key)), value.replace("$", program(key))] as const,
  );
  const plant = (config: string, hooksIn: string): void => {
    mkdirSync(hooksIn, { recursive: true });
    for (const hook of hooks) {
      writeFileSync(join(hooksIn, hook), readFileSync(program(`hook-${hook}`)), { mode: 0o755 });
    }
    const included = `${config}.included`;
    writeFileSync(included, settings.map(asText).join(""));
    const last = [["core.hooksPath", hooksIn] as const, ["include.path", included] as const];
    appendFileSync(config, [...settings, ...last].map(asText).join(""));
  };
  const inEnvironment = (): (() => void) => {
    const before = { ...process.env };
    for (const name of variables) process.env[name] = program(name);
    for (const [at, [key, value]] of settings.entries()) {
      process.env[`GIT_CONFIG_KEY_${at}`] = key;
      process.env[`GIT_CONFIG_VALUE_${at}`] = value;
    }
    process.env["GIT_CONFIG_COUNT"] = String(settings.length);
    process.env["GIT_CONFIG_PARAMETERS"] = `'core.fsmonitor'='${program("parameters")}'`;
    process.env["GIT_ALLOW_PROTOCOL"] = "ext:ssh:file";
    // A relative entry makes git, and whatever git starts, come out of the worktree.
    process.env["PATH"] = `.:${before["PATH"] ?? ""}`;
    return () => {
      for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
      Object.assign(process.env, before);
    };
  };
  return {
    names: [...keys.map(([key]) => key), ...hooks, ...variables],
    plant,
    inEnvironment,
    program,
    ran: () => readdirSync(canaries),
    forget: () => {
      rmSync(canaries, { recursive: true });
      mkdirSync(canaries);
    },
  };
}
