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
