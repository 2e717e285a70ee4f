import * as z from 'zod'
import { ConfigError } from '../../contract/errors.ts'
import type { JsonObject } from '../../contract/json.ts'
import { type SettingName, settingFields } from '../../contract/model/request-settings.ts'
import type { Carries, Infer, Optional, Shape } from '../../contract/shape/shape.ts'

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
  /** The section says something without it. */
  readonly isOptional?: true
  /** The names within it. */
  readonly inner?: KeyTable
  /** A list of such sections. */
  readonly isList: boolean
  /** Names that the table does not know are texts of their own. */
  readonly isOpen: boolean
}

/** A key of which the compiler knows what may stand there: `FieldsOf` makes the type of a section of its table. */
export interface KeyOf<T> extends Key, Carries<T> {}
type OptionalKey<T> = KeyOf<T> & Optional

/** Keys by name. */
export type KeyTable = Readonly<Record<string, Key>>
/** The keys of a section, whose type has a name. */
type Section<T> = { readonly [Name in keyof Required<T>]: KeyOf<Exclude<T[Name], undefined>> }

/** The name of an option as files write it. */
export type InFile<Name extends string> = Name extends `${infer Head}${infer Rest}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${InFile<Rest>}`
  : ''

/** `name` as files write it: `topP` is `top_p`. */
export function inFile<Name extends string>(name: Name): InFile<Name> {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) as InFile<Name> // the type says the same
}

/** Options by the names that they have in a file. */
type FromFile<Section, Name extends string> = {
  [N in Name as InFile<N> extends keyof Section ? N : never]?: Exclude<Section[InFile<N> & keyof Section], undefined>
}

/** What `section` says of the options `names`, in their words. */
export function fromFile<Section extends object, Name extends string>(section: Section, names: readonly Name[]): FromFile<Section, Name> {
  const found = names
    .map((name): [string, unknown] => [name, Reflect.get(section, inFile(name))])
    .filter(([, value]) => value !== undefined)
  return Object.fromEntries(found) as FromFile<Section, Name> // the type says the same
}

/** What stands without the key: a number, or words. */
type Extras = Partial<Pick<Key, 'aliases'>> & { fallback?: string | number }

/** 1000000 as people read it: 1,000,000. */
export const grouped = (count: number): string => count.toLocaleString('en')

/** Variables are filled in later. */
const placeholder = /\$\{[^{}]+\}/

function key<T>(schema: z.ZodType, expected: string, about: string, { aliases = [], fallback }: Extras = {}): OptionalKey<T> {
  const words = typeof fallback === 'number' ? grouped(fallback) : fallback
  return {
    schema,
    expected,
    about,
    aliases,
    isOptional: true,
    isList: false,
    isOpen: false,
    ...(words !== undefined && { fallback: words }),
  }
}

/** A key without which the section says nothing. */
export function required<T>({ isOptional: _, ...rest }: OptionalKey<T>): KeyOf<T> {
  return rest
}

/** What a file may write where an option has one of these values: words stand in any case. */
type Written<T> = T extends string ? string : T extends readonly string[] ? string[] : T

/** Any text. */
export function text(about: string, extras?: Extras): OptionalKey<string> {
  return key(z.string(), 'a text', about, extras)
}

/** One of some words, in any case. */
export function word(words: readonly string[], about: string, extras?: Extras): OptionalKey<string> {
  const isWord = (value: string): boolean => words.includes(value.toLowerCase()) || placeholder.test(value)
  // What an editor offers is in lower case.
  const schema = z
    .string()
    .refine(isWord)
    .meta({ anyOf: [{ enum: words }, { pattern: placeholder.source }] })
  return key(schema, words.map((each) => JSON.stringify(each)).join(', '), about, extras)
}

/** A whole number from `least`. */
export function whole(least: number, about: string, extras?: Extras): OptionalKey<number> {
  return key(z.int().min(least), `a whole number from ${least}`, about, extras)
}

