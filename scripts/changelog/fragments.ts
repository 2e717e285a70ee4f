/** The headings of Keep a Changelog, in their order, by the kind that ends the name of a fragment. */
const headings = { added: 'Added', changed: 'Changed', fixed: 'Fixed', removed: 'Removed', security: 'Security' } as const

type Kind = keyof typeof headings

/** One change: the file `changes/<slug>.<kind>.md`. */
export interface Fragment {
  kind: Kind
  line: string
}

const isKind = (text: string): text is Kind => Object.hasOwn(headings, text)

const kindOf = (path: string): string => /\.([a-z]+)\.md$/.exec(path)?.[1] ?? ''

/** Returns why a fragment is refused, with what to write in its place; `undefined` if it is well formed. */
export function fragmentFault(path: string, text: string): string | undefined {
  if (!/^[a-z0-9-]+$/.test(path.replace(/^.*[\\/]/, '').replace(/\..*$/, '')))
    return `${path}: name it <slug>.<kind>.md, the slug in kebab-case.`
  if (!isKind(kindOf(path))) return `${path}: the kind before ".md" must be one of ${Object.keys(headings).join(', ')}.`
  const lines = text.trim().split('\n')
  return lines.length !== 1 || lines[0] === '' || /^[-*#]/.test(lines[0] ?? '')
    ? `${path}: write one line of plain text, without a bullet.`
    : undefined
}

/** Reads a fragment that has no fault. */
export function readFragment(path: string, text: string): Fragment {
  const kind = kindOf(path)
  if (!isKind(kind)) throw new Error(`${path} has no kind.`)
  return { kind, line: text.trim() }
}

/** Returns the changelog with the fragments under their headings, at the end of the section that is not released yet. */
export function withFragments(changelog: string, fragments: readonly Fragment[]): string {
  const start = changelog.search(/^## /m)
  if (start === -1) throw new Error('CHANGELOG.md has no section. Begin one with a heading "## x.y.z (unreleased)".')
  const next = changelog.slice(start + 3).search(/^## /m)
  const end = next === -1 ? changelog.length : start + 3 + next
  let section = changelog.slice(start, end).trimEnd()
  for (const kind of Object.keys(headings).filter(isKind)) {
    const lines = fragments.filter((fragment) => fragment.kind === kind).map(({ line }) => `- ${line}`)
    if (lines.length > 0) section = insert(section, headings[kind], lines)
  }
  return `${changelog.slice(0, start)}${section}\n${end < changelog.length ? `\n${changelog.slice(end)}` : ''}`
}

/** Puts lines at the end of the part with a heading, which is made if it is missing. */
function insert(section: string, heading: string, lines: readonly string[]): string {
  const at = section.search(new RegExp(`^### ${heading}$`, 'm'))
  if (at === -1) return `${section}\n\n### ${heading}\n\n${lines.join('\n')}`
  const next = section.slice(at + 4).search(/^### /m)
  const end = next === -1 ? section.length : at + 4 + next
  const rest = section.slice(end)
  return `${section.slice(0, end).trimEnd()}\n${lines.join('\n')}${rest === '' ? '' : `\n\n${rest}`}`
}
