/** Shown in place of a view that failed to render. The rest of the frame stays. */
import { Component, type ReactNode } from "react";
import { onReconnect } from "../shared/data/live.ts";
import { Button } from "../shared/ui/button.tsx";

export class ErrorBoundary extends Component<{ children: ReactNode }, { error: unknown }> {
  override state: { error: unknown } = { error: null };

  #stop: (() => void) | null = null;

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error };
  }

  /** Code that was missing because the daemon was down can be fetched once it is back. */
  override componentDidMount(): void {
    this.#stop = onReconnect(() => void (isMissing(this.state.error) && this.setState({ error: null })));
  }

  override componentWillUnmount(): void {
    this.#stop?.();
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === null) return this.props.children;
    const message = messageOf(error);
    const missing = isMissing(error);
    return (
      <div role="alert" className="mx-auto flex w-full max-w-lg min-w-0 flex-col items-start gap-3 p-6">
        <h1 className="text-base font-semibold">
          {missing ? "Part of this page could not be loaded" : "This view could not be displayed"}
        </h1>
        <p>
          {missing
            ? "The daemon is unreachable, or was updated since this page was opened. Reload to get the current version."
            : "This is a bug in the dashboard. Your sessions are not affected."}
        </p>
        {!missing && (
          <pre className="max-w-full rounded bg-sunken p-2 text-xs break-words whitespace-pre-wrap">{message}</pre>
        )}
        <div className="flex flex-wrap gap-2">
          <Button variant="primary" onClick={() => location.reload()}>
            Reload
          </Button>
          {!missing && <Button onClick={() => this.setState({ error: null })}>Try again</Button>}
          <Button onClick={() => location.assign("/")}>Go to the board</Button>
        </div>
      </div>
    );
  }
}

/** Views are loaded on first use; after an update, the files of the old page no longer exist. */
function isMissing(error: unknown): boolean {
  return error !== null && /dynamically imported module|module script|preload CSS/i.test(messageOf(error));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : JSON.stringify(error);
}
