/** A terminal session's screen, or what is left of it, with the way back. */
import type { SessionJson } from "../../contract/wire.ts";
import { Spinner } from "../shared/ui/spinner.tsx";
import { visibleText } from "../shared/ui/visible-text.ts";
import { LiveTerminal } from "./live-terminal.tsx";

export default function TerminalView({ session }: { session: SessionJson }) {
  // What can be attached to runs. A screen that ended is not asked for again until the agent is started.
  if (session.attach !== null) return <LiveTerminal session={session} />;
  if (session.status === "starting" || (session.intent.want === "running" && session.end === null)) {
    return <Spinner label="The agent is being started" />;
  }
  return <LastLines session={session} />;
}

function LastLines({ session }: { session: SessionJson }) {
  const lines = session.end?.lastLines ?? [];
  return (
    <div className="absolute inset-0 flex flex-col gap-2 overflow-auto p-3 sm:p-4">
      <p className="text-dim">
        {lines.length === 0
          ? "Nothing was recorded of its screen. Nothing can be typed here until it runs again."
          : "The last lines of its screen. Nothing can be typed here until it runs again."}
      </p>
      {lines.length > 0 && (
        <pre tabIndex={0} aria-label="Last lines" className="overflow-auto rounded-md bg-sunken p-3 font-mono text-xs">
          {visibleText(lines.join("\n"))}
        </pre>
      )}
    </div>
  );
}
