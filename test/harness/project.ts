/** A home with a running daemon and a registered repository, for tests about sessions. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { SocketTransport } from "../../src/cli/system/daemon/socket-transport.ts";
import { createClient, type CallableOperation, type CallOptions } from "../../src/client/client.ts";
import { identify } from "../../src/base/pid.ts";
import type { Output, Params } from "../../src/contract/operations.ts";
import { HoldfastError } from "../../src/contract/errors.ts";
import { isLastPage } from "../../src/contract/stream.ts";
import type { SessionJson } from "../../src/contract/session.ts";
import { Home } from "./home.ts";
import { until } from "./until.ts";

const page = 1_000;

/** An event whose fields a test can read without narrowing its type first. */
export type EventFields = { seq: number; at: string; type: string; [field: string]: unknown };

/** The session's id is passed separately. */
export type CallFor<R extends CallableOperation> = Omit<CallOptions<R>, "params"> & { params?: Partial<Params<R>> };

export class ProjectHome extends Home {
  repo = "";
  readonly #client = createClient({
    transport: { request: (request) => new SocketTransport(this.paths.socket).request(request) },
  });

  static async make(env: Record<string, string> = {}): Promise<ProjectHome> {
    const home = new ProjectHome(env);
    await home.ok(["start", "--port", "0"]);
    home.repo = await home.repository("my-app");
    await home.ok(["project", "add", home.repo]);
    return home;
  }

  /** Its postCreate prints `first words` and waits for the file `go` in the worktree. */
  static async gated(): Promise<ProjectHome> {
    const home = await ProjectHome.make();
    const wait = "sh -c 'until test -e go; do sleep 0.1; done'";
    const config = `projects:\n  my-app:\n    path: .\n    prefix: ma\n    postCreate: [echo first words, "${wait}"]\n`;
    writeFileSync(join(home.repo, "holdfast.yaml"), config);
    await home.ok(["project", "add", home.repo]);
    return home;
  }

  /** Trusts the project's current file, for a test that changed it. */
  async trust(project = "my-app"): Promise<void> {
    await this.ok(["project", "trust", project, "--yes"]);
  }

  /** Starts the bundled demo agent in a terminal session. */
  spawn(...args: string[]): Promise<SessionJson> {
    return this.json(["spawn", "my-app", "--agent", "demo", "--kind", "terminal", ...args]);
  }

  /** A session whose agent exited on its own. It exits only once it is up: an exit during the start is a failed start. */
  async exited(...args: string[]): Promise<SessionJson> {
    const { id } = await this.spawn(...args);
    await this.status(id, "idle");
    await this.cli(["send", id, "exit: 0"]);
    return this.status(id, "exited");
  }

  call<R extends CallableOperation>(route: R, id: string, options: CallFor<R> = {}): Promise<Output<R>> {
    const params = { id, ...options.params } as Params<R>;
    return this.#client.call(route, { ...options, params });
  }

  async show(id: string): Promise<SessionJson> {
    return this.orStarted(() => this.call("session", id));
  }

  async events(id: string): Promise<EventFields[]> {
    const all: EventFields[] = [];
    for (;;) {
      const since = all.at(-1)?.seq ?? 0;
      const more = await this.orStarted(() => this.call("events", id, { query: { since, limit: page } }));
      all.push(...more);
      if (isLastPage(more, page)) return all;
    }
  }

  /**
   * Queries use the socket, because one process per query would keep a small machine busy. If the daemon is down, it is
   * started first, as by a command.
   */
  protected async orStarted<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof HoldfastError && error.code === "unreachable")) throw error;
      await this.ok(["session", "ls"]);
      return ask();
    }
  }

  status(id: string, ...wanted: string[]): Promise<SessionJson> {
    return until(`${id} to be ${wanted.join(" or ")}`, async () => {
      const session = await this.show(id);
      if (wanted.includes(session.status)) return session;
      throw new Error(`${session.status}: ${session.reason}`);
    });
  }

  /** The agent's process as pid and start time in ticks, to compare across restarts. */
  async agent(id: string): Promise<{ pid: number; startTime: string | null }> {
    const { processes } = await this.show(id);
    const agent = processes.find(({ what }) => what === "agent");
    if (agent === undefined) throw new Error(`${id} has no agent: ${JSON.stringify(processes)}`);
    return { pid: agent.pid, startTime: identify(agent.pid)?.startTime ?? null };
  }

  async listed(): Promise<string[]> {
    return (await this.json<SessionJson[]>(["session", "ls"])).map(({ id }) => id);
  }
}
