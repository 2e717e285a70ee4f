/** One step of a locator: from the elements so far to others. The first begins at the document. */
export type Step =
  | { by: 'css'; selector: string }
  | { by: 'role'; role: string; name?: Pattern }
  | { by: 'text'; text: Pattern }
  | { by: 'hasText'; text: Pattern }
  | { by: 'nth'; index: number }

/** A text to look for: a part of it in any case, all of it, or a regular expression. */
export type Pattern = { text: string; exact: boolean } | { source: string; flags: string }

export function patternOf(text: string | RegExp, exact = false): Pattern {
  return typeof text === 'string' ? { text, exact } : { source: text.source, flags: text.flags }
}

/** What a test asks of the elements it has found. */
export interface Seen {
  /** Of each, as it is written. */
  texts: string[]
  /** Of each, as it is shown. */
  innerTexts: string[]
  isVisible: boolean
  isEnabled: boolean
  isFocused: boolean
  value: string
  attributes: Record<string, string>
  /** The middle of the element in the window, when a click there meets it. */
  target: { x: number; y: number } | undefined
}

/** Whether the click that was aimed at an element came to something else; what comes now is aimed at nothing. Runs in the page. */
export function hasMissed(): boolean {
  const aim: { abort(): void; hasMissed?: boolean } | undefined = Reflect.get(globalThis, '__aim')
  Reflect.deleteProperty(globalThis, '__aim')
  aim?.abort()
  return aim?.hasMissed === true
}

/** Finds elements in the page and says what is to be seen of them. Runs there: it uses nothing from outside itself. */
export function look(steps: readonly Step[], action: 'see' | 'focus' | 'select' | 'scroll' | 'aim'): Seen {
  const selectors: Record<string, string> = {
    alert: '[role=alert]',
    article: 'article,[role=article]',
    button: 'button,[role=button]',
    combobox: '[role=combobox],input[list]',
    complementary: 'aside,[role=complementary]',
    dialog: 'dialog,[role=dialog]',
    group: 'fieldset,[role=group]',
    list: 'ul,ol,[role=list]',
    listbox: '[role=listbox]',
    log: '[role=log]',
    navigation: 'nav,[role=navigation]',
    region: 'section[aria-label],[role=region]',
    searchbox: 'input[type=search]',
    slider: 'input[type=range],[role=slider]',
    tab: '[role=tab]',
    textbox: 'textarea,input:not([type],[list]),input[type=text]:not([list]),input[type=url],[role=textbox]',
  }
  const tidy = (text: string | null | undefined): string => (text ?? '').replace(/\s+/g, ' ').trim()
  const isShown = (element: Element): boolean => element.checkVisibility({ visibilityProperty: true })

  function matches(text: string, pattern: Pattern): boolean {
    if ('source' in pattern) return new RegExp(pattern.source, pattern.flags).test(text)
    return pattern.exact ? text === tidy(pattern.text) : text.toLowerCase().includes(tidy(pattern.text).toLowerCase())
  }

  /** What it says to who cannot see it. */
  function spoken(node: Node): string {
    if (node instanceof Element && node.getAttribute('aria-hidden') === 'true') return ''
    return node instanceof Element ? [...node.childNodes].map(spoken).join('') : (node.textContent ?? '')
  }

  function nameOf(element: Element): string {
    const by = element.getAttribute('aria-labelledby')
    if (by !== null) return tidy(document.getElementById(by)?.textContent)
    const label = element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement ? element.labels?.[0] : undefined
    return tidy(element.getAttribute('aria-label') ?? label?.textContent ?? spoken(element))
  }

  /** Also what stands in open shadow trees, as Playwright has it. */
  function within(root: ParentNode, selector: string): Element[] {
    const shadows = [...root.querySelectorAll('*')].flatMap(({ shadowRoot }) => shadowRoot ?? [])
    return [...root.querySelectorAll(selector), ...shadows.flatMap((shadow) => within(shadow, selector))]
  }

  function below(roots: readonly ParentNode[], selector: string): Element[] {
    return [...new Set(roots.flatMap((root) => within(root, selector)))]
  }

  function take(found: readonly ParentNode[], step: Step): ParentNode[] {
    if (step.by === 'css') return below(found, step.selector)
    if (step.by === 'nth') return found.slice(step.index, step.index + 1 || undefined)
    if (step.by === 'hasText') return found.filter((each) => matches(tidy(each.textContent), step.text))
    if (step.by === 'text') {
      const all = below(found, '*').filter((each) => each.closest('head') === null && matches(tidy(each.textContent), step.text))
      return all.filter((each) => !all.some((other) => other !== each && each.contains(other)))
    }
    const selector = selectors[step.role]
    if (selector === undefined) throw new Error(`The role ${step.role} has no selector in e2e/webdriver/query.ts: add it there.`)
    const { name } = step
    return below(found, selector).filter((each) => isShown(each) && (name === undefined || matches(nameOf(each), name)))
  }

  let nodes: ParentNode[] = [document]
  for (const step of steps) nodes = take(nodes, step)
  const elements = nodes.filter((node) => node instanceof HTMLElement)
  const [element] = elements
  if (action === 'focus' || action === 'select') element?.focus()
  if (action === 'select' && (element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement)) element.select()

  function middleOf(one: Element): Seen['target'] {
    const { x, y, width, height } = one.getBoundingClientRect()
    const middle = { x: x + width / 2, y: y + height / 2 }
    const root = one.getRootNode()
    const tree = root instanceof ShadowRoot ? root : document
    return one.contains(tree.elementFromPoint(middle.x, middle.y)) ? middle : undefined
  }

  /** In the tree of an element, whether or not its window has the keyboard. */
  function activeIn(root: Node): Element | null {
    return root instanceof Document || root instanceof ShadowRoot ? root.activeElement : null
  }

  // A click that comes to something else, because the element has just moved away, is taken out of the page.
  if (action === 'aim' && element !== undefined) {
    const aim = new AbortController()
    const took = (event: Event): void => {
      if (event.composedPath().includes(element)) return
      event.preventDefault()
      event.stopImmediatePropagation()
      Object.assign(aim, { hasMissed: true })
    }
    // Once: a label hands its click on to what it names.
    addEventListener('click', took, { capture: true, once: true, signal: aim.signal })
    Object.assign(globalThis, { __aim: aim })
  }
  // Not where it is in sight: where the middle is half a pixel away, Firefox goes to one side of it and the other in turn.
  if (action === 'scroll' && element !== undefined && middleOf(element) === undefined) element.scrollIntoView({ block: 'center' })
  const box = element?.getBoundingClientRect()
  return {
    texts: elements.map((each) => each.textContent),
    innerTexts: elements.map((each) => each.innerText),
    isVisible: element !== undefined && isShown(element) && box !== undefined && box.width > 0 && box.height > 0,
    isEnabled: element !== undefined && !element.matches(':disabled'),
    isFocused: element !== undefined && activeIn(element.getRootNode()) === element,
    value: element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement ? element.value : '',
    attributes: Object.fromEntries([...(element?.attributes ?? [])].map(({ name, value }) => [name, value])),
    target: element && middleOf(element),
  }
}
