/**
 * For buttons that go away when they are pressed: who came to one by keyboard goes on where one writes, or reads. Otherwise the focus would be lost with it.
 */
export function keepPlace(button: EventTarget | null): void {
  if (!(button instanceof HTMLElement) || !button.matches(':focus-visible')) return
  const field = document.querySelector<HTMLTextAreaElement>('#composer:not(:disabled)')
  const place = field ?? document.querySelector<HTMLElement>('.transcript')
  place?.focus()
}
