/** Matches one escape of a pattern. */
export const escaped: RegExp =
  /\\(?:u\{[0-9a-f]+\}|u[d][89ab][0-9a-f]{2}\\u[d][c-f][0-9a-f]{2}|u[0-9a-f]{4}|x[0-9a-f]{2}|c[a-z]|p\{[^}]*\}|[\s\S])/giu

const maxLength = 5000
const maxSteps = 2000

/**
 * Returns why `source` is not allowed as a pattern, or `undefined`. Patterns are ECMA-262 with the flag `u` that `linearPattern` matches in
 * linear time: without lookaround, backreferences and large counts.
 */
export function patternFault(source: string): string | undefined {
  const bare = bareOf(source)
  if (!isPattern(source)) return 'it is not a valid pattern'
  if (isPlain(source)) return undefined
  if (source.length > maxLength) return `it is longer than ${maxLength} characters`
  if (/\(\?(?!:|<[^=!])/.test(bare)) return 'lookaround and inline flags cannot be matched in bounded time'
  if (/\\[1-9k]/.test(source.replaceAll('\\\\', ''))) return 'backreferences cannot be matched in bounded time'
  return sizeOf(bare) > maxSteps ? `it needs over ${maxSteps} steps: use smaller counts` : undefined
}

/**
 * Returns whether backtracking is linear: no groups, and at most one quantifier of variable length, at a fixed position with little after
 * it, or short alternatives. Two of either multiply the choices.
 */
export function isPlain(source: string): boolean {
  const bare = bareOf(source)
  if (source.length > 100 || /[()]/.test(bare) || /\\[1-9k]/.test(source)) return false
  const counts = bare.match(/[*+?{]/g)?.length ?? 0
  return counts === 0 || (counts === 1 && bare.startsWith('^') && !bare.includes('|'))
}

function isPattern(source: string): boolean {
  try {
    return new RegExp(source, 'u') instanceof RegExp
  } catch {
    return false
  }
}

/** Replaces each escape and class by one letter. */
function bareOf(source: string): string {
  return source.replaceAll(/\[(?:[^\]\\]|\\[\s\S])*\]/g, 'x').replaceAll(escaped, 'x')
}

/** Estimates the steps of a pattern with counts expanded, as a lower bound. */
function sizeOf(bare: string): number {
  const outer: number[] = []
  let sum = 0
  let last = 0
  for (const [token, least, most] of bare.matchAll(/\{(\d+),?(\d*)\}|[\s\S]/g)) {
    if (token === '(') {
      outer.push(sum)
      sum = 0
    } else if (token === ')') {
      last = sum + 1
      sum = (outer.pop() ?? 0) + last
    } else if (least !== undefined) sum += (last + 1) * Math.max(Number(least) + 1, Number(most))
    else if (token === '+') sum += last + 1
    else {
      sum += 1
      last = 1
    }
  }
  return sum
}
