/**
 * The focus is the board's cursor. A card that changes its column is recreated there and loses the focus; this gives it
 * back. A class, because only classes run code before the old card is removed. A closed menu returns the focus to its
 * button a moment later, when its card may have moved already.
 */
import { Component, type ReactNode } from "react";

interface KeepCursorProps {
  className: string;
  children: ReactNode;
}

/** The focused card: its session's address, and whether its menu button had the focus. */
interface Cursor {
  href: string;
  atMenu: boolean;
}

export class KeepCursor extends Component<KeepCursorProps> {
  /** The card whose menu has the focus, or had it last. */
  #ofMenu: string | null = null;

  override componentDidMount(): void {
    document.addEventListener("focusin", this.#focused);
  }

  override componentWillUnmount(): void {
    document.removeEventListener("focusin", this.#focused);
  }

  readonly #focused = ({ target }: FocusEvent): void => {
    const inMenu = target instanceof Element && target.closest("[role=menu]") !== null;
    const button = inMenu ? document.querySelector("article [aria-haspopup=menu][aria-expanded=true]") : null;
    this.#ofMenu = hrefOf(button);
  };

  override getSnapshotBeforeUpdate(): Cursor | null {
    const focused = document.activeElement;
    if (focused === document.body) return this.#ofMenu === null ? null : { href: this.#ofMenu, atMenu: true };
    const href = hrefOf(focused);
    return href === null ? null : { href, atMenu: focused?.ariaHasPopup === "menu" };
  }

  override componentDidUpdate(_props: KeepCursorProps, _state: unknown, cursor: Cursor | null): void {
    if (cursor === null || document.activeElement !== document.body) return;
    const card = document.querySelector<HTMLElement>(`[data-card][href="${CSS.escape(cursor.href)}"]`);
    const menu = card?.closest("article")?.querySelector<HTMLElement>("[aria-haspopup=menu]");
    (cursor.atMenu ? menu : card)?.focus();
  }

  override render() {
    return <div className={this.props.className}>{this.props.children}</div>;
  }
}

/** The address of the session whose card contains the element. */
function hrefOf(element: Element | null): string | null {
  return element?.closest("article")?.querySelector("[data-card]")?.getAttribute("href") ?? null;
}
