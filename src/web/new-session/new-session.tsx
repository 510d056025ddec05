/** The form for a new session. Problems are shown before it is submitted; a failure keeps the inputs. */
import { useCallback, useEffect, useState, type ChangeEvent } from "react";
import { Link } from "wouter";
import type { SettingsJson } from "../../contract/daemon.ts";
import { HoldfastError } from "../../contract/errors.ts";
import type { PreflightJson, SpawnRequest } from "../../contract/spawn.ts";
import { call, sentenceOf } from "../shared/data/api.ts";
import { Button } from "../shared/ui/button.tsx";
import { Field, Form, Select, TextArea, TextInput } from "../shared/ui/field.tsx";
import { Spinner } from "../shared/ui/loading.tsx";
import { useSubmit } from "../shared/ui/toast.tsx";
import { TrustCard } from "../shared/ui/trust-card.tsx";
import { useMay } from "../shared/data/live.ts";
import { useQuery, type Loadable } from "../shared/data/use-query.ts";
import { storeDraft, loadDraft, requestOf, withoutFlags, type Draft } from "./draft.ts";
import { SpawnProgress } from "./spawn-progress.tsx";

export default function NewSession() {
  const [settings, reload] = useQuery("settings");
  if (!useMay("all")) return <p className="mx-auto p-4">This device is not allowed to start sessions.</p>;
  return (
    <div className="mx-auto flex w-full max-w-2xl flex-col gap-4 p-4 pb-10">
      <h1 className="text-base font-semibold">New session</h1>
      {settings.is === "loading" && <Spinner label="Loading projects and agents" />}
      {settings.is === "failed" && (
        <div role="alert" className="flex flex-col items-start gap-2">
          <p className="text-danger">{settings.why}</p>
          <Button onClick={reload}>Try again</Button>
        </div>
      )}
      {settings.is === "known" &&
        (settings.value.projects.length === 0 ? (
          <NoProjects />
        ) : (
          <SpawnForm settings={settings.value} onTrust={reload} />
        ))}
    </div>
  );
}

function NoProjects() {
  return (
    <p>
      No projects yet. A session needs a git repository to work in:{" "}
      <Link href="/settings" className="text-accent underline">
        add one in Settings
      </Link>
      , or run <code className="rounded bg-sunken px-1 font-mono">holdfast project add PATH</code>.
    </p>
  );
}

/** A project's agent overrides a built-in one with the same id. */
function agentsOf({ agents }: SettingsJson, project: string): SettingsJson["agents"] {
  const own = agents.filter((agent) => agent.project === project);
  const common = agents.filter((agent) => agent.project === undefined && !own.some(({ id }) => id === agent.id));
  return [...common, ...own];
}

function SpawnForm({ settings, onTrust }: { settings: SettingsJson; onTrust: () => void }) {
  const { projects } = settings;
  const [draft, setDraft] = useState<Draft>(() => withKnownProject(loadDraft(), settings));
  const { busy, fault, submit } = useSubmit();
  const [created, setCreated] = useState<string | null>(null);
  const request = requestOf(draft);
  const [preflight, checkAgain] = usePreflight(request);
  useEffect(() => storeDraft(draft), [draft]);
  const change = (part: Partial<Draft>): void => setDraft((before) => ({ ...before, ...part }));

  const text = (name: "issue" | "name" | "branch" | "base") => ({
    value: draft[name],
    onChange: (event: ChangeEvent<HTMLInputElement>) => change({ [name]: event.target.value }),
  });

  if (created !== null) return <SpawnProgress id={created} onBack={() => setCreated(null)} />;

  const project = projects.find(({ id }) => id === draft.project)!;
  const agents = agentsOf(settings, project.id);
  const agent = agents.find(({ id }) => id === (draft.agent === "" ? project.agent : draft.agent));
  const known = preflight.is === "known" ? preflight.value : null;
  const blocked = known !== null && known.problems.length > 0;

  const spawn = async (): Promise<void> => {
    const { id } = await call("spawn", { body: { ...request, wait: false } });
    storeDraft(null);
    setCreated(id);
  };

  return (
    <Form className="flex flex-col gap-4" onSubmit={() => void (!busy && !blocked && submit(spawn))}>
      <Field label="Project">
        <Select value={draft.project} onChange={(event) => change({ project: event.target.value })}>
          {projects.map(({ id }) => (
            <option key={id}>{id}</option>
          ))}
        </Select>
      </Field>
      <TrustCard
        project={project}
        onAnswered={() => {
          onTrust();
          checkAgain();
        }}
      />
      <Field label="What should the agent do?" note="The agent's first prompt. Without one, the agent waits for you.">
        <TextArea
          rows={5}
          className="resize-y"
          value={draft.prompt}
          onChange={(event) => change({ prompt: event.target.value })}
        />
      </Field>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field
          label="Issue"
          note={
            project.tracker === null
              ? "A number or a link; becomes part of the branch name."
              : `In ${project.tracker.repo}.`
          }
        >
          <TextInput placeholder="none" {...text("issue")} />
        </Field>
        <Field label="Title">
          <TextInput placeholder="from the prompt or issue" maxLength={200} {...text("name")} />
        </Field>
        <Field
          label="Agent"
          fault={agent !== undefined && !agent.installed ? (agent.reason ?? "Not installed.") : null}
        >
          <Select value={draft.agent} onChange={(event) => change({ agent: event.target.value, kind: "" })}>
            <option value="">{project.agent} (project default)</option>
            {agents.map(({ id, name, installed }) => (
              <option key={id} value={id}>
                {name}
                {installed ? "" : " (not installed)"}
              </option>
            ))}
          </Select>
        </Field>
        <Field label="Kind" note={kindNote(draft.kind === "" ? (known?.kind ?? project.kind) : draft.kind)}>
          <Select value={draft.kind} onChange={(event) => change({ kind: event.target.value as Draft["kind"] })}>
            <option value="">{project.kind} (project default)</option>
            {(agent?.kinds ?? ["terminal", "chat"]).map((kind) => (
              <option key={kind} value={kind}>
                {kind}
              </option>
            ))}
          </Select>
        </Field>
        <Field label="Branch">
          <TextInput className="font-mono" placeholder={known?.branch ?? "new branch"} {...text("branch")} />
        </Field>
        <Field label="Base">
          <TextInput className="font-mono" placeholder={known?.base ?? project.defaultBranch} {...text("base")} />
        </Field>
      </div>
      <Findings preflight={preflight} onAgain={checkAgain} />
      {fault !== null && (
        <p role="alert" className="rounded-md bg-danger-soft p-3 text-danger">
          {fault}
        </p>
      )}
      <div className="flex items-center justify-end gap-3">
        <span className="text-xs text-dim">
          {known?.id === null || known === null ? "" : `Session id: ${known.id}`}
        </span>
        <Button type="submit" variant="primary" disabled={busy || blocked}>
          {busy ? "Starting …" : "Start session"}
        </Button>
      </div>
    </Form>
  );
}

