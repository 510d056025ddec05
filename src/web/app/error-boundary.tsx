/** Where drawing a view failed: says so, and offers a way on. The rest of the frame stays. */
import { Component, type ReactNode } from "react";
import { Button } from "../ui/button.tsx";

export class ErrorBoundary extends Component<{ children: ReactNode }, { error: unknown }> {
  override state: { error: unknown } = { error: null };

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === null) return this.props.children;
    const message = error instanceof Error ? error.message : JSON.stringify(error);
    // Parts are loaded when they are first wanted; after an update those of the old page are gone.
    const missing = /dynamically imported module|module script/i.test(message);
    return (
      <div role="alert" className="mx-auto flex max-w-lg flex-col items-start gap-3 p-6">
        <h1 className="text-base font-semibold">
          {missing ? "A part of this page could not be loaded" : "This view could not be shown"}
        </h1>
        <p>
          {missing
            ? "The daemon cannot be reached, or was updated since this page was opened. Reload the page to get its present one."
            : "That is a fault of this page. Your sessions are not affected: they run in the daemon's care."}
        </p>
        {!missing && <pre className="max-w-full overflow-x-auto rounded bg-sunken p-2 text-xs">{message}</pre>}
        <div className="flex gap-2">
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
