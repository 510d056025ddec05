import type { SettingsJson } from "../../contract/wire.ts";
import { Commands } from "../shared/ui/commands.tsx";
import { Row, Section } from "./section.tsx";

export function Agents({ agents }: { agents: SettingsJson["agents"] }) {
  return (
    <Section id="agents" title="Agents" note="Those that are built in, and those of holdfast.yaml.">
      <ul className="flex flex-col gap-2">
        {agents.map(({ id, name, kinds, installed, command, reason, project }) => (
          <Row
            key={`${project ?? ""}/${id}`}
            action={
              <span className={installed ? "text-xs text-good" : "text-xs text-dim"}>
                {installed ? "installed" : "not installed"}
              </span>
            }
          >
            <p className="flex flex-wrap items-baseline gap-x-2">
              <span className="font-medium">{name}</span>
              <span className="text-xs text-dim">
                {kinds.join(", ")}
                {project === undefined ? "" : `, project ${project}`}
              </span>
            </p>
            <p className="truncate font-mono text-xs text-dim" title={command}>
              {command}
            </p>
            {reason !== null && (
              <p className="text-xs break-words">
                <Commands text={reason} />
              </p>
            )}
          </Row>
        ))}
      </ul>
    </Section>
  );
}
