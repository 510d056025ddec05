/** The session's title, status and facts. On a phone the facts are collapsed: the view needs the space. */
import { useState, type ReactNode } from "react";
import { ArrowLeft, ChevronDown, ChevronUp, Square, Pencil } from "lucide-react";
import { Link } from "wouter";
import { describeContainment } from "../../contract/containment.ts";
import type { SessionJson } from "../../contract/session.ts";
import { PullRequest } from "../shared/ui/pull-request.tsx";
import { Age } from "../shared/ui/age.tsx";
import { Button, ExternalLink, IconButton } from "../shared/ui/button.tsx";
import { clsx } from "clsx";
import { plainText, visibleText, webAddress } from "../shared/ui/safe-text.ts";
import { StatusPill } from "../shared/ui/status-pill.tsx";
import { CopyText } from "../shared/ui/code-text.tsx";
import { verbs } from "../../model/verbs.ts";
import { startVerb, VerbMenu } from "../shared/verbs/verbs.tsx";
import { call } from "../shared/data/api.ts";
import { useMay } from "../shared/data/live.ts";
import { InlineEdit } from "../shared/ui/field.tsx";
import { useAction } from "../shared/ui/toast.tsx";

export function SessionHeader({ session }: { session: SessionJson }) {
  const [open, setOpen] = useState(false);
  return (
    <div className="flex shrink-0 flex-col gap-1 bg-panel px-2 pt-1.5 pb-1 sm:px-4">
      <div className="flex items-center gap-1 sm:gap-2">
        <Link
          href="/"
          aria-label="Back to the board"
          title="Back to the board"
          className="inline-flex size-8 shrink-0 items-center justify-center rounded-md text-dim hover:bg-sunken hover:text-text pointer-coarse:size-10"
        >
          <ArrowLeft size={16} aria-hidden />
        </Link>
        <EditableTitle session={session} />
        <QuickVerb session={session} />
        <VerbMenu session={session} />
      </div>
      <div className="flex min-w-0 items-center gap-2 pl-1" role="status" aria-live="polite">
        <StatusPill of={session} className="shrink-0" />
        <span className="min-w-0 flex-1 truncate text-dim" title={session.reason ?? requestLine(session) ?? undefined}>
          {session.reason ?? requestLine(session) ?? <Since session={session} />}
        </span>
        <IconButton
          label={open ? "Hide details" : "Show details"}
          aria-expanded={open}
          className="sm:hidden"
          onClick={() => setOpen(!open)}
          Sign={open ? ChevronUp : ChevronDown}
        />
      </div>
      <Facts session={session} open={open} />
    </div>
  );
}

/** The open permission request, above every view, not only in the chat. */
function requestLine({ permissions }: SessionJson): string | null {
  const [first] = permissions;
  if (first === undefined) return null;
  const more = permissions.length > 1 ? ` (and ${permissions.length - 1} more)` : "";
  return `asks: ${visibleText(first.title)}${more}`;
}

function Since({ session }: { session: SessionJson }) {
  return session.lastActivityAt === null ? null : (
    <>
      last activity <Age of={session.lastActivityAt} />
    </>
  );
}

function Facts({ session, open }: { session: SessionJson; open: boolean }) {
  const { id, project, agent, kind, role, branch, base, attach, workspacePath, contain } = session;
  return (
    <dl
      className={clsx(
        "min-w-0 flex-wrap items-center gap-x-4 gap-y-0.5 pb-1 pl-1 text-xs sm:flex",
        open ? "flex" : "hidden",
      )}
    >
      <Fact name="Session">
        <CopyText text={id} what="id" />
      </Fact>
      <Fact name="Project">{project}</Fact>
      <Fact name="Agent">
        {agent}, {kind}
        {role === "worker" ? "" : `, ${role}`}
      </Fact>
      {branch !== null && (
        <Fact name="Branch">
          <CopyText text={branch} what="branch" />
        </Fact>
      )}
      <Fact name="Base">
        <span className="font-mono" title={base}>
          {/^[0-9a-f]{40,}$/.test(base) ? base.slice(0, 10) : base}
        </span>
      </Fact>
      <PullRequests session={session} />
      <Issue session={session} />
      <Fact name="Worktree">
        <CopyText text={workspacePath} what="worktree path" />
      </Fact>
      {contain !== undefined && contain.mode !== "off" && <Fact name="Contained">{describeContainment(contain)}</Fact>}
      {attach !== null && (
        <Fact name="Attach">
          <CopyText text={`holdfast attach ${id}`} what="attach command" />
        </Fact>
      )}
    </dl>
  );
}

function PullRequests({ session: { pullRequest, pullRequests } }: { session: SessionJson }) {
  const all = pullRequests ?? (pullRequest === null ? [] : [pullRequest]);
  return all.map((one) => (
    <Fact key={one.url} name="Pull request">
      <PullRequest of={one} detailed />
    </Fact>
  ));
}

function Issue({ session: { issue, issueFacts } }: { session: SessionJson }) {
  if (issue === null) return null;
  return (
    <Fact name="Issue">
      <ExternalLink href={webAddress(issueFacts?.url ?? issue)}>{issueFacts?.key ?? issue}</ExternalLink>
      {issueFacts !== undefined && ` ${plainText(issueFacts.title)} (${issueFacts.state})`}
    </Fact>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex min-w-0 max-w-full items-center gap-1.5">
      <dt className="shrink-0 text-dim">{name}</dt>
      <dd className="min-w-0 truncate">{children}</dd>
    </div>
  );
}

/** The most used verb; the others are in the menu. */
function QuickVerb({ session }: { session: SessionJson }) {
  if (!verbs.stop.offered(session)) return null;
  return (
    <Button className="max-sm:hidden" onClick={() => startVerb("stop", session)}>
      <Square size={14} aria-hidden /> {verbs.stop.label}
    </Button>
  );
}

function EditableTitle({ session }: { session: SessionJson }) {
  const [editing, setEditing] = useState(false);
  const may = useMay("all");
  const { run } = useAction("Could not change the title");
  const close = (): void => setEditing(false);
  const save = (title: string) =>
    run(() => call("rename", { params: { id: session.id }, body: { title } }).then(close));
  if (editing) {
    const { title } = session;
    return (
      <InlineEdit
        aria-label="Title"
        value={title}
        maxLength={200}
        ref={focusOnce}
        onSave={(text) => void save(text)}
        onClose={close}
      />
    );
  }
  return (
    <div className="flex min-w-0 flex-1 items-center gap-1">
      <h1 className="min-w-0 truncate text-base font-semibold" title={session.title}>
        {session.title}
      </h1>
      {may && (
        <IconButton
          label="Edit title"
          className="shrink-0 max-sm:hidden"
          onClick={() => setEditing(true)}
          Sign={Pencil}
          signSize={14}
        />
      )}
    </div>
  );
}

function focusOnce(input: HTMLInputElement | null): void {
  input?.select();
}
