/**
 * For buttons that go away when they are pressed: who pressed one by keyboard goes on where one writes, or reads. Otherwise the focus would be lost with it.
 */
export function keepPlace({ detail }: MouseEvent): void {
  // A pointer presses at least once; nobody who points wants the keyboard of a phone.
  if (detail > 0) return
  const field = document.querySelector<HTMLTextAreaElement>('#composer:not(:disabled)')
  const place = field ?? document.querySelector<HTMLElement>('.transcript')
  place?.focus()
}
