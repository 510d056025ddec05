/**
 * The focus is the board's cursor. A card that changes its column is made anew there, and what had the focus is gone with
 * the old one: it is given to the new one. Only a class is told before the old card is taken out.
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
  override getSnapshotBeforeUpdate(): Cursor | null {
    const focused = document.activeElement;
    const href = cardIn(focused?.closest("article"))?.getAttribute("href");
    return href == null ? null : { href, atMenu: focused?.ariaHasPopup === "menu" };
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

function cardIn(article: Element | null | undefined): HTMLElement | null {
  return article?.querySelector<HTMLElement>("[data-card]") ?? null;
}
