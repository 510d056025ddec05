import { memo, useState } from "react";
import { ChevronRight, Circle, CircleCheck, CircleDot } from "lucide-react";
import { clsx } from "clsx";
import { safeText } from "./inert.ts";
import { shape, textIn } from "./tool-parts.ts";

interface Step {
  text: string;
  state: string;
}

/** The agent's plan: one line, expandable. */
export const PlanStrip = memo(function PlanStrip({ plan }: { plan: readonly unknown[] }) {
  const [open, setOpen] = useState(false);
  const steps = plan.map((entry): Step => ({
    text: safeText(textIn(shape(entry), "content") ?? ""),
    state: textIn(shape(entry), "status") ?? "",
  }));
  const done = steps.filter(({ state }) => state === "completed").length;
  const now = steps.find(({ state }) => state === "in_progress") ?? steps.find(({ state }) => state !== "completed");
  return (
    <section aria-label="Plan" className="min-w-0 flex-1">
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="flex h-8 w-full min-w-0 items-center gap-1.5 rounded px-1 text-left text-xs text-dim hover:text-text pointer-coarse:h-10"
      >
        <ChevronRight size={14} aria-hidden className={clsx("shrink-0 transition-transform", open && "rotate-90")} />
        <span className="font-medium whitespace-nowrap tabular-nums">
          Plan {done}/{steps.length}
        </span>
        <span className="min-w-0 truncate">{now === undefined ? "all done" : now.text}</span>
      </button>
      {open && (
        <ol className="max-h-[40vh] space-y-1 overflow-y-auto py-1 pl-6 text-[13px]">
          {steps.map(({ text, state }, index) => (
            <li key={index} className={clsx("flex gap-2", state === "completed" && "text-dim")}>
              <StepSign state={state} />
              <span className="min-w-0 break-words">{text}</span>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
});

function StepSign({ state }: { state: string }) {
  const styles = "mt-0.5 shrink-0";
  if (state === "completed") return <CircleCheck size={14} aria-label="done" className={`${styles} text-good`} />;
  if (state === "in_progress")
    return <CircleDot size={14} aria-label="in progress" className={`${styles} text-busy`} />;
  return <Circle size={14} aria-label="to do" className={styles} />;
}