function Findings({ preflight, onAgain }: { preflight: Preflight; onAgain: () => void }) {
  const problems = preflight.is === "known" ? preflight.value.problems : [];
  return (
    <div role="status">
      {problems.length > 0 && (
        <div className="flex flex-col items-start gap-2 rounded-md bg-alert-soft p-3">
          <p className="font-medium text-alert">Fix these problems first:</p>
          <ul className="flex flex-col gap-1.5">
            {problems.map(({ message, hint }) => (
              <li key={message}>
                {message} {hint !== null && <span className="text-dim">{withoutFlags(hint)}</span>}
              </li>
            ))}
          </ul>
          <Button size="small" onClick={onAgain}>
            Check again
          </Button>
        </div>
      )}
      {preflight.is === "failed" && <p className="text-xs text-dim">Could not check: {preflight.why}</p>}
    </div>
  );
}

function kindNote(kind: "terminal" | "chat"): string {
  return kind === "chat"
    ? "A conversation on this page: messages, tool calls, permission requests."
    : "The agent's own interface, in a terminal.";
}

/** The requested or last used project if it exists, else the first. */
function withKnownProject(draft: Draft, { projects }: SettingsJson): Draft {
  const known = projects.some(({ id }) => id === draft.project);
  return known ? draft : { ...draft, project: projects[0]!.id };
}

/** Short enough to finish before the button is reached, long enough not to run on every keystroke. */
const pauseMs = 350;

/** If the check itself fails, the spawn reports any problem. */
type Preflight = Loadable<PreflightJson>;

/** Checks for problems, a moment after the last change of the form. */
function usePreflight(request: SpawnRequest): [Preflight, () => void] {
  const [result, setResult] = useState<{ of: string; preflight: Preflight }>({ of: "", preflight: { is: "loading" } });
  const [round, setRound] = useState(0);
  // Preflight ignores the prompt: typing it must not trigger another check.
  const body = JSON.stringify({ ...request, prompt: undefined });
  const current = `${round} ${body}`;
  useEffect(() => {
    const stop = new AbortController();
    const run = async (): Promise<void> => {
      const preflight = await check(body, stop.signal);
      if (!stop.signal.aborted) setResult({ of: current, preflight });
    };
    const timer = setTimeout(() => void run(), pauseMs);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [body, current]);
  const recheck = useCallback(() => setRound((count) => count + 1), []);
  return [result.of === current ? result.preflight : { is: "loading" }, recheck];
}

async function check(body: string, signal: AbortSignal): Promise<Preflight> {
  try {
    return { is: "known", value: await call("preflight", { body: JSON.parse(body) as SpawnRequest, signal }) };
  } catch (error) {
    if (error instanceof HoldfastError && error.code === "invalid") return { is: "known", value: asProblem(error) };
    return { is: "failed", why: sentenceOf(error) };
  }
}

function asProblem(error: HoldfastError): PreflightJson {
  const problem = { message: error.message, hint: error.hint ?? null };
  return { problems: [problem], branch: null, base: null, id: null, agent: null, kind: "terminal" };
}
