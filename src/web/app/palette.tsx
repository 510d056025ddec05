/** The command palette (sessions, pages and actions by typing a few letters) and the list of keyboard shortcuts. */
import { Command } from "cmdk";
import { useState, type ComponentProps, type ReactNode } from "react";
import { useLocation } from "wouter";
import type { SessionJson } from "../../contract/session.ts";
import { type VerbName, verbs, verbsFor } from "../../model/verbs.ts";
import { startVerb } from "../shared/verbs/verbs.tsx";
import { live, useMay } from "../shared/data/live.ts";
import { preferences } from "../shared/data/preferences.ts";
import { Dialog } from "../shared/ui/dialog.tsx";
import { inputStyles } from "../shared/ui/field.tsx";
import { plainText } from "../shared/ui/safe-text.ts";
import { StatusPill } from "../shared/ui/status-pill.tsx";
import { openOverlay, shortcuts } from "./shortcuts.ts";

const pages = [
  { name: "New session", path: "/new", keywords: [] },
  { name: "Board", path: "/", keywords: [] },
  { name: "Settings", path: "/settings", keywords: ["agents", "projects", "notifications", "doctor"] },
  { name: "Trash", path: "/trash", keywords: [] },
];

export default function Palette({ onClose }: { onClose: () => void }) {
  const [path, navigate] = useLocation();
  /** The picked verb; the session comes next. */
  const [picked, setPicked] = useState<VerbName | null>(null);
  const [query, setQuery] = useState("");
  const may = useMay("all");
  // A snapshot from when it was opened: in a list that moves, the user would pick the wrong session.
  const [sessions] = useState(() => [...live.getState().sessions.values()]);
  const here = sessions.find(({ id }) => path === `/s/${id}` || path.startsWith(`/s/${id}/`));
  const go = (to: string): void => {
    onClose();
    navigate(to);
  };
  const start = (verb: VerbName, session: SessionJson): void => {
    onClose();
    startVerb(verb, session);
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={picked === null ? "Search or run a command" : `${verbs[picked].label} which session?`}
    >
      <Command label="Commands" loop className="flex min-h-0 flex-col gap-2">
        <Command.Input
          autoFocus
          value={query}
          onValueChange={setQuery}
          placeholder={picked === null ? "Session, page or action" : "Session"}
          className={inputStyles}
          onKeyDown={(event) => {
            if (event.key === "Backspace" && query === "") setPicked(null);
          }}
        />
        <Command.List className="max-h-[50dvh] overflow-y-auto">
          <Command.Empty className="p-3 text-dim">No matches. Try a session&apos;s id, title or branch.</Command.Empty>
          {picked !== null ? (
            <Group heading="Sessions">
              {sessions
                .filter((session) => verbs[picked].offered(session))
                .map((session) => (
                  <SessionItem key={session.id} session={session} onSelect={() => start(picked, session)} />
                ))}
            </Group>
          ) : (
            <>
              {here !== undefined && may && (
                <Group heading={`This session, ${here.id}`}>
                  {verbsFor(here).map((name) => (
                    <Item key={name} value={`this ${verbs[name].label}`} onSelect={() => start(name, here)}>
                      {verbs[name].label}
                    </Item>
                  ))}
                </Group>
              )}
              <Group heading="Sessions">
                {sessions.map((session) => (
                  <SessionItem key={session.id} session={session} onSelect={() => go(`/s/${session.id}`)} />
                ))}
              </Group>
              <Group heading="Pages">
                {pages.map(({ name, path: to, keywords }) => (
                  <Item key={to} value={name} keywords={keywords} onSelect={() => go(to)}>
                    {name}
                  </Item>
                ))}
                <Item value="Keyboard shortcuts help" onSelect={() => openOverlay("help")}>
                  Keyboard shortcuts
                </Item>
              </Group>
              <Group heading="Actions">
                {(may ? verbNames(sessions) : []).map((name) => (
                  <Item
                    key={name}
                    value={`${verbs[name].label} a session`}
                    onSelect={() => {
                      setQuery("");
                      setPicked(name);
                    }}
                  >
                    {verbs[name].label} a session …
                  </Item>
                ))}
              </Group>
              <Group heading="Theme">
                {(["light", "dark", "system"] as const).map((theme) => (
                  <Item
                    key={theme}
                    value={`theme colors ${theme}`}
                    onSelect={() => {
                      preferences.setState({ theme });
                      onClose();
                    }}
                  >
                    Theme: {theme}
                  </Item>
                ))}
              </Group>
            </>
          )}
        </Command.List>
      </Command>
    </Dialog>
  );
}

function verbNames(sessions: SessionJson[]): VerbName[] {
  const found = new Set(sessions.flatMap((session) => verbsFor(session)));
  return (Object.keys(verbs) as VerbName[]).filter((name) => found.has(name));
}

function SessionItem({ session, onSelect }: { session: SessionJson; onSelect: () => void }) {
  return (
    <Item
      value={session.id}
      keywords={[session.title, session.project, session.agent, session.branch ?? "", session.issue ?? ""]}
      onSelect={onSelect}
    >
      <span className="w-20 shrink-0 truncate font-mono text-xs text-dim">{session.id}</span>
      <span className="min-w-0 flex-1 truncate">{plainText(session.title)}</span>
      <StatusPill of={session} />
    </Item>
  );
}

function Group({ heading, children }: { heading: string; children: ReactNode }) {
  return (
    <Command.Group
      heading={heading}
      className="[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:py-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-dim"
    >
      {children}
    </Command.Group>
  );
}

function Item(props: ComponentProps<typeof Command.Item>) {
  return (
    <Command.Item
      className="flex min-h-8 cursor-default items-center gap-2 rounded-md px-2 py-1 data-[selected=true]:bg-sunken pointer-coarse:min-h-10"
      {...props}
    />
  );
}

export function Help({ onClose }: { onClose: () => void }) {
  return (
    <Dialog open onClose={onClose} title="Keyboard shortcuts">
      <dl className="grid grid-cols-[auto_1fr] items-baseline gap-x-4 gap-y-2">
        {shortcuts.map(({ keys, does }) => (
          <div key={keys} className="contents">
            <dt>
              {keys.split(" ").map((key) =>
                key === "or" ? (
                  " or "
                ) : (
                  <kbd key={key} className="mr-1 rounded border border-line bg-sunken px-1.5 py-0.5 font-mono text-xs">
                    {key}
                  </kbd>
                ),
              )}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <p className="text-xs text-dim">Keys without Ctrl are ignored while you type in a field or a terminal.</p>
    </Dialog>
  );
}
