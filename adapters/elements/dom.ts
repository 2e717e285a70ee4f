/** An element with a part that the page can style, and what is in it. Strings become text, never HTML. */
export function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  part: string,
  attributes: Record<string, string> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag)
  element.setAttribute('part', part)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
  element.append(...children)
  return element
}

/** A button that does `act`. */
export function button(part: string, label: string, act: () => unknown): HTMLButtonElement {
  const element = make('button', part, { type: 'button' }, label)
  element.addEventListener('click', act)
  return element
}

/** How far a pointer may go, in CSS pixels, between being pressed on a button and let go there. */
const slack = 24

/** As `button`, also where it moves away under the pointer that presses it, as below an answer that grows: browsers call that no click. `act` may be done twice. */
export function steadyButton(part: string, label: string, act: () => unknown): HTMLButtonElement {
  const element = button(part, label, act)
  element.addEventListener('pointerdown', ({ clientX: x, clientY: y, pointerId, button: key }) => {
    if (key !== 0) return
    const ended = new AbortController()
    const { signal } = ended
    const release = (event: PointerEvent): void => {
      if (event.pointerId !== pointerId) return
      ended.abort()
      const isNear = Math.hypot(event.clientX - x, event.clientY - y) <= slack
      if (event.type === 'pointerup' && isNear) act()
    }
    // Wherever it is let go.
    for (const type of ['pointerup', 'pointercancel'] as const) addEventListener(type, release, { capture: true, signal })
  })
  return element
}

/** Makes `list` hold an element for each id, in this order; those that are there stay. */
export function arrange(list: Element, ids: readonly string[], create: (id: string) => Element): void {
  const known = new Map(Array.from(list.children, (child) => [child.getAttribute('data-id') ?? '', child]))
  const wanted = new Set(ids)
  for (const [id, child] of known) if (!wanted.has(id)) child.remove()
  for (const [at, id] of ids.entries()) {
    let child = known.get(id)
    if (child === undefined) {
      child = create(id)
      child.setAttribute('data-id', id)
    }
    if (list.children[at] !== child) list.insertBefore(child, list.children[at] ?? null)
  }
}
