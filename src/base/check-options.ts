/**
 * What option objects are checked with: a table says of each option what it must be, `checkOptions` names the one that is not.
 *
 * ```ts
 * const table: OptionTable<MyOptions> = { name: required(aText), timeoutMs: aPositiveNumber }
 * checkOptions(given, options(table))
 * ```
 *
 * @module
 */
import { ConfigError, type MisuseCode } from '../contract/errors.ts'
import { isPlain, jsonFault, maxJsonDepth } from './json/json-fault.ts'
import { nearest } from './text/nearest-name.ts'
import { shown } from './text/shown-value.ts'

/** What a value must be. */
export interface Kind {
  /** In words, after "it must be". */
  readonly expected: string
  /** Whether `value` looks like it from outside. */
  fits(value: unknown): boolean
  /** What is wrong inside of a value that fits, with its place. */
  inside?(value: unknown, name: string): string | undefined
  /** Names of the options within, to find the nearest one. */
  readonly names?: readonly string[]
  /** It may not be left out. */
  readonly isRequired?: boolean
}

/** One kind for every option of `Options`: the compiler refuses a table that lacks one, or has one too many. */
export type OptionTable<Options> = { readonly [Name in keyof Required<Options>]: Kind }

type Table = Readonly<Record<string, Kind>>

/** A kind that is all there is to see from outside. */
export function kind(expected: string, fits: (value: unknown) => boolean): Kind {
  return { expected, fits }
}

/** Any value at all. */
export const anything: Kind = kind('anything', () => true)
/** A string, which may be empty. */
export const aText: Kind = kind('a text', (value) => typeof value === 'string')
/** Nothing but true or false. */
export const aFlag: Kind = kind('true or false', (value) => typeof value === 'boolean')
/** A function of any kind. */
export const aFunction: Kind = kind('a function', (value) => typeof value === 'function')
/** An object that is no list. */
export const anObject: Kind = kind('an object', isObject)
/** An object or a function: schemas of some libraries are functions. */
export const aSchema: Kind = kind('a Standard Schema or a JSON Schema', (value) => isObject(value) || typeof value === 'function')
/** A number that is not NaN. */
export const aNumber: Kind = kind('a number', (value) => typeof value === 'number' && !Number.isNaN(value))
/** A number from 0, infinity included. */
export const aNumberFromZero: Kind = kind('a number from 0', (value) => typeof value === 'number' && value >= 0)
/** A number greater than 0, infinity included. */
export const aPositiveNumber: Kind = kind('a number greater than 0, or left out', (value) => typeof value === 'number' && value > 0)
/** An object whose values are texts, such as headers. */
export const texts: Kind = { ...recordOf(aText), expected: 'an object of texts' }
/** An `AbortSignal`; a controller is none. */
export const aSignal: Kind = kind(
  'an AbortSignal, such as controller.signal',
  (value) => isObject(value) && typeof value.aborted === 'boolean' && typeof value.addEventListener === 'function',
)
/** Plain JSON of at most 200 levels. */
export const json: Kind = { ...anything, expected: 'JSON', inside: (value, name) => withStop(jsonFault(value, name)) }

/** Plain JSON that holds such JSON in some of its places, as a message does. */
export const aDocument: Kind = { ...json, inside: (value, name) => withStop(jsonFault(value, name, maxJsonDepth + 20)) }

/** A whole number from `least`. */
export function wholeFrom(least: number): Kind {
  return kind(`a whole number from ${least}`, (value) => typeof value === 'number' && Number.isInteger(value) && value >= least)
}

/** One of these texts. */
export function oneOf(...words: readonly string[]): Kind {
  return kind(words.map((word) => JSON.stringify(word)).join(' or '), (value) => typeof value === 'string' && words.includes(value))
}

/** An object with these methods. */
export function withMethods(expected: string, ...methods: readonly string[]): Kind {
  const isTarget = (value: unknown): value is object => (typeof value === 'object' && value !== null) || typeof value === 'function'
  return kind(
    `${expected}, with ${methods.join(' and ')}()`,
    (value) => isTarget(value) && methods.every((name) => typeof Reflect.get(value, name) === 'function'),
  )
}

