/** A home whose project has a pretended GitHub and a real remote, for tests about pull requests, reactions and issues. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TrackerJson } from "../../src/protocol/wire.ts";
import { GithubLoopback } from "../trackers/github.ts";
import { ChatHome } from "./chat.ts";

export interface TrackedOptions {
  reactions?: object;
  notify?: object;
  env?: Record<string, string>;
  /** The address of a tracker that is not there. */
  baseUrl?: string;
}

export const webhookSecret = "a secret of the tests";

export class TrackedHome extends ChatHome {
  readonly github = new GithubLoopback("owner/app");
  readonly remote = join(this.directory, "remote.git");
  #options: TrackedOptions = {};

  static async start(options: TrackedOptions = {}): Promise<TrackedHome> {
    const home = new TrackedHome({
      HOLDFAST_TRACKER_TOKEN: "t0ken",
      HOLDFAST_TRACKER_SECRET: webhookSecret,
      ...options.env,
    });
    await home.github.listen();
    mkdirSync(home.gates);
    await home.ok(["start", "--port", "0"]);
    home.repo = await home.repository("my-app");
    await home.git(home.directory, ["clone", "-q", "--bare", home.repo, home.remote]);
    await home.git(home.repo, ["remote", "add", "origin", home.remote]);
    await home.git(home.repo, ["fetch", "-q", "origin"]);
    home.settings(options);
    await home.ok(["project", "add", home.repo]);
    return home;
  }

  settings(options: TrackedOptions): void {
    this.#options = options;
    const baseUrl = options.baseUrl ?? this.github.url;
    const tracker = {
      type: "github",
      repo: "owner/app",
      baseUrl,
      tokenEnv: "HOLDFAST_TRACKER_TOKEN",
      webhookSecretEnv: "HOLDFAST_TRACKER_SECRET",
    };
    const project = { path: ".", prefix: "ma", env: { HOLDFAST_DEMO_GATES: this.gates }, tracker };
    const { reactions, notify } = this.#options;
    const config = {
      projects: { "my-app": { ...project, ...(reactions === undefined ? {} : { reactions }) } },
      ...(notify === undefined ? {} : { notify }),
    };
    writeFileSync(join(this.repo, "holdfast.yaml"), JSON.stringify(config));
  }

  /** Asks the trackers; when it returns, what they said and what follows from it is on record. */
  refresh(): Promise<TrackerJson[]> {
    return this.call("trackersRefresh", "", { body: {} });
  }

  /** An idle session with a commit on its branch, pushed unless told otherwise. */
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

  /** As the host's button does it: one commit on the base with the whole change. */
  async squash(branch: string, number: number): Promise<void> {
    const clone = join(this.directory, `merge-${number}`);
    await this.git(this.directory, ["clone", "-q", this.remote, clone]);
    await this.git(clone, ["merge", "-q", "--squash", `origin/${branch}`]);
    await this.git(clone, ["commit", "-q", "-m", `squashed (#${number})`]);
    await this.git(clone, ["push", "-q", "origin", "main"]);
    this.github.merge(number, await this.git(clone, ["rev-parse", "HEAD"]));
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.github.close();
    await super[Symbol.asyncDispose]();
  }
}
