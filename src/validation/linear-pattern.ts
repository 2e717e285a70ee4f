import { ConfigError } from '../contract/errors.ts'
import { escaped, isPlain, patternFault } from './pattern-fault.ts'

/** Maximum steps of one validation: visited values and pattern steps. Far more than any tool call needs, and well under a second. */
export const maxCheckSteps = 5_000_000

/**
 * A regular expression of a schema, matched in linear time, because schemas may be hostile. The language's engine backtracks: `^(a+)+$` on
 * 33 characters blocks the thread for minutes. Like RE2, this one tracks all possible states, with the semantics of ECMA-262 and the flag
 * `u`. It is small and never loaded lazily, because patterns enforce security checks.
 *
 * Source: docs/concepts/tools.md
 */
export interface LinearPattern {
  /**
   * Returns whether the pattern occurs in `text`. Calls `spend` with the number of steps, at least once per character. An error thrown by
   * `spend` ends the search.
   */
  occursIn(text: string, spend: (steps: number) => void): boolean
}

type Assertion = '^' | '$' | '\\b' | '\\B'

type Part =
  | { type: 'one'; source: string }
  | { type: 'assertion'; assertion: Assertion }
  | { type: 'sequence' | 'choice'; parts: Part[] }
  | { type: 'repeat'; part: Part; least: number; most: number }

type Step =
  | { type: 'one'; takes: (character: string) => boolean }
  | { type: 'assertion'; assertion: Assertion }
  | { type: 'fork'; to: readonly [number, number] }
  | { type: 'end' }

/**
 * Compiles `source`, an ECMA-262 pattern with the flag `u`, as `enforceableSchema` returns it.
 *
 * **Contract**: throws `ConfigError` `unsupportedSchema` for invalid patterns, patterns over 5,000 characters, and those without a time
 * bound: lookaround, backreferences and large counts.
 *
 * Source: docs/concepts/tools.md
 */
export function linearPattern(source: string): LinearPattern {
  const fault = patternFault(source)
  if (fault !== undefined) throw new ConfigError('unsupportedSchema', `Unsupported pattern ${JSON.stringify(source)}: ${fault}.`)
  if (isPlain(source)) return plainPattern(new RegExp(source, 'u'))
  const program: Step[] = []
  write(new Reader(source).choice(), program)
  program.push({ type: 'end' })
  return { occursIn: (text, spend) => search(program, text, spend) }
}

function plainPattern(pattern: RegExp): LinearPattern {
  return {
    occursIn(text, spend) {
      spend(text.length)
      return pattern.test(text)
    },
  }
}

const quantifier = /(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/y
const characterClass = /\[(?:[^\]\\]|\\[\s\S])*\]/y
const oneEscape = new RegExp(escaped.source, 'iuy')
const group = /\((?:\?:|\?<[^=!>][^>]*>)?/y

/** Parses a pattern with valid syntax. */
class Reader {
  readonly #source: string
  #at = 0

  constructor(source: string) {
    this.#source = source
  }

  choice(): Part {
    const parts = [this.#sequence()]
    while (this.#source[this.#at] === '|') {
      this.#at += 1
      parts.push(this.#sequence())
    }
    return parts[1] === undefined && parts[0] !== undefined ? parts[0] : { type: 'choice', parts }
  }

  #sequence(): Part {
    const parts: Part[] = []
    while (this.#at < this.#source.length && this.#source[this.#at] !== '|' && this.#source[this.#at] !== ')') {
      parts.push(this.#quantified(this.#term()))
    }
    return { type: 'sequence', parts }
  }

  #term(): Part {
    const next = this.#source[this.#at]
    if (next === '^' || next === '$') {
      this.#at += 1
      return { type: 'assertion', assertion: next }
    }
    if (next === '(') return this.#group()
    if (next === '[') return { type: 'one', source: this.#take(characterClass)?.[0] ?? '' }
    if (next === '\\') return this.#escape()
    const character = String.fromCodePoint(this.#source.codePointAt(this.#at) ?? 0)
    this.#at += character.length
    return { type: 'one', source: character }
  }

  #group(): Part {
    this.#take(group)
    const inside = this.choice()
    this.#at += 1
    return inside
  }

  #escape(): Part {
    const source = this.#take(oneEscape)?.[0] ?? ''
    if (source === '\\b' || source === '\\B') return { type: 'assertion', assertion: source }
    return { type: 'one', source }
  }

  #quantified(part: Part): Part {
    const [whole, least, comma, most] = this.#take(quantifier) ?? []
    if (whole === undefined) return part
    if (least === undefined)
      return { type: 'repeat', part, least: whole.startsWith('+') ? 1 : 0, most: whole.startsWith('?') ? 1 : Number.POSITIVE_INFINITY }
    return {
      type: 'repeat',
      part,
      least: Number(least),
      most: comma === '' ? Number(least) : most === '' ? Number.POSITIVE_INFINITY : Number(most),
    }
  }

  #take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#source)
    this.#at += found?.[0].length ?? 0
    return found
  }
}