/** A list, all of whose entries are of kind `item`. */
export function listOf(item: Kind): Kind {
  return {
    ...kind('a list', Array.isArray),
    inside: (value, name) => Array.from(value as unknown[], (entry, at) => misfit(item, entry, `${name}[${at}]`)).find(Boolean),
  }
}

/** An object whose values, under any name, are of kind `item`. */
export function recordOf(item: Kind): Kind {
  return {
    ...kind('an object', isObject),
    inside: (value, name) =>
      Object.entries(value as object)
        .map(([key, entry]) => misfit(item, entry, `${name}.${key}`))
        .find(Boolean),
  }
}

/** One of several kinds; where none fits inside, the last that fits from outside says why. */
export function either(...kinds: readonly Kind[]): Kind {
  return {
    expected: kinds.map(({ expected }) => expected).join(', or '),
    fits: (value) => kinds.some((each) => each.fits(value)),
    inside: (value, name) => {
      let wrong: string | undefined
      for (const each of kinds) {
        if (!each.fits(value)) continue
        wrong = each.inside?.(value, name)
        if (wrong === undefined) return undefined
      }
      return wrong
    },
    names: kinds.flatMap(({ names = [] }) => names),
  }
}

/** `kind`, which may not be left out. */
export function required(kind: Kind): Kind {
  return { ...kind, isRequired: true }
}

/** An object with these options. Others are refused, unless it `isOpen`. */
export function options<Options>(table: OptionTable<Options>, isOpen = false): Kind {
  const kinds: Table = table
  const entries = Object.entries(kinds)
  return {
    ...kind('an object', isObject),
    inside: (value, name) => misfitAmong(kinds, value as object, name, isOpen, entries),
    names: entries.flatMap(([key, { names = [] }]) => [key, ...names.map((inner) => `${key}.${inner}`)]),
  }
}

/** An object whose text `tag` picks the options that it may have beside it. */
export function tagged(tag: string, variants: Readonly<Record<string, Table>>, isOpen = false): Kind {
  const picks = required(oneOf(...Object.keys(variants)))
  return {
    ...kind(`an object with ${tag} ${picks.expected}`, isObject),
    inside: (value, name) => {
      const picked: unknown = Reflect.get(value as object, tag)
      const wrong = misfit(picks, picked, within(name, tag))
      return wrong ?? misfitAmong({ ...variants[String(picked)], [tag]: picks }, value as object, name, isOpen)
    },
  }
}

/**
 * Throws `ConfigError` (`invalidOption`, or `code`) where `value` is not of `kind`. It names the option within `name`, what it is, what it must
 * be, and for an unknown one the nearest there is. What may be a secret is not shown.
 */
export function checkOptions(value: unknown, kind: Kind, name = '', code: MisuseCode = 'invalidOption'): void {
  const wrong = misfit(kind, value, name)
  if (wrong !== undefined) throw new ConfigError(code, wrong)
}

function misfit(kind: Kind, value: unknown, name: string): string | undefined {
  if (!kind.fits(value)) return `${name || 'options'} is ${shown(value, name)}; it must be ${kind.expected}.`
  return kind.inside?.(value, name)
}

function misfitAmong(kinds: Table, value: object, name: string, isOpen: boolean, entries = Object.entries(kinds)): string | undefined {
  for (const [key, option] of entries) {
    const given: unknown = Reflect.get(value, key)
    const wrong = given === undefined && option.isRequired !== true ? undefined : misfit(option, given, within(name, key))
    if (wrong !== undefined) return wrong
  }
  // An object of a class has fields of its own.
  if (isOpen || !isPlain(value)) return undefined
  const unknown = Object.keys(value).find((key) => !Object.hasOwn(kinds, key))
  if (unknown === undefined) return undefined
  const { names = [] } = options(kinds)
  const place = name === '' ? '' : ` of ${name}`
  return `${unknown} (${shown(Reflect.get(value, unknown), unknown)}) is no option${place}. ${nearest(unknown, names)}`
}

function within(name: string, key: string): string {
  return name === '' ? key : `${name}.${key}`
}

function withStop(sentence: string | undefined): string | undefined {
  return sentence && `${sentence}.`
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
