import { ToolError } from '../../contract/errors.ts'
import { nameOfPath } from '../../workspace/workspace-rules.ts'

/** A token that matches exactly one character. */
type Single = { type: 'literal'; char: string } | { type: 'any' } | CharacterClass

/**
 * A token of a pattern. `star` matches within a segment, `deep` (`**`) across segments, and `directories` (`**` and a slash) whole
 * segments.
 */
type Token = Single | { type: 'star' } | { type: 'deep' } | { type: 'directories' }

interface CharacterClass {
  type: 'class'
  negated: boolean
  ranges: [low: string, high: string][]
}

const maxAlternatives = 64
const maxPattern = 1000
// Common systems limit paths to 4,096 characters, so matching parts × characters takes a few milliseconds.
const maxParts = 1500

/**
 * Compiles a glob: `*`, `?`, `[a-z]`, `[!a]`, `{ts,tsx}`, and `**` for any number of directories.
 *
 * **Contract**
 * - Matches a pattern without `/` against the file name, and a pattern with `/` against the whole relative path.
 * - Matches in time proportional to pattern length × path length. Matches hidden files like other files.
 * - Throws `ToolError` `invalidArguments` for a pattern over 1,000 characters, with more than 64 brace alternatives, or with more than 1,500
 *   parts (characters, classes, stars) in all alternatives together.
 */
export function compileGlob(pattern: string): (path: string) => boolean {
  if (pattern.length > maxPattern)
    throw new ToolError('invalidArguments', `The pattern is longer than ${maxPattern} characters. Shorten it.`)
  const parts = expandBraces(pattern.replace(/^(?:\.?\/)+/, '')).map(tokenize)
  if (parts.reduce((sum, tokens) => sum + tokens.length, 0) > maxParts) {
    throw new ToolError(
      'invalidArguments',
      `The pattern has more than ${maxParts} parts, counting all alternatives in braces. Use a simpler pattern.`,
    )
  }
  const programs = parts.map(matcherOf)
  const wholePath = pattern.includes('/')
  return (path) => {
    const subject = [...(wholePath ? path : nameOfPath(path))]
    return programs.some((program) => program(subject))
  }
}

/** Expands brace groups, innermost first. A group without a comma is literal. */
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
      throw new ToolError('invalidArguments', `The pattern has more than ${maxAlternatives} alternatives in braces. Use a simpler pattern.`)
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
  // A `]` directly after the opening bracket is a literal member.
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

/** Returns a matcher for one pattern without braces. The matcher tracks all pattern positions in parallel, so it never backtracks. */
function matcherOf(tokens: readonly Token[]): (subject: readonly string[]) => boolean {
  let current = new Uint8Array(tokens.length + 1)
  let next = new Uint8Array(tokens.length + 1)
  return (subject) => {
    current.fill(0)
    current[0] = 1
    let atSegmentStart = true
    for (const char of subject) {
      next.fill(0)
      if (!advance(tokens, current, next, char, atSegmentStart)) return false
      ;[current, next] = [next, current]
      atSegmentStart = char === '/'
    }
    advance(tokens, current, next, '', atSegmentStart)
    return current[tokens.length] === 1
  }
}

/**
 * Adds to `current` the positions after stars that match nothing, and sets in `next` the positions after `char`. Returns false if no
 * positions remain. Uses an index because this is the inner loop.
 */
function advance(tokens: readonly Token[], current: Uint8Array, next: Uint8Array, char: string, atSegmentStart: boolean): boolean {
  let isAlive = false
  for (let state = 0; state < tokens.length; state++) {
    const token = tokens[state]
    if (current[state] === 0 || token === undefined) continue
    const { type } = token
    const stays = type === 'deep' || type === 'directories' || (type === 'star' && char !== '/')
    // `directories` ends only where a segment starts.
    if (type === 'star' || type === 'deep' || (type === 'directories' && atSegmentStart)) current[state + 1] = 1
    if (stays) next[state] = 1
    else if (type !== 'star' && accepts(token, char)) next[state + 1] = 1
    else continue
    isAlive = true
  }
  return isAlive
}

function accepts(token: Single, char: string): boolean {
  if (token.type === 'literal') return token.char === char
  if (char === '/') return false
  return token.type === 'any' || token.ranges.some(([low, high]) => low <= char && char <= high) !== token.negated
}
