/**
 * tmux takes the mouse, so that the wheel scrolls its history; a drag would then select inside tmux, out of the
 * browser's reach. xterm selects by itself while Shift is held, so a plain press is handed to it as one with Shift.
 */
export function selectByMouse(element: HTMLElement, wanted: () => boolean): () => void {
  const onDown = (event: MouseEvent): void => {
    if (!event.isTrusted || event.shiftKey || event.button !== 0 || !wanted()) return;
    event.stopImmediatePropagation();
    event.preventDefault();
    event.target?.dispatchEvent(
      new MouseEvent("mousedown", {
        bubbles: true,
        cancelable: true,
        composed: true,
        view: window,
        detail: event.detail,
        clientX: event.clientX,
        clientY: event.clientY,
        screenX: event.screenX,
        screenY: event.screenY,
        button: event.button,
        buttons: event.buttons,
        shiftKey: true,
        ctrlKey: event.ctrlKey,
        altKey: event.altKey,
        metaKey: event.metaKey,
      }),
    );
  };
  element.addEventListener("mousedown", onDown, true);
  return () => element.removeEventListener("mousedown", onDown, true);
}
