import { ToolError } from '../types/errors.ts'

/** A step that takes exactly one character. */
type Single = { type: 'literal'; char: string } | { type: 'any' } | CharacterClass

/** A step of a pattern. `star` stays within a segment, `deep` (`**`) crosses them, `directories` (`**` and a slash) takes whole ones. */
type Token = Single | { type: 'star' } | { type: 'deep' } | { type: 'directories' }

interface CharacterClass {
  type: 'class'
  negated: boolean
  ranges: [low: string, high: string][]
}

const maxAlternatives = 64
const maxLength = 1000

/**
 * Compiles a glob: `*`, `?`, `[a-z]`, `[!a]`, `{ts,tsx}`, and `**` for any number of directories.
 *
 * **Contract**
 * - A pattern without `/` is matched against the file name, one with `/` against the whole relative path.
 * - Matching takes time proportional to pattern × path, for any pattern; hidden files match like others.
 * - Throws `ToolError` `invalidArguments` for a pattern over 1,000 characters or with more than 64 brace alternatives.
 */
export function compileGlob(pattern: string): (path: string) => boolean {
  if (pattern.length > maxLength) throw new ToolError('invalidArguments', `The pattern is longer than ${maxLength} characters. Shorten it.`)
  const programs = expandBraces(pattern.replace(/^(?:\.?\/)+/, '')).map(tokenize)
  const wholePath = pattern.includes('/')
  return (path) => {
    const subject = [...(wholePath ? path : path.slice(path.lastIndexOf('/') + 1))]
    return programs.some((program) => matches(program, subject))
  }
}

/** Innermost groups first; a group without a comma is literal. */
function expandBraces(pattern: string): string[] {
  let open: string[] = [pattern]
  for (;;) {
    const next = open.flatMap((text) => {
      const group = /\{([^{}]*,[^{}]*)\}/.exec(text)
      if (group === null) return [text]
      const [whole, body = ''] = group
      return body.split(',').map((choice) => text.slice(0, group.index) + choice + text.slice(group.index + whole.length))
    })
    if (next.length > maxAlternatives) {
      throw new ToolError('invalidArguments', `The pattern has more than ${maxAlternatives} alternatives in braces. Use a simpler one.`)
    }
    if (next.length === open.length) return open
    open = next
  }
}

function tokenize(pattern: string): Token[] {
  const chars = [...pattern]
  const tokens: Token[] = []
  let index = 0
  while (index < chars.length) {
    const char = chars[index] ?? ''
    if (char === '*') {
      const end = endOfStars(chars, index)
      const takesSlash = end - index > 1 && chars[end] === '/'
      tokens.push({ type: takesSlash ? 'directories' : end - index > 1 ? 'deep' : 'star' })
      index = takesSlash ? end + 1 : end
      continue
    }
    const group = char === '[' ? readClass(chars, index) : undefined
    if (group !== undefined) tokens.push(group.token)
    else tokens.push(char === '?' ? { type: 'any' } : { type: 'literal', char })
    index = group?.end ?? index + 1
  }
  return tokens
}

function endOfStars(chars: readonly string[], start: number): number {
  let end = start
  while (chars[end] === '*') end += 1
  return end
}

function readClass(chars: readonly string[], start: number): { token: CharacterClass; end: number } | undefined {
  const negated = chars[start + 1] === '!' || chars[start + 1] === '^'
  const first = start + (negated ? 2 : 1)
  // A `]` right at the start is a member.
  const close = chars.indexOf(']', first + 1)
  if (close === -1) return undefined
  const ranges: CharacterClass['ranges'] = []
  for (let index = first; index < close; index++) {
    const low = chars[index] ?? ''
    const isRange = chars[index + 1] === '-' && index + 2 < close
    ranges.push([low, isRange ? (chars[index + 2] ?? '') : low])
    if (isRange) index += 2
  }
  return { token: { type: 'class', negated, ranges }, end: close + 1 }
}

/** All positions in the pattern at once, one character at a time: no backtracking. */
function matches(tokens: readonly Token[], subject: readonly string[]): boolean {
  let states = withSkips(tokens, new Set([0]), true)
  for (const char of subject) {
    const next = new Set<number>()
    for (const state of states) step(tokens[state], state, char, next)
    if (next.size === 0) return false
    states = withSkips(tokens, next, char === '/')
  }
  return states.has(tokens.length)
}

function step(token: Token | undefined, state: number, char: string, next: Set<number>): void {
  if (token === undefined) return
  if (token.type === 'deep' || token.type === 'directories') next.add(state)
  else if (token.type !== 'star') {
    if (accepts(token, char)) next.add(state + 1)
  } else if (char !== '/') next.add(state)
}

function accepts(token: Single, char: string): boolean {
  if (token.type === 'literal') return token.char === char
  if (char === '/') return false
  return token.type === 'any' || token.ranges.some(([low, high]) => low <= char && char <= high) !== token.negated
}

/** Stars may match nothing; whole directories end where a segment begins. */
function withSkips(tokens: readonly Token[], states: Set<number>, atSegmentStart: boolean): Set<number> {
  // A Set is iterated in order of insertion, additions included.
  for (const state of states) {
    const type = tokens[state]?.type
    if (type === 'star' || type === 'deep' || (type === 'directories' && atSegmentStart)) states.add(state + 1)
  }
  return states
}
