/**
 * The focus is the board's cursor. A card that changes its column is made anew there, and what had the focus is gone with
 * the old one: it is given to the new one. Only a class is told before the old card is taken out. A menu that was closed
 * gives the focus back to its button a moment later, and finds no button where its card has moved meanwhile.
 */
import { Component, type ReactNode } from "react";

interface KeepCursorProps {
  className: string;
  children: ReactNode;
}

/** Of what had the focus: the session's address, and whether it was its menu's button. */
interface Cursor {
  href: string;
  atMenu: boolean;
}

export class KeepCursor extends Component<KeepCursorProps> {
  /** Of the card whose menu has the focus, or had it last. */
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

/** The address of the session whose card this is in. */
function hrefOf(element: Element | null): string | null {
  return element?.closest("article")?.querySelector("[data-card]")?.getAttribute("href") ?? null;
}
