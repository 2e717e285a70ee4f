import * as z from 'zod'
import { ConfigError } from '../../contract/errors.ts'

// An optional peer of any version installs; this one is needed.
if (typeof z.toJSONSchema !== 'function') {
  throw new ConfigError('unsupported', 'phi-core/config needs zod 4.2 or newer, and another version is installed. Run: npm install zod@4')
}

/** What a section says under one name: from this come the check, the warnings, the JSON Schema and the table in the documentation. */
export interface Key {
  /** What may stand there. */
  readonly schema: z.ZodType
  /** The same in words, after "expected". */
  readonly expected: string
  /** What it is for: a sentence or two. */
  readonly about: string
  /** Other names of it. */
  readonly aliases: readonly string[]
  /** In words; absent where it must be given, or where nothing happens without it. */
  readonly fallback?: string
  /** Without it, the section says nothing. */
  readonly isRequired: boolean
  /** The names within it. */
  readonly inner?: KeyTable
  /** A list of such sections. */
  readonly isList: boolean
  /** Names that the table does not know are texts of their own. */
  readonly isOpen: boolean
}

/** Keys by name. */
export type KeyTable = Readonly<Record<string, Key>>
/** One key for every name of a section: the compiler refuses a table that lacks one, or has one too many. */
export type Section<T> = { readonly [Name in keyof Required<T>]: Key }

type Extras = Partial<Pick<Key, 'aliases' | 'fallback' | 'isRequired'>>

/** Variables are filled in later. */
const placeholder = /\$\{[^{}]+\}/

function key(schema: z.ZodType, expected: string, about: string, extras: Extras = {}): Key {
  return { schema, expected, about, aliases: [], isRequired: false, isList: false, isOpen: false, ...extras }
}

/** Any text. */
export function text(about: string, extras?: Extras): Key {
  return key(z.string(), 'a text', about, extras)
}

/** One of some words, in any case. */
export function word(words: readonly string[], about: string, extras?: Extras): Key {
  const isWord = (value: string): boolean => words.includes(value.toLowerCase()) || placeholder.test(value)
  // What an editor offers is in lower case.
  const schema = z
    .string()
    .refine(isWord)
    .meta({ anyOf: [{ enum: words }, { pattern: placeholder.source }] })
  return key(schema, words.map((each) => JSON.stringify(each)).join(', '), about, extras)
}

/** A whole number from `least`. */
export function whole(least: number, about: string, extras?: Extras): Key {
  return key(z.int().min(least), `a whole number from ${least}`, about, extras)
}

/** A number from `least`, at most `most`. */
export function number(least: number, about: string, extras?: Extras & { most?: number }): Key {
  const { most, ...others } = extras ?? {}
  const schema = most === undefined ? z.number().min(least) : z.number().min(least).max(most)
  return key(schema, most === undefined ? `a number from ${least}` : `a number from ${least} to ${most}`, about, others)
}

/** True or false. */
export function flag(about: string, extras?: Extras): Key {
  return key(z.boolean(), 'true or false', about, extras)
}

/** A list of texts. */
export function texts(about: string, extras?: Extras): Key {
  return key(z.array(z.string()), 'a list of texts', about, extras)
}

/** Texts under names of one's own. */
export function record(about: string, extras?: Extras): Key {
  return key(z.record(z.string(), z.string()), 'a table of texts', about, extras)
}

/** A list of tables of somebody else's words. */
export function objects(about: string, extras?: Extras): Key {
  return key(z.array(z.record(z.string(), z.unknown())), 'a list of tables', about, extras)
}

/** A table of somebody else's words. */
export function jsonTable(about: string, extras?: Extras): Key {
  return key(z.record(z.string(), z.unknown()), 'a table', about, extras)
}

/** A whole number, or one of some words. */
export function wholeOrWord(least: number, words: readonly string[], about: string, extras?: Extras): Key {
  const expected = `a whole number from ${least}, or ${words.map((each) => JSON.stringify(each)).join(', ')}`
  return key(z.union([z.int().min(least), z.enum(words)]), expected, about, extras)
}

/** A section within a section. */
export function table(inner: KeyTable, about: string, extras?: Extras): Key {
  return { ...key(objectOf(inner, false), 'a table', about, extras), inner }
}

/** A list of sections. */
export function tables(inner: KeyTable, about: string, extras?: Extras & { isOpen?: boolean }): Key {
  const { isOpen = false, ...others } = extras ?? {}
  return { ...key(z.array(objectOf(inner, isOpen)), 'a list of tables', about, others), inner, isList: true, isOpen }
}

/** The schema of a section in its one form: without aliases and unknown names. */
export function objectOf(inner: KeyTable, isOpen: boolean): z.ZodType {
  const shape = Object.fromEntries(
    Object.entries(inner).map(([name, { schema, isRequired }]) => [name, isRequired ? schema : schema.optional()]),
  )
  return isOpen ? z.object(shape).catchall(z.string()) : z.strictObject(shape)
}
