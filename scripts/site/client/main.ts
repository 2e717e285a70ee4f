import './style.css'

/** One section of a page, as the search index has it. */
interface Entry {
  path: string
  title: string
  anchor: string
  heading: string
  text: string
}

const root = document.body.dataset.root ?? './'
const find = <E extends Element>(selector: string): E | null => document.querySelector<E>(selector)

// Colours: those of the system, until somebody chooses.
const themes = ['light dark', 'light', 'dark'] as const
const stored = localStorage.getItem('phi-docs-theme')
let theme = stored === 'light' ? 1 : stored === 'dark' ? 2 : 0
const paint = () => {
  document.documentElement.dataset.theme = theme === 0 ? 'auto' : themes[theme]
}
paint()
find('[data-theme-button]')?.addEventListener('click', () => {
  theme = (theme + 1) % themes.length
  localStorage.setItem('phi-docs-theme', themes[theme] ?? '')
  paint()
})

const menu = find<HTMLButtonElement>('[data-menu]')
menu?.addEventListener('click', () => {
  const isOpen = document.body.classList.toggle('menu-open')
  menu.setAttribute('aria-expanded', String(isOpen))
})
find('[aria-current="page"]')?.scrollIntoView({ block: 'center' })

for (const button of document.querySelectorAll<HTMLButtonElement>('[data-copy]')) {
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(button.parentElement?.querySelector('pre')?.textContent ?? '')
    button.textContent = 'Copied'
    setTimeout(() => {
      button.textContent = 'Copy'
    }, 1500)
  })
}

// Search: the index is a file of this site, loaded with the first search. Nothing is asked elsewhere.
const dialog = find<HTMLDialogElement>('[data-search]')
const query = find<HTMLInputElement>('[data-query]')
const results = find<HTMLOListElement>('[data-results]')
const status = find<HTMLParagraphElement>('[data-status]')
let index: Promise<Entry[]> | undefined

async function loadIndex(): Promise<Entry[]> {
  const answer = await fetch(`${root}search.json`)
  const entries: Entry[] = await answer.json()
  return entries
}

/** How well a section fits: every word must be in it; titles count most. */
function scoreOf({ title, heading, text }: Entry, words: readonly string[]): number {
  let score = 0
  for (const word of words) {
    const inHeading = heading.toLowerCase().indexOf(word)
    const inTitle = title.toLowerCase().indexOf(word)
    const inText = text.toLowerCase().indexOf(word)
    if (inHeading < 0 && inTitle < 0 && inText < 0) return 0
    score += (inHeading >= 0 ? 12 : 0) + (inTitle >= 0 ? 8 : 0) + (inText >= 0 ? 1 : 0)
    if (heading.toLowerCase() === word) score += 20
  }
  return score
}

function shown({ path, title, anchor, heading, text }: Entry, word: string): HTMLLIElement {
  const item = document.createElement('li')
  const link = document.createElement('a')
  link.href = `${root}${path}.html${anchor === '' ? '' : `#${anchor}`}`
  const name = document.createElement('strong')
  name.textContent = heading === title ? title : `${title} › ${heading}`
  const at = Math.max(0, text.toLowerCase().indexOf(word) - 40)
  const excerpt = document.createElement('span')
  excerpt.textContent = text.slice(at, at + 140)
  link.append(name, excerpt)
  item.append(link)
  return item
}

async function search(): Promise<void> {
  if (query === null || results === null || status === null) return
  const words = query.value.toLowerCase().split(/\s+/).filter(Boolean)
  index ??= loadIndex()
  const entries = await index.catch(() => undefined)
  if (entries === undefined) {
    index = undefined
    status.textContent = 'The index could not be loaded. Try again.'
    return
  }
  if (words.length === 0) {
    results.replaceChildren()
    status.textContent = 'Type a word.'
    return
  }
  const found = entries
    .map((entry) => ({ entry, score: scoreOf(entry, words) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
  results.replaceChildren(...found.slice(0, 20).map(({ entry }) => shown(entry, words[0] ?? '')))
  status.textContent = found.length === 0 ? `Nothing found for “${query.value}”.` : `${found.length} results.`
}

const openSearch = () => {
  dialog?.showModal()
  query?.focus()
  void search()
}
find('[data-find]')?.addEventListener('click', openSearch)
query?.addEventListener('input', () => void search())
query?.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter') return
  event.preventDefault()
  results?.querySelector('a')?.click()
})
results?.addEventListener('click', () => dialog?.close())
document.addEventListener('keydown', (event) => {
  const isTyping = event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement
  const isAsked = (event.key === '/' && !isTyping) || (event.key === 'k' && (event.metaKey || event.ctrlKey))
  if (!isAsked) return
  event.preventDefault()
  openSearch()
})
