/**
 * Moves the focus of a button that disappears when pressed by keyboard to the input or the conversation; otherwise the focus would be lost.
 */
export function keepPlace(act: () => void): (event: MouseEvent) => void {
  return ({ detail }) => {
    // A pointer press has a count; touch users do not want the on-screen keyboard.
    if (detail === 0) focusPlace()
    act()
  }
}

function focusPlace(): void {
  const field = document.querySelector<HTMLTextAreaElement>('#composer:not(:disabled)')
  const place = field ?? document.querySelector<HTMLElement>('.transcript')
  place?.focus()
}
