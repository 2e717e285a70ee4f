/** Creates an element with a CSS `part` name and children. Strings become text, never HTML. */
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

/** Creates a button that calls `act` on click. */
export function button(part: string, label: string, act: () => unknown): HTMLButtonElement {
  const element = make('button', part, { type: 'button' }, label)
  element.addEventListener('click', act)
  return element
}

/** The distance in CSS pixels that a pointer may move between press and release. */
const slack = 24

/** Creates a button that also works if layout moves it during the press, when browsers fire no click. `act` may run twice. */
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
    // The listeners are global, because the release can happen outside the button.
    for (const type of ['pointerup', 'pointercancel'] as const) addEventListener(type, release, { capture: true, signal })
  })
  return element
}

/** Syncs the children of `list` with `ids`, in this order. Reuses elements that exist. */
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
