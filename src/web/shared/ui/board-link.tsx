/** The way on from a page where there is nothing. */
import type { ReactNode } from "react";
import { Link } from "wouter";

export function BoardLink(): ReactNode {
  return (
    <p>
      <Link href="/" className="inline-flex items-center text-accent underline pointer-coarse:min-h-10">
        Go to the board
      </Link>
    </p>
  );
}
