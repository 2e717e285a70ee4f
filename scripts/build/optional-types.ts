/**
 * Optional properties of the published declarations, for programs with `exactOptionalPropertyTypes`: each takes `undefined` as well. The sources
 * do without, so that the compiler finds a default that `undefined` would overwrite.
 */

/** A change of a text: `text` goes in at `at`, in place of the `instead` characters that stand there. */
interface Insertion {
  at: number
  text: string
  instead?: number
}

/** What stands between brackets, and what is no code. */
const opening = '{([<'
const closing = '})]>'

/** The beginning of an optional property: a name, a quoted name or the key of a mapped type, then `?:`, or `?(` of a method. */
const optional = /(?<name>[\w$]+|"[^"\n]*"|'[^'\n]*'|\[\w+ in [^;\n]*\])\?(?<kind>: |[(<])/g

/** `code`, the text of a `.d.ts`, in which every optional property takes `undefined`, and every `Partial` too. */
export function withUndefined(code: string): string {
  const insertions: Insertion[] = []
  const clean = withoutComments(code)
  for (const { index, groups } of clean.matchAll(optional)) {
    const { name = '', kind = '' } = groups ?? {}
    const start = index + name.length + 1
    if (kind === ': ') insertions.push(...onProperty(clean, start + kind.length))
    else insertions.push(...onMethod(clean, start))
  }
  const partials = [...clean.matchAll(/(?<![\w.$])Partial</g)]
  for (const { index } of partials) insertions.push({ at: index + 'Partial'.length, text: 'OrUndefined' })
  const declared = `type PartialOrUndefined<T> = {\n    [K in keyof T]?: T[K] | undefined;\n};\n${/^export \{\};$/m.test(code) ? '' : 'export {};\n'}`
  const written = inserted(code, insertions)
  const map = written.lastIndexOf('//# sourceMappingURL=')
  const end = map < 0 ? written.length : map
  return partials.length === 0 ? written : `${written.slice(0, end)}${declared}${written.slice(end)}`
}

/** `| undefined` behind a type; nothing where it is that of a parameter, which takes `undefined` anyway, or one to be inferred. */
function onProperty(clean: string, start: number): Insertion[] {
  const end = endOf(clean, start)
  const type = clean.slice(start, end)
  if (!';}'.includes(clean[end] ?? '') || /^(?:infer\b|unknown$|any$)/.test(type) || (/ \| undefined$/.test(type) && !type.includes('=>')))
    return []
  const needsBrackets = /=>| extends |^(?:abstract )?new\b|^(?:keyof|typeof|readonly)\b/.test(type)
  if (!needsBrackets) return [{ at: end, text: ' | undefined' }]
  return [
    { at: start, text: '(' },
    { at: end, text: ') | undefined' },
  ]
}

/** A method as a property that is a function: a method cannot say that it may be `undefined`. */
function onMethod(clean: string, start: number): Insertion[] {
  const end = endOf(clean, start)
  const list = clean.indexOf('(', clean[start] === '<' ? closeOf(clean, start) : start)
  const close = closeOf(clean, list)
  return [
    { at: start, text: ': (' },
    { at: close + 1, text: ' =>', instead: ':'.length },
    { at: end, text: ') | undefined' },
  ]
}

/** Where the type, or the rest of a list, that begins at `start` ends: at the mark behind it, outside of brackets. */
function endOf(clean: string, start: number, isList = false): number {
  let depth = 0
  for (let at = start; at < clean.length; at += 1) {
    const character = clean[at] ?? ''
    if (clean.startsWith('=>', at)) at += 1
    else if (depth === 0 && ((!isList && ';,'.includes(character)) || closing.includes(character))) return at
    else if (opening.includes(character)) depth += 1
    else if (closing.includes(character)) depth -= 1
  }
  throw new Error(`A declaration has no end: ${clean.slice(start, start + 80)}`)
}

/** Where the bracket at `start` is closed. */
function closeOf(clean: string, start: number): number {
  return endOf(clean, start + 1, true)
}

/** `code` with spaces for comments and for what is in strings, so that all else stands where it stood. */
function withoutComments(code: string): string {
  const blank = (text: string): string => text.replace(/[^\n]/g, ' ')
  return code.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*|"[^"\n]*"|'[^'\n]*'|`[^`]*`/g, (part) =>
    /^\//.test(part) ? blank(part) : `${part[0]}${blank(part.slice(1, -1))}${part.at(-1)}`,
  )
}

function inserted(code: string, insertions: readonly Insertion[]): string {
  let written = ''
  let done = 0
  for (const { at, text, instead = 0 } of insertions.toSorted((a, b) => a.at - b.at)) {
    written += code.slice(done, at) + text
    done = at + instead
  }
  return written + code.slice(done)
}
