/** Moves from a number in a text to its source in the same message, and opens the cited page. */
export function toSource(event: MouseEvent): void {
  const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>('a.cite') : null
  if (link === null) return
  event.preventDefault()
  const source = link.closest('.message')?.querySelector<HTMLElement>(`[data-source="${Number(link.textContent)}"]`)
  source?.focus()
  source?.scrollIntoView({ block: 'nearest' })
  const page = /-page-(\d+)$/.exec(link.hash)?.[1]
  source?.querySelector<HTMLElement>(`[data-page="${Number(page)}"]`)?.click()
}
