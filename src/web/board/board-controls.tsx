/** The board's controls, in the header: search, project, order, columns or list. */
import { Columns3, Rows3, Search, SlidersHorizontal } from "lucide-react";
import { useState } from "react";
import { useLive, type Live } from "../shared/data/live.ts";
import { usePreference, type Preferences } from "../shared/data/preferences.ts";
import { IconButton } from "../shared/ui/button.tsx";
import { clsx } from "clsx";
import { Checkbox, inputStyles, Select } from "../shared/ui/field.tsx";
import { createStore, useStore } from "zustand";

/** The search text; not kept after a reload. */
export const boardView = createStore<{ query: string }>(() => ({ query: "" }));

export function useSearchQuery(): string {
  return useStore(boardView, (state) => state.query);
}

export const searchInputId = "board-search";

export function BoardControls() {
  const projects = useLive(projectsOf);
  const [project, setProject] = usePreference("project");
  const [sort, setSort] = usePreference("sort");
  const [showEnded, setShowEnded] = usePreference("showEnded");
  // Collapsed on phones, where they would take a third of the screen.
  const [expanded, setExpanded] = useState(false);
  const names = projects === "" ? [] : projects.split("\n");
  // The selected project stays listed without sessions: otherwise it is unclear why the board is empty.
  if (project !== null && !names.includes(project)) names.push(project);
  return (
    <div className="flex w-full min-w-0 flex-wrap items-center gap-2 md:w-auto md:flex-1">
      <SearchBox />
      <IconButton
        label="Filter and sort"
        aria-expanded={expanded}
        className="md:hidden"
        onClick={() => setExpanded(!expanded)}
        Sign={SlidersHorizontal}
      />
      <div
        className={clsx(
          "w-full items-center gap-2 md:flex md:w-auto",
          expanded ? "flex flex-wrap justify-between" : "hidden",
        )}
      >
        <Select
          aria-label="Project"
          className="w-auto! min-w-40 flex-1 md:max-w-40 md:min-w-32 md:flex-none"
          value={project ?? ""}
          onChange={(event) => setProject(event.target.value === "" ? null : event.target.value)}
        >
          <option value="">All projects</option>
          {names.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </Select>
        <Select
          aria-label="Sort by"
          className="w-auto! min-w-40 flex-1 md:min-w-32 md:flex-none"
          value={sort}
          onChange={(event) => setSort(event.target.value as Preferences["sort"])}
        >
          <option value="activity">Latest activity</option>
          <option value="created">Newest</option>
          <option value="name">Name</option>
        </Select>
        <ViewSwitch />
        <Checkbox
          className="items-center gap-1.5 text-xs whitespace-nowrap text-dim pointer-coarse:min-h-10"
          checked={showEnded}
          onChange={setShowEnded}
        >
          Ended
        </Checkbox>
      </div>
    </div>
  );
}

function SearchBox() {
  const query = useSearchQuery();
  return (
    <div className="relative min-w-40 flex-1 md:max-w-xs">
      <Search
        size={14}
        aria-hidden
        className="pointer-events-none absolute top-1/2 left-2.5 -translate-y-1/2 text-dim"
      />
      <input
        id={searchInputId}
        type="search"
        aria-label="Search sessions"
        aria-keyshortcuts="/"
        placeholder="Search sessions"
        autoComplete="off"
        spellCheck={false}
        className={clsx(inputStyles, "pl-8")}
        value={query}
        onChange={(event) => boardView.setState({ query: event.target.value })}
        onKeyDown={(event) => {
          if (event.key === "Escape") {
            boardView.setState({ query: "" });
            event.currentTarget.blur();
          } else if (event.key === "Enter") document.querySelector<HTMLElement>("[data-card]")?.focus();
        }}
      />
    </div>
  );
}

function ViewSwitch() {
  const [as, setAs] = usePreference("boardAs");
  const views = [
    { value: "columns", label: "Columns", Sign: Columns3 },
    { value: "list", label: "List", Sign: Rows3 },
  ] as const;
  return (
    <div role="group" aria-label="View" className="flex rounded-md border border-line">
      {views.map(({ value, label, Sign }) => (
        <button
          key={value}
          type="button"
          aria-pressed={as === value}
          aria-label={label}
          title={label}
          onClick={() => setAs(value)}
          className={clsx(
            "flex size-8 items-center justify-center first:rounded-l-md last:rounded-r-md pointer-coarse:size-10",
            as === value ? "bg-accent-soft text-accent" : "text-dim hover:bg-sunken",
          )}
        >
          <Sign size={16} aria-hidden />
        </button>
      ))}
    </div>
  );
}

/** As one string, so that the value is equal while the projects are. */
export function projectsOf({ sessions }: Live): string {
  const names = new Set([...sessions.values()].map(({ project }) => project));
  return [...names].sort().join("\n");
}
