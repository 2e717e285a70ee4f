/** Returns the composer's text field in the chat that contains `element`. */
export function composerOf(element: Element): HTMLTextAreaElement | undefined {
  const root = element.getRootNode()
  const composer = root instanceof ShadowRoot ? (root.host.querySelector('phi-composer') ?? root.querySelector('phi-composer')) : undefined
  return composer?.querySelector('textarea') ?? undefined
}

/** Moves the focus to the composer, before buttons disappear with it. */
export function focusComposer(element: Element): void {
  composerOf(element)?.focus()
}