function write(part: Part, program: Step[]): void {
  switch (part.type) {
    case 'one':
      program.push({ type: 'one', takes: taker(part.source) })
      return
    case 'assertion':
      program.push(part)
      return
    case 'sequence':
      for (const each of part.parts) write(each, program)
      return
    case 'choice':
      writeChoice(part.parts, program)
      return
    case 'repeat':
      writeRepeat(part, program)
  }
}

function writeChoice(parts: readonly Part[], program: Step[]): void {
  const ends: number[] = []
  for (const [index, each] of parts.entries()) {
    const fork = program.length
    if (index < parts.length - 1) program.push({ type: 'end' })
    write(each, program)
    if (index === parts.length - 1) break
    ends.push(program.push({ type: 'end' }) - 1)
    program[fork] = { type: 'fork', to: [fork + 1, program.length] }
  }
  for (const end of ends) program[end] = { type: 'fork', to: [program.length, program.length] }
}

function writeRepeat({ part, least, most }: Extract<Part, { type: 'repeat' }>, program: Step[]): void {
  for (let count = 0; count < least; count += 1) write(part, program)
  if (most === Number.POSITIVE_INFINITY) {
    const fork = program.push({ type: 'end' }) - 1
    write(part, program)
    program.push({ type: 'fork', to: [fork, fork] })
    program[fork] = { type: 'fork', to: [fork + 1, program.length] }
    return
  }
  const forks: number[] = []
  for (let count = least; count < most; count += 1) {
    forks.push(program.push({ type: 'end' }) - 1)
    write(part, program)
  }
  for (const fork of forks) program[fork] = { type: 'fork', to: [fork + 1, program.length] }
}

/** Returns a predicate for one character of the pattern, evaluated by the language's engine. Cached for ASCII. */
function taker(source: string): (character: string) => boolean {
  const single = new RegExp(`^${source}$`, 'u')
  const known: (boolean | undefined)[] = []
  return (character) => {
    const code = character.charCodeAt(0)
    if (code > 127) return single.test(character)
    known[code] ??= single.test(character)
    return known[code]
  }
}

function search(program: readonly Step[], text: string, spend: (steps: number) => void): boolean {
  const entered = new Int32Array(program.length).fill(-1)
  let current: number[] = []
  let before = ''
  for (let at = 0; ; ) {
    const code = text.codePointAt(at)
    const character = code === undefined ? '' : String.fromCodePoint(code)
    // A match may start anywhere, so the start is a possible state at every position.
    const { states, hasEnded, steps } = follow(program, [...current, 0], entered, at, before, character)
    if (hasEnded) return true
    if (code === undefined) return false
    spend(steps)
    current = []
    for (const state of states) {
      const step = program[state]
      if (step?.type === 'one' && step.takes(character)) current.push(state + 1)
    }
    before = character
    at += character.length
  }
}

interface Followed {
  /** States that consume a character. */
  states: number[]
  hasEnded: boolean
  steps: number
}

/** Collects all states that are reachable from `from` without consuming a character. */
function follow(program: readonly Step[], from: number[], entered: Int32Array, at: number, before: string, after: string): Followed {
  const states: number[] = []
  let steps = 0
  for (let state = from.pop(); state !== undefined; state = from.pop()) {
    if (entered[state] === at) continue
    entered[state] = at
    steps += 1
    const step = program[state]
    if (step === undefined || step.type === 'end') return { states, hasEnded: true, steps }
    if (step.type === 'one') states.push(state)
    else if (step.type === 'fork') from.push(...step.to)
    else if (holds(step.assertion, before, after)) from.push(state + 1)
  }
  return { states, hasEnded: false, steps }
}

function holds(assertion: Assertion, before: string, after: string): boolean {
  if (assertion === '^') return before === ''
  if (assertion === '$') return after === ''
  return (/^\w/.test(before) !== /^\w/.test(after)) === (assertion === '\\b')
}
