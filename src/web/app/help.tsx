import { Dialog } from "../shared/ui/dialog.tsx";
import { shortcuts } from "./shortcuts.ts";

export default function Help({ onClose }: { onClose: () => void }) {
  return (
    <Dialog open onClose={onClose} title="Keyboard">
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
      <p className="text-xs text-dim">Keys without Ctrl do nothing while you type in a field or a terminal.</p>
    </Dialog>
  );
}
