/** Homes whose project has a fake tracker and a real remote, for tests about pull requests, reactions and issues. */
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { TrackerJson } from "../../src/contract/tracker.ts";
import { CodeHostLoopback } from "../trackers/code-host.ts";
import { GithubLoopback } from "../trackers/github.ts";
import type { Loopback } from "../trackers/loopback.ts";
import { ChatHome } from "./chat.ts";

export interface TrackedOptions {
  reactions?: object;
  notify?: object;
  env?: Record<string, string>;
  /** More settings of the tracker; undefined removes one. */
  tracker?: Record<string, string | undefined>;
}

export const webhookSecret = "a secret of the tests";

export class HostedHome<Host extends Loopback> extends ChatHome {
  readonly host: Host;
  readonly remote = join(this.directory, "remote.git");
  readonly #clock = join(this.directory, "clock");
  readonly #place: { type: "github" | "gitlab" | "linear"; repo: string };

  constructor(host: Host, place: { type: "github" | "gitlab" | "linear"; repo: string }, env?: Record<string, string>) {
    super({ HOLDFAST_TRACKER_TOKEN: "t0ken", HOLDFAST_TRACKER_SECRET: webhookSecret, ...env });
    this.env["HOLDFAST_TEST_CLOCK"] = this.#clock;
    this.clockAhead(0);
    this.host = host;
    this.#place = place;
  }

  /** Moves the time of day ahead, by this much in total. Renamed into place: half a number would be another time. */
  clockAhead(ms: number): void {
    writeFileSync(`${this.#clock}.new`, String(ms));
    renameSync(`${this.#clock}.new`, this.#clock);
  }

  async open(options: TrackedOptions = {}): Promise<this> {
    await this.host.listen();
    mkdirSync(this.gates);
    await this.ok(["start", "--port", "0"]);
    this.repo = await this.repository("my-app");
    await this.git(this.directory, ["clone", "-q", "--bare", this.repo, this.remote]);
    await this.git(this.repo, ["remote", "add", "origin", this.remote]);
    await this.git(this.repo, ["fetch", "-q", "origin"]);
    this.settings(options);
    await this.ok(["project", "add", this.repo]);
    return this;
  }

  settings({ reactions, notify, tracker = {} }: TrackedOptions): void {
    const place = {
      ...this.#place,
      baseUrl: this.host.url,
      tokenEnv: "HOLDFAST_TRACKER_TOKEN",
      webhookSecretEnv: "HOLDFAST_TRACKER_SECRET",
      ...tracker,
    };
    const project = { path: ".", prefix: "ma", env: { HOLDFAST_DEMO_GATES: this.gates }, tracker: place };
    const config = { projects: { "my-app": { ...project, ...(reactions === undefined ? {} : { reactions }) } } };
    writeFileSync(join(this.repo, "holdfast.yaml"), JSON.stringify(config));
    // Only the user's own file binds variables to hosts and sends notifications.
    const { type, tokenEnv, webhookSecretEnv } = place;
    const trackers = { [new URL(this.host.url).host]: { type, tokenEnv, webhookSecretEnv } };
    mkdirSync(dirname(this.paths.config), { recursive: true });
    writeFileSync(this.paths.config, JSON.stringify({ trackers, ...(notify === undefined ? {} : { notify }) }));
  }

  /** Polls the trackers; when it returns, the results and their consequences are recorded. */
  refresh(): Promise<TrackerJson[]> {
    return this.call("trackersRefresh", "", { body: {} });
  }

  /** An idle session with a commit on its branch, pushed by default. */
  async worked(file = "work.txt", push = true): Promise<{ id: string; path: string; branch: string; sha: string }> {
    const id = await this.chat("say: ready");
    await this.ended(id);
    const { workspacePath: path, branch } = await this.show(id);
    const sha = await this.commit(path, file, push);
    return { id, path, branch: branch ?? "", sha };
  }

  async commit(path: string, file: string, push = true): Promise<string> {
    writeFileSync(join(path, file), `${file}\n`);
    await this.git(path, ["add", "-A"]);
    await this.git(path, ["commit", "-q", "-m", `add ${file}`]);
    if (push) await this.git(path, ["push", "-q", "origin", "HEAD"]);
    return this.git(path, ["rev-parse", "HEAD"]);
  }

  /** Like the host's button: one commit on the base with the complete change. */
  async squash(branch: string, number: number): Promise<void> {
    const clone = join(this.directory, `merge-${number}`);
    await this.git(this.directory, ["clone", "-q", this.remote, clone]);
    await this.git(clone, ["merge", "-q", "--squash", `origin/${branch}`]);
    await this.git(clone, ["commit", "-q", "-m", `squashed (#${number})`]);
    await this.git(clone, ["push", "-q", "origin", "main"]);
    if (this.host instanceof CodeHostLoopback) this.host.merge(number, await this.git(clone, ["rev-parse", "HEAD"]));
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.host.close();
    await super[Symbol.asyncDispose]();
  }
}

/** On GitHub, like most tests. */
export class TrackedHome extends HostedHome<GithubLoopback> {
  static async start(options: TrackedOptions = {}): Promise<TrackedHome> {
    return new TrackedHome(new GithubLoopback("owner/app"), { type: "github", repo: "owner/app" }, options.env).open(
      options,
    );
  }

  get github(): GithubLoopback {
    return this.host;
  }
}
