/** A fake Linear: GraphQL at `/graphql`, issues of teams, its own rate-limit headers and its 400 for too many requests. */
import { execute, field, FieldError, type Typed } from "./graphql.ts";
import { Loopback, type ServedRequest, type Misbehaviour, type Reply } from "./loopback.ts";

export type LinearStateType = "triage" | "backlog" | "unstarted" | "started" | "completed" | "canceled" | "duplicate";

interface LinearIssue {
  team: string;
  number: number;
  title: string;
  description: string | null;
  state: LinearStateType;
  labels: string[];
  /** Its key before it moved to another team. */
  former: string[];
}

export class LinearLoopback extends Loopback {
  override readonly limit = 2500;
  acceptedToken: string | null = null;
  readonly #issues: LinearIssue[] = [];

  openIssue(
    options: {
      team?: string;
      number?: number;
      title?: string;
      description?: string | null;
      labels?: string[];
      state?: LinearStateType;
    } = {},
  ): string {
    const team = options.team ?? "INT";
    const number = options.number ?? this.#issues.filter((one) => one.team === team).length + 1;
    this.#issues.push({
      team,
      number,
      title: options.title ?? `Issue ${number}`,
      description: options.description === undefined ? `What ${team}-${number} is about.` : options.description,
      state: options.state ?? "started",
      labels: options.labels ?? [],
      former: [],
    });
    return `${team}-${number}`;
  }

  setState(identifier: string, state: LinearStateType): void {
    this.#find(identifier)!.state = state;
  }

  moveTo(identifier: string, team: string): string {
    const one = this.#find(identifier)!;
    one.former.push(identifier);
    one.number = this.#issues.filter((other) => other.team === team).length + 1;
    one.team = team;
    return `${team}-${one.number}`;
  }

  protected answer(asked: ServedRequest): Reply {
    const token = asked.headers.authorization;
    if (token === undefined || (this.acceptedToken !== null && token !== this.acceptedToken)) {
      const extensions = { type: "authentication error", code: "AUTHENTICATION_ERROR", statusCode: 401 };
      return { status: 401, body: { errors: [{ message: "Authentication required, not authenticated", extensions }] } };
    }
    if (asked.path !== "/graphql" || asked.method !== "POST") return { status: 404, body: { message: "Not Found" } };
    const reply = execute(asked.body, this.#schema(), { nonNull: true });
    return { status: reply.data === undefined ? 400 : 200, body: reply };
  }

  protected limitHeaders(): Record<string, string> {
    return {
      "x-ratelimit-requests-limit": String(this.limit),
      "x-ratelimit-requests-remaining": String(this.remaining),
      "x-ratelimit-requests-reset": String(Date.now() + 3_600_000),
    };
  }

  protected limitReply(what: Misbehaviour & { how: "limit" | "slow-down" }): Reply {
    const seconds = what.how === "limit" ? what.resetInSeconds : what.retryAfterSeconds;
    const extensions = { code: "RATELIMITED", type: "ratelimited", statusCode: 400 };
    return {
      status: 400,
      headers: {
        "x-ratelimit-requests-remaining": "0",
        "x-ratelimit-requests-reset": String(Date.now() + seconds * 1000),
      },
      body: { errors: [{ message: "Rate limit exceeded", extensions }] },
    };
  }

  #find(identifier: string): LinearIssue | undefined {
    const wanted = identifier.toUpperCase();
    return this.#issues.find((one) => `${one.team}-${one.number}` === wanted || one.former.includes(wanted));
  }

  #schema(): Typed {
    return {
      __typename: "Query",
      issue: field(["id"], ({ id }) => {
        const one = this.#find(String(id));
        if (one !== undefined) return shown(one);
        throw new FieldError("Entity not found: Issue", {
          extensions: {
            type: "invalid input",
            code: "INPUT_ERROR",
            userPresentableMessage: "Could not find referenced Issue.",
          },
        });
      }),
      issues: field(["filter", "first", "after"], ({ filter, first }) => {
        const { team, number } = filter as { team: { key: { eq: string } }; number: { in: number[] } };
        const found = this.#issues.filter((one) => one.team === team.key.eq && number.in.includes(one.number));
        const nodes = found.slice(0, (first as number | undefined) ?? 50).map((one) => shown(one));
        const pageInfo = { __typename: "PageInfo", hasNextPage: nodes.length < found.length, endCursor: null };
        return { __typename: "IssueConnection", nodes, pageInfo };
      }),
    };
  }
}

function shown(one: LinearIssue): Typed {
  const identifier = `${one.team}-${one.number}`;
  return {
    __typename: "Issue",
    id: `id-${identifier}`,
    identifier,
    number: one.number,
    title: one.title,
    description: one.description,
    url: `https://linear.app/space/issue/${identifier}/slug`,
    state: { __typename: "WorkflowState", name: one.state, type: one.state },
    team: { __typename: "Team", key: one.team },
    labels: field(["first"], () => ({
      __typename: "IssueLabelConnection",
      nodes: one.labels.map((name) => ({ __typename: "IssueLabel", name })),
    })),
  };
}
