import type { TrashJson } from "../../contract/trash.ts";
import { Age } from "../shared/ui/age.tsx";

export function TrashFacts({ entry }: { entry: TrashJson }) {
  const rows: [string, React.ReactNode][] = [
    ["Trash entry", <code key="id">{entry.id}</code>],
    ["Restored to", <code key="path">{entry.path}</code>],
    ["Branch", entry.branch === null ? "none" : <code key="branch">{entry.branch}</code>],
    ["Commits kept by", entry.ref === null ? "no ref: no own commits" : <code key="ref">{entry.ref}</code>],
    ["Uncommitted files", String(entry.uncommitted)],
    [
      "Unpushed commits",
      entry.unpushed.length === 0 ? (
        "0"
      ) : (
        <ul key="unpushed" className="font-mono text-xs">
          {entry.unpushed.map((commit) => (
            <li key={commit}>{commit}</li>
          ))}
        </ul>
      ),
    ],
    ["Moved to trash", <Age key="age" of={entry.trashedAt} />],
    ...(entry.keptUntil === undefined ? [] : [["Kept until", entry.keptUntil] satisfies [string, string]]),
  ];
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1">
      {rows.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-dim">{name}</dt>
          <dd className="break-words">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
