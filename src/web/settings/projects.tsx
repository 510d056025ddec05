import { useState } from "react";
import type { ProjectJson } from "../../contract/wire.ts";
import { call, sentenceOf } from "../shared/data/api.ts";
import { Button } from "../shared/ui/button.tsx";
import { ConfirmDialog } from "../shared/ui/dialog.tsx";
import { Field, TextInput } from "../shared/ui/field.tsx";
import { showToast } from "../shared/ui/toast.tsx";
import { TrustCard } from "../shared/ui/trust-card.tsx";
import { Row, Section } from "./section.tsx";
import { Age } from "../shared/ui/age.tsx";
import { plainText } from "../shared/ui/safe-text.ts";
import { useQuery } from "../shared/data/use-query.ts";

export function Projects({ projects, onChanged }: { projects: ProjectJson[]; onChanged: () => void }) {
  const [leaving, setLeaving] = useState<ProjectJson | null>(null);
  return (
    <Section id="projects" title="Projects" note="Git repositories that sessions can be started in.">
      {projects.length === 0 ? (
        <p className="text-dim">None yet. Add a repository by its path on the daemon&apos;s machine.</p>
      ) : (
        <ul className="flex flex-col gap-2">
          {projects.map((project) => (
            <Row
              key={project.id}
              action={
                <Button size="small" aria-label={`Remove ${project.id}`} onClick={() => setLeaving(project)}>
                  Remove
                </Button>
              }
            >
              <p className="flex flex-wrap items-baseline gap-x-2">
                <span className="font-medium">{project.id}</span>
                <span className="text-xs text-dim">
                  {project.agent}, {project.kind}, {project.sessions} {project.sessions === 1 ? "session" : "sessions"}
                </span>
              </p>
              <p className="font-mono text-xs break-all text-dim">{project.path}</p>
              <TrustCard project={project} onAnswered={onChanged} />
            </Row>
          ))}
        </ul>
      )}
      <AddProject onAdded={onChanged} />
      {leaving !== null && <RemoveProject project={leaving} onClose={() => setLeaving(null)} onRemoved={onChanged} />}
    </Section>
  );
}

function AddProject({ onAdded }: { onAdded: () => void }) {
  const [path, setPath] = useState("");
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const add = async (): Promise<void> => {
    setBusy(true);
    setFault(null);
    try {
      const added = await call("projectAdd", { body: { path: path.trim() } });
      showToast(added.length === 1 ? `Added ${added[0]!.id}.` : `Added ${added.map(({ id }) => id).join(", ")}.`);
      setPath("");
      onAdded();
    } catch (error) {
      setFault(sentenceOf(error));
    }
    setBusy(false);
  };
  return (
    <form
      className="flex items-start gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        void add();
      }}
    >
      <div className="flex-1">
        <Field
          label="Path of a repository"
          fault={fault}
          note="With a holdfast.yaml in it, the projects of that file; else the repository with defaults."
        >
          {(ids) => (
            <TextInput
              {...ids}
              className="font-mono"
              placeholder="/path/to/repository"
              value={path}
              onChange={(event) => setPath(event.target.value)}
            />
          )}
        </Field>
      </div>
      <Button type="submit" className="mt-5" disabled={busy || path.trim() === ""}>
        Add
      </Button>
    </form>
  );
}

interface RemoveProps {
  project: ProjectJson;
  onClose: () => void;
  onRemoved: () => void;
}

function RemoveProject({ project, onClose, onRemoved }: RemoveProps) {
  const remove = async (): Promise<void> => {
    await call("projectRemove", { params: { id: project.id } });
    showToast(`${project.id} is forgotten. Nothing on disk was touched.`);
    onRemoved();
    onClose();
  };
  return (
    <ConfirmDialog
      title={`Remove ${project.id}?`}
      description="Holdfast forgets the project. The repository, its worktrees and its branches stay as they are, and it can be added again."
      keep="Keep it"
      confirm="Remove"
      act={remove}
      onClose={onClose}
    />
  );
}

export function Trackers() {
  const [told, again] = useQuery("trackers");
  // Where it could not be asked, the rest of the page says whether the daemon answers at all.
  if (told.is !== "known" || told.value.length === 0) return null;
  return (
    <Section
      id="trackers"
      title="Trackers"
      action={
        <Button size="small" onClick={again}>
          Look again
        </Button>
      }
    >
      <ul className="flex flex-col gap-2">
        {told.value.map(({ project, type, repo, state, why, lastOk, remaining }) => (
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
                  Last answer: <Age of={lastOk} />
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
