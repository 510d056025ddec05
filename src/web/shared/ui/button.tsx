import { cva, type VariantProps } from "class-variance-authority";
import type { ComponentProps, ReactNode } from "react";
import { clsx } from "clsx";
import type { LucideIcon } from "lucide-react";
import { Link } from "wouter";

const styles = cva(
  "inline-flex items-center justify-center gap-1.5 whitespace-nowrap rounded-md font-medium transition-colors disabled:opacity-50 disabled:cursor-not-allowed select-none",
  {
    variants: {
      variant: {
        primary: "bg-accent text-accent-ink hover:brightness-110",
        plain: "border border-line bg-panel hover:bg-sunken",
        quiet: "text-dim hover:text-text hover:bg-sunken",
        danger: "border border-danger/40 text-danger bg-panel hover:bg-danger-soft",
      },
      /** On touch screens every button is at least a finger wide. */
      size: {
        small: "h-7 px-2 text-xs pointer-coarse:h-10",
        normal: "h-8 px-3 text-sm pointer-coarse:h-10",
        icon: "size-8 pointer-coarse:size-10",
        tiny: "size-6 shrink-0 pointer-coarse:size-10",
      },
    },
    defaultVariants: { variant: "plain", size: "normal" },
  },
);

export type ButtonProps = ComponentProps<"button"> & VariantProps<typeof styles>;

export function Button({ variant, size, className, type = "button", ...rest }: ButtonProps) {
  return <button type={type} className={clsx(styles({ variant, size }), className)} {...rest} />;
}

interface IconButtonProps extends Omit<ButtonProps, "aria-label" | "children"> {
  label: string;
  Sign: LucideIcon;
  signSize?: number;
}

/** A button with only an icon: `label` is its name. */
export function IconButton({ label, Sign, signSize = 16, ...rest }: IconButtonProps) {
  return (
    <Button variant="quiet" size="icon" aria-label={label} title={label} {...rest}>
      <Sign size={signSize} aria-hidden />
    </Button>
  );
}

type ExternalLinkProps = Omit<ComponentProps<"a">, "href"> & { href: string | null | undefined };

/** A link to another site, in its own tab; without an address only the text. */
export function ExternalLink({ href, className = "text-accent underline", children, ...rest }: ExternalLinkProps) {
  if (typeof href !== "string") return <span>{children}</span>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow" className={className} {...rest}>
      {children}
    </a>
  );
}

export function BoardLink(): ReactNode {
  return (
    <p>
      <Link href="/" className="inline-flex items-center text-accent underline pointer-coarse:min-h-10">
        Go to the board
      </Link>
    </p>
  );
}
