/**
 * Moves the focus to the input or the conversation when a button disappears after it was pressed by keyboard. Otherwise the focus would be
 * lost.
 */
export function keepPlace(act: () => void): (event: MouseEvent) => void {
  return ({ detail }) => {
    // Pointer clicks have a `detail` count. They do not move the focus, because it would open the on-screen keyboard on touch devices.
    if (detail === 0) focusPlace()
    act()
  }
}

function focusPlace(): void {
  const field = document.querySelector<HTMLTextAreaElement>('#composer:not(:disabled)')
  const place = field ?? document.querySelector<HTMLElement>('.transcript')
  place?.focus()
}
