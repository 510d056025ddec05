/** A menu behind a button, navigated by arrow keys and first letters. */
import { DropdownMenu as Radix } from "radix-ui";
import type { ReactElement, ReactNode } from "react";
import { clsx } from "clsx";

export interface MenuProps {
  button: ReactElement;
  children: ReactNode;
  /** For a menu that is loaded when its button is pressed. */
  defaultOpen?: boolean;
}

export function Menu({ button, children, defaultOpen = false }: MenuProps) {
  return (
    <Radix.Root defaultOpen={defaultOpen}>
      <Radix.Trigger asChild>{button}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          align="end"
          sideOffset={4}
          collisionPadding={8}
          className="z-50 min-w-44 max-w-[min(24rem,90vw)] rounded-lg border border-line bg-raised p-1 shadow-lg"
        >
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

export interface MenuItemProps {
  onSelect: () => void;
  children: ReactNode;
  /** Explanation below the label. */
  note?: string;
  danger?: boolean;
}

export function MenuItem({ onSelect, children, note, danger = false }: MenuItemProps) {
  return (
    <Radix.Item
      onSelect={onSelect}
      className={clsx(
        "flex cursor-default flex-col rounded-md px-2 py-1.5 outline-none data-[highlighted]:bg-sunken pointer-coarse:py-2.5",
        danger && "text-danger",
      )}
    >
      <span className="flex items-center gap-2">{children}</span>
      {note !== undefined && <span className="text-xs text-dim">{note}</span>}
    </Radix.Item>
  );
}

export function MenuLine() {
  return <Radix.Separator className="my-1 h-px bg-line" />;
}
