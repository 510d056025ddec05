/** The sign of the page, drawn here: a picture of its own would be missing while the daemon is down. */
export function Brand() {
  return (
    <svg viewBox="0 0 32 32" width={20} height={20} aria-hidden>
      <rect width="32" height="32" rx="7" className="fill-accent" />
      <path d="M10 6v20M22 6v20M10 16h12" className="stroke-accent-ink" strokeWidth="4" strokeLinecap="round" />
    </svg>
  );
}