/** A number from `least`, at most `most`. */
export function number(least: number, about: string, extras?: Extras & { most?: number }): OptionalKey<number> {
  const { most, ...others } = extras ?? {}
  const schema = most === undefined ? z.number().min(least) : z.number().min(least).max(most)
  return key(schema, most === undefined ? `a number from ${least}` : `a number from ${least} to ${most}`, about, others)
}

/** True or false. */
export function flag(about: string, extras?: Extras): OptionalKey<boolean> {
  return key(z.boolean(), 'true or false', about, extras)
}

/** A list of texts. */
export function texts(about: string, extras?: Extras): OptionalKey<string[]> {
  return key(z.array(z.string()), 'a list of texts', about, extras)
}

/** Texts under names of one's own. */
export function record(about: string, extras?: Extras): OptionalKey<Record<string, string>> {
  return key(z.record(z.string(), z.string()), 'a table of texts', about, extras)
}

/** A list of tables of somebody else's words. */
export function objects(about: string, extras?: Extras): OptionalKey<JsonObject[]> {
  return key(z.array(z.record(z.string(), z.unknown())), 'a list of tables', about, extras)
}

/** A table of somebody else's words. */
export function jsonTable(about: string, extras?: Extras): OptionalKey<JsonObject> {
  return key(z.record(z.string(), z.unknown()), 'a table', about, extras)
}

/** A whole number, or one of some words. */
export function wholeOrWord<const W extends string>(
  least: number,
  words: readonly W[],
  about: string,
  extras?: Extras,
): OptionalKey<number | W> {
  const expected = `a whole number from ${least}, or ${words.map((each) => JSON.stringify(each)).join(', ')}`
  return key(z.union([z.int().min(least), z.enum(words)]), expected, about, extras)
}

/** A setting of a request, checked as its table in `src/contract` says. */
export function setting<Name extends Exclude<SettingName, 'maxTokens' | 'toolChoice' | 'headers' | 'body'>>(
  name: Name,
  about: string,
  extras?: Extras,
): OptionalKey<Written<Infer<(typeof settingFields)[Name]>>> {
  return keyOf(settingFields[name], about, extras)
}

function keyOf({ form }: Shape, about: string, extras?: Extras): Key & Optional {
  if (form.of === 'word') return word(form.words, about, extras)
  if (form.of === 'list') return texts(about, extras)
  if (form.of !== 'value' || form.range === undefined)
    return form.of === 'value' && form.type === 'boolean' ? flag(about, extras) : text(about, extras)
  const { least, most, isWhole } = form.range
  return isWhole ? whole(least, about, extras) : number(least, about, { ...extras, ...(most !== undefined && { most }) })
}

/** A section within a section. */
export function table<T>(inner: Section<T>, about: string): OptionalKey<T> {
  return { ...key(objectOf(inner, false), 'a table', about), inner }
}

/** A list of sections. */
export function tables<T>(inner: Section<T>, about: string, { isOpen = false } = {}): OptionalKey<T[]> {
  return { ...key(z.array(objectOf(inner, isOpen)), 'a list of tables', about), inner, isList: true, isOpen }
}

/** A section that holds nothing but a list of sections. */
export function instances<T>(
  inner: Section<T>,
  aboutEach: string,
  about: string,
  options?: { isOpen: boolean },
): OptionalKey<{ instances?: T[] }> {
  return table<{ instances?: T[] }>({ instances: tables<T>(inner, aboutEach, options) }, about)
}

/** The schema of a section in its one form: without aliases and unknown names. */
export function objectOf(inner: KeyTable, isOpen: boolean): z.ZodType {
  const shape = Object.fromEntries(
    Object.entries(inner).map(([name, { schema, isOptional }]) => [name, isOptional ? schema.optional() : schema]),
  )
  return isOpen ? z.object(shape).catchall(z.string()) : z.strictObject(shape)
}
