/** What must come next in a text of JSON. */
type Next = 'value' | 'first value' | 'key' | 'first key' | 'colon' | 'more' | 'end'

/** What JSON is made of, behind the white space before it. One way to match each character: a text may be as long as a file. */
const piece =
  /[ \t\n\r]*(?:("(?:[^"\\\p{Cc}]|[\x7f-\x9f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|true\b|false\b|null\b)|[{}[\],:])/uy

const words: Record<Next, string> = {
  value: 'a value',
  'first value': 'a value or "]"',
  key: 'a key in double quotes',
  'first key': 'a key in double quotes or "}"',
  colon: '":"',
  more: '"," or the end of what was opened',
  end: 'nothing more',
}

/**
 * Where a text stops being JSON, and what must stand there; undefined for JSON. Engines say neither alike nor always, and quote the text, which
 * may hold a key.
 */
export function syntaxFault(text: string): { offset: number; expected: string } | undefined {
  const open: ('{' | '[')[] = []
  let next: Next = 'value'
  let at = 0
  while (next !== 'end') {
    piece.lastIndex = at
    const [whole, scalar] = piece.exec(text) ?? []
    const follows: Next | undefined = whole === undefined ? undefined : after(next, scalar ?? whole.trimStart(), open)
    if (follows === undefined) return faultAt(text, beginning(text, at), next)
    next = follows
    at += whole?.length ?? 0
  }
  const rest = beginning(text, at)
  return rest === text.length ? undefined : { offset: rest, expected: words.end }
}

function faultAt(text: string, offset: number, next: Next): { offset: number; expected: string } {
  const isText = text[offset] === '"' && next !== 'colon' && next !== 'more'
  return { offset, expected: isText ? 'a text that ends in its line, with "\\" before quotes in it' : words[next] }
}

/** What must follow `found`, which stands where `next` must; undefined where it must not. Opens and closes what it does. */
function after(next: Next, found: string, open: ('{' | '[')[]): Next | undefined {
  if (next === 'colon') return found === ':' ? 'value' : undefined
  if (next === 'key' || (next === 'first key' && found !== '}')) return found.startsWith('"') ? 'colon' : undefined
  if (found === '{' || found === '[') {
    if (next !== 'value' && next !== 'first value') return undefined
    open.push(found)
    return found === '{' ? 'first key' : 'first value'
  }
  if (found === '}' || found === ']') {
    if (next === 'value' || open.pop() !== (found === '}' ? '{' : '[')) return undefined
    return open.length === 0 ? 'end' : 'more'
  }
  if (next !== 'more') return /^[,:]/.test(found) ? undefined : open.length === 0 ? 'end' : 'more'
  if (found !== ',') return undefined
  return open.at(-1) === '{' ? 'key' : 'value'
}

/** Where the white space at `at` ends. */
function beginning(text: string, at: number): number {
  return at + (/^[ \t\n\r]*/.exec(text.slice(at))?.[0].length ?? 0)
}
