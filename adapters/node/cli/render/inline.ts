import { joined, type Painted, type Painter, type Style } from '../terminal/paint.ts'

/** Inline spans, matched from left to right within one line. An unclosed mark is text. */
const spans: readonly { mark: string; style: Style }[] = [
  { mark: '**', style: 'bold' },
  { mark: '__', style: 'bold' },
  { mark: '~~', style: 'strikethrough' },
  { mark: '*', style: 'italic' },
  { mark: '_', style: 'italic' },
]

/** Formats code, emphasis and links in a line of markdown. Without colors, keeps the marks. */
export function paintInline(text: string, { paint, plain, hasColours }: Painter, style?: Style): Painted {
  const base = (words: string): Painted => (style === undefined ? plain(words) : paint(style, words))
  if (!hasColours) return base(text)
  const parts: Painted[] = []
  let from = 0
  // If a closing mark was not found once, it does not occur later either, so each mark costs one scan of the line.
  const missing = new Set<string>()
  const close = (mark: string, at: number): number => {
    if (missing.has(mark)) return -1
    const found = text.indexOf(mark, at)
    if (found === -1) missing.add(mark)
    return found
  }
  const add = (until: number, painted: Painted, next: number): void => {
    if (until > from) parts.push(base(text.slice(from, until)))
    parts.push(painted)
    from = next
  }
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? ''
    if (character === '`') {
      const end = close('`', at + 1)
      if (end <= at + 1) continue
      add(at, paint('cyan', text.slice(at + 1, end)), end + 1)
    } else if (character === '[') {
      const link = linkAt(text, at, close)
      if (link === undefined) continue
      add(at, joined(paint('underline', link.label), paint('dim', ` (${link.target})`)), link.end)
    } else {
      const span = spans.find(({ mark }) => text.startsWith(mark, at))
      if (span === undefined) continue
      const end = endOf(text, at, span.mark, close)
      if (end === undefined) {
        at += span.mark.length - 1
        continue
      }
      add(
        at,
        paint(style === undefined ? span.style : [style, span.style].flat(), text.slice(at + span.mark.length, end)),
        end + span.mark.length,
      )
    }
    at = from - 1
  }
  if (from < text.length) parts.push(base(text.slice(from)))
  return joined(...parts)
}

type Find = (mark: string, at: number) => number

/** Returns the end of emphasis that starts at `at`, or `undefined` if it is not emphasis, as in `2 * 3` or `snake_case`. */
function endOf(text: string, at: number, mark: string, find: Find): number | undefined {
  const begin = at + mark.length
  if (/\s|^$/.test(text[begin] ?? '')) return undefined
  const isWord = (character: string | undefined): boolean => character !== undefined && /[\p{L}\p{N}]/u.test(character)
  if (mark.startsWith('_') && isWord(text[at - 1])) return undefined
  const end = find(mark, begin)
  if (end <= begin || /\s/.test(text[end - 1] ?? '')) return undefined
  return mark.startsWith('_') && isWord(text[end + mark.length]) ? undefined : end
}

function linkAt(text: string, at: number, find: Find): { label: string; target: string; end: number } | undefined {
  const middle = find('](', at + 1)
  if (middle <= at + 1) return undefined
  const label = text.slice(at + 1, middle)
  const end = find(')', middle + 2)
  if (end === -1 || label.includes('[')) return undefined
  return { label, target: text.slice(middle + 2, end), end: end + 1 }
}
