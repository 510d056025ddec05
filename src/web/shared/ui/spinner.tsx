import { LoaderCircle } from "lucide-react";

export function Spinner({ label = "Loading" }: { label?: string }) {
  return (
    <span role="status" className="inline-flex items-center gap-2 p-4 text-dim">
      <LoaderCircle size={16} className="animate-spin" aria-hidden />
      {label} …
    </span>
  );
}
