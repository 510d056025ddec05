/** A sentence of ours in which what stands between backticks is typed in a terminal. */
export function Commands({ text }: { text: string }) {
  return text.split("`").map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      <code key={index} className="rounded bg-sunken px-1 font-mono text-text">
        {part}
      </code>
    ),
  );
}
