import { useState } from "react";
import type { ProjectJson } from "../../contract/project.ts";
import { call } from "../shared/data/api.ts";
import { Button } from "../shared/ui/button.tsx";
import { ConfirmDialog } from "../shared/ui/dialog.tsx";
import { Field, Form, TextInput } from "../shared/ui/field.tsx";
import { showToast, useSubmit } from "../shared/ui/toast.tsx";
import { TrustCard } from "../shared/ui/trust-card.tsx";
import { Row, Section } from "./section.tsx";
import { Age } from "../shared/ui/age.tsx";
import { countOf, plainText } from "../shared/ui/safe-text.ts";
import { useQuery } from "../shared/data/use-query.ts";

export function Projects({ projects, onChanged }: { projects: ProjectJson[]; onChanged: () => void }) {
  const [removing, setRemoving] = useState<ProjectJson | null>(null);
  const remove = async (id: string): Promise<void> => {
    await call("projectRemove", { params: { id } });
    showToast(`${id} unregistered. Nothing on disk was changed.`);
    onChanged();
    setRemoving(null);
  };
  return (
    <Section id="projects" title="Projects" note="Git repositories that sessions can run in.">
      {projects.length === 0 ? (
        <p className="text-dim">No projects yet. Add a repository by its path on the daemon&apos;s machine.</p>
      ) : (
        <ul className="flex flex-col gap-2">
          {projects.map((project) => (
            <Row
              key={project.id}
              action={
                <Button size="small" aria-label={`Remove ${project.id}`} onClick={() => setRemoving(project)}>
                  Remove
                </Button>
              }
            >
              <p className="flex flex-wrap items-baseline gap-x-2">
                <span className="font-medium">{project.id}</span>
                <span className="text-xs text-dim">
                  {project.agent}, {project.kind}, {countOf(project.sessions, "session")}
                </span>
              </p>
              <p className="font-mono text-xs break-all text-dim">{project.path}</p>
              <TrustCard project={project} onAnswered={onChanged} />
            </Row>
          ))}
        </ul>
      )}
      <AddProject onAdded={onChanged} />
      {removing !== null && (
        <ConfirmDialog
          title={`Remove ${removing.id}?`}
          description="Unregisters the project. Its repository, worktrees and branches stay unchanged, and you can add it again."
          keep="Keep"
          confirm="Remove"
          act={() => remove(removing.id)}
          onClose={() => setRemoving(null)}
        />
      )}
    </Section>
  );
}

function AddProject({ onAdded }: { onAdded: () => void }) {
  const [path, setPath] = useState("");
  const { busy, fault, submit } = useSubmit();
  const add = () =>
    submit(async () => {
      const added = await call("projectAdd", { body: { path: path.trim() } });
      showToast(`Added ${added.map(({ id }) => id).join(", ")}.`);
      setPath("");
      onAdded();
    });
  return (
    <Form className="flex items-start gap-2" onSubmit={add}>
      <div className="flex-1">
        <Field
          label="Repository path"
          fault={fault}
          note="Uses the projects in its holdfast.yaml, or the repository with defaults."
        >
          <TextInput
            className="font-mono"
            placeholder="/path/to/repository"
            value={path}
            onChange={(event) => setPath(event.target.value)}
          />
        </Field>
      </div>
      <Button type="submit" className="mt-5" disabled={busy || path.trim() === ""}>
        Add project
      </Button>
    </Form>
  );
}

/** The state of the projects' trackers; nothing without trackers. */
export function Trackers() {
  const [trackers, reload] = useQuery("trackers");
  // If the daemon is unreachable, the rest of the page shows that.
  if (trackers.is !== "known" || trackers.value.length === 0) return null;
  return (
    <Section
      id="trackers"
      title="Trackers"
      action={
        <Button size="small" onClick={reload}>
          Refresh
        </Button>
      }
    >
      <ul className="flex flex-col gap-2">
        {trackers.value.map(({ project, type, repo, state, why, lastOk, remaining }) => (
          <Row
            key={`${project} ${type} ${repo}`}
            action={
              <span className={state === "ok" ? "text-xs text-good" : "text-xs text-alert"}>
                {state.replaceAll("-", " ")}
              </span>
            }
          >
            <p>
              <span className="font-medium">{project}</span>{" "}
              <span className="text-xs text-dim">
                {type} {plainText(repo)}
              </span>
            </p>
            {why !== null && <p className="text-xs break-words">{plainText(why)}</p>}
            <p className="text-xs text-dim">
              {lastOk !== null && (
                <>
                  Last response: <Age of={lastOk} />
                </>
              )}
              {remaining !== null && ` · ${remaining} requests left`}
            </p>
          </Row>
        ))}
      </ul>
    </Section>
  );
}
