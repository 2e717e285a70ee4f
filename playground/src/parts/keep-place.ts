/**
 * What a button does that goes away when it is pressed: who pressed it by keyboard goes on where one writes, or reads. Otherwise the focus would be lost with it.
 */
export function keepPlace(act: () => void): (event: MouseEvent) => void {
  return ({ detail }) => {
    // A pointer presses at least once; nobody who points wants the keyboard of a phone.
    if (detail === 0) focusPlace()
    act()
  }
}

function focusPlace(): void {
  const field = document.querySelector<HTMLTextAreaElement>('#composer:not(:disabled)')
  const place = field ?? document.querySelector<HTMLElement>('.transcript')
  place?.focus()
}
