import * as z from 'zod'
import { ConfigError } from '../../contract/errors.ts'
import { type JsonObject, ownOf } from '../../contract/json.ts'
import { type SettingName, settingFields, type ToolChoice, toolChoiceWord } from '../../contract/model/request-settings.ts'
import type { Carries, Infer, Optional, Shape } from '../../contract/shape/shape.ts'
import { invalidField, type Path } from '../config-error.ts'

// An optional peer of any version installs; this one is needed.
if (typeof z.toJSONSchema !== 'function') {
  throw new ConfigError('unsupported', 'phi-core/config needs zod 4.2 or newer, and another version is installed. Run: npm install zod@4')
}

/** The kinds of entities that references name. */
export const namespaces = ['agent_profile', 'provider', 'sub_agent', 'compaction', 'system_prompt', 'system_prompt_strategy'] as const
/** One kind of entity. */
export type Namespace = (typeof namespaces)[number]

/**
 * What a value does beside setting an option. `script`, `plugin` and `media` need trust, `workspace` and `prompt` need it when they lead outside.
 * `choice` selects a service, `headers` may authenticate to it: one variable alone is the choice of the person who set it. `local` values stay in
 * this program; so does all that is within a local section, except `sent`.
 */
type Role = 'script' | 'plugin' | 'media' | 'workspace' | 'prompt' | 'choice' | 'headers' | 'local' | 'sent'

/**
 * What a section says under one name. The check, the warnings, the JSON Schema, the reference page, the options and the questions of trust come from
 * this.
 */
export interface Key {
  /** What may stand there; nothing that is no section, where there are names within it. */
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
  readonly isList?: true
  /** What stands under names that the table does not know. Default: there are none. */
  readonly others?: Key
  readonly role?: Role
  /** It names an entity of this kind. */
  readonly namespace?: Namespace
  /** The word of `api` for which it is. Default: all. */
  readonly onlyFor?: string
  /** An empty text says nothing. */
  readonly mayBeEmpty?: true
  /** Returns the value of the option; `undefined` for a value that a variable brought and that the key does not take. Default: the value as it is. */
  read?(value: unknown): unknown
}

declare const option: unique symbol

/** A key of which the compiler knows what may stand there, for `FieldsOf`, and what the option holds, for {@link OptionsOf}. */
export interface KeyOf<T, Option = unknown> extends Key, Carries<T> {
  readonly [option]?: Option
}
type OptionalKey<T, Option = T> = KeyOf<T, Option> & Optional

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

type Camel<Name extends string> = Name extends `${infer Head}_${infer Rest}` ? `${Head}${Capitalize<Camel<Rest>>}` : Name
/** The name of the option that a key sets: files say times in seconds, options in milliseconds. */
type OptionName<Name extends string> = Name extends `${infer Time}_secs` ? `${Camel<Time>}Ms` : Camel<Name>

/** The name of the option that the key `name` sets: `top_p` is `topP`, `timeout_secs` is `timeoutMs`. */
export function optionName(name: string): string {
  return name.replace(/_secs$/, '_ms').replace(/_([a-z\d])/g, (_, letter: string) => letter.toUpperCase())
}

type OptionOf<K> = K extends { readonly [option]?: infer Option } ? Option : never
/** The options that a section of the type `S` sets, by the keys of the table `T`. */
export type OptionsOf<T, S> = { [K in keyof S as K extends keyof T & string ? OptionName<K> : never]: OptionOf<T[K & keyof T]> }

/** What `section`, which stands at `path`, says as options. Throws `ConfigError` `invalidField` for a word that a variable brought and nobody knows. */
export function optionsOf<T extends KeyTable, S extends object>(table: T, section: S, path: Path): OptionsOf<T, S> {
  const options = Object.entries(section).flatMap(([name, value]) => {
    const key = ownOf(table, name)
    const isSaid = key !== undefined && value !== undefined && !(value === '' && key.mayBeEmpty)
    return isSaid ? [[optionName(name), optionOf(key, value, [...path, name])]] : []
  })
  return Object.fromEntries(options) as OptionsOf<T, S> // the type says the same
}

/** What the option of `key` holds where the file says `value` at `path`. Throws as {@link optionsOf}. */
export function optionOf<K extends Key>(key: K, value: unknown, path: Path): OptionOf<K> {
  const read = key.read === undefined ? value : key.read(value)
  if (read === undefined) throw invalidField(path, value, key.expected)
  return read as OptionOf<K> // the constructor of the key has both
}

/** 1000000 as people read it: 1,000,000. */
export const grouped = (count: number): string => count.toLocaleString('en')

/** Variables are filled in later. */
const placeholder = /\$\{[^{}]+\}/

/** What stands without the key: a number, or words. */
type Fallback = string | number | undefined

function key<T, Option = T>(
  schema: z.ZodType,
  expected: string,
  about: string,
  fallback: Fallback,
  read?: (value: T) => Option | undefined,
): OptionalKey<T, Option> {
  const words = typeof fallback === 'number' ? grouped(fallback) : fallback
  return {
    ...{ schema, expected, about, aliases: [], isOptional: true },
    ...(words !== undefined && { fallback: words }),
    ...(read !== undefined && { read: (value) => read(value as T) }), // checked by the schema
  }
}

/** A key without which the section says nothing. */
export function required<T, Option>({ isOptional: _, ...rest }: OptionalKey<T, Option>): KeyOf<T, Option> {
  return rest
}

/** A key with another name, of the specification or of older files. */
export function alias<K extends Key>(name: string, of: K): K {
  return { ...of, aliases: [...of.aliases, name] }
}

/** A key with a role. */
export function as<K extends Key>(role: Role, of: K): K {
  return { ...of, role }
}

/** A key of models of one protocol, by its word in `api`. */
export function onlyFor<K extends Key>(api: string, of: K): K {
  return { ...of, onlyFor: api }
}

/** A key of which an empty text says nothing. */
export function mayBeEmpty<K extends Key>(of: K): K {
  return { ...of, mayBeEmpty: true }
}

/** The id of an entity. */
export function id(
  namespace: Namespace,
  about: string = `Its name in the namespace \`${namespace}\`, as \`{{name}}\`.`,
  fallback?: string,
): OptionalKey<string> {
  return { ...text(about, fallback), namespace }
}

/** What a file may write where an option has one of these values: words stand in any case. */
type Written<T> = T extends string ? string : T extends readonly string[] ? string[] : T

const quoted = (words: readonly string[]): string => words.map((each) => JSON.stringify(each)).join(', ')
const bare = (word: string): string => word.toLowerCase().replaceAll('_', '')

/** Any text. */
export function text(about: string, fallback?: Fallback): OptionalKey<string> {
  return key(z.string(), 'a text', about, fallback)
}

/** One of some words, in any case; `written`: as files write them. */
export function word<const W extends string>(
  words: readonly W[],
  about: string,
  fallback?: Fallback,
  written: readonly string[] = words.map(inFile),
): OptionalKey<string, W> {
  const isWord = (value: string): boolean => written.includes(value.toLowerCase()) || placeholder.test(value)
  // What an editor offers is in lower case.
  const schema = z
    .string()
    .refine(isWord)
    .meta({ anyOf: [{ enum: written }, { pattern: placeholder.source }] })
  return key(schema, quoted(written), about, fallback, (value) => words.find((each) => bare(each) === bare(value)))
}

/** A whole number from `least`. */
export function whole(least: number, about: string, fallback?: Fallback): OptionalKey<number> {
  return key(z.int().min(least), `a whole number from ${least}`, about, fallback)
}

/** A number from `least`, at most `most`. */
export function number(least: number, about: string, fallback?: Fallback, most?: number): OptionalKey<number> {
  const schema = most === undefined ? z.number().min(least) : z.number().min(least).max(most)
  return key(schema, `a number from ${least}${most === undefined ? '' : ` to ${most}`}`, about, fallback)
}

/** Seconds, of which the option is in milliseconds; `defaultMs`: the default of the option. */
export function seconds(about: string, defaultMs?: Fallback): OptionalKey<number> {
  const fallback = typeof defaultMs === 'number' ? defaultMs / 1000 : defaultMs
  return key(z.number().min(0.001), 'a number from 0.001', about, fallback, (value: number) => value * 1000)
}

/** True or false. */
export function flag(about: string, fallback?: Fallback): OptionalKey<boolean> {
  return key(z.boolean(), 'true or false', about, fallback)
}

/** A list of texts. */
export function texts(about: string, fallback?: Fallback): OptionalKey<string[]> {
  return key(z.array(z.string()), 'a list of texts', about, fallback)
}

/** Texts under names of one's own. */
export function record(about: string, fallback?: Fallback): OptionalKey<Record<string, string>> {
  return key(z.record(z.string(), z.string()), 'a table of texts', about, fallback)
}

/** A list of tables of somebody else's words. */
export function objects(about: string): OptionalKey<JsonObject[]> {
  return key(z.array(z.record(z.string(), z.unknown())), 'a list of tables', about, undefined)
}

/** A table of somebody else's words. */
export function jsonTable(about: string, fallback?: Fallback): OptionalKey<JsonObject> {
  return key(z.record(z.string(), z.unknown()), 'a table', about, fallback)
}

/** A whole number, or one word. */
export function wholeOr<const W extends string, Option>(
  least: number,
  other: W,
  read: (value: number | W) => Option,
  about: string,
  fallback?: Fallback,
): OptionalKey<number | W, Option> {
  return key(z.union([z.int().min(least), z.enum([other])]), `a whole number from ${least}, or ${quoted([other])}`, about, fallback, read)
}

/** A setting of a request, checked as its table in `src/contract` says. */
export function setting<Name extends Exclude<SettingName, 'toolChoice' | 'headers' | 'body'>>(
  name: Name,
  about: string,
  fallback?: Fallback,
): OptionalKey<Written<Infer<(typeof settingFields)[Name]>>, Infer<(typeof settingFields)[Name]>> {
  return mayBeEmpty(settingKey(settingFields[name], about, fallback))
}

function settingKey({ form }: Shape, about: string, fallback: Fallback): Key & Optional {
  if (form.of === 'word') return word(form.words, about, fallback)
  if (form.of === 'list') return texts(about, fallback)
  if (form.of !== 'value' || form.range === undefined)
    return form.of === 'value' && form.type === 'boolean' ? flag(about, fallback) : text(about, fallback)
  const { least, most, isWhole } = form.range
  return isWhole ? whole(least, about, fallback) : number(least, about, fallback, most)
}

/** A choice of tools: any word that is no choice is the name of a tool. */
export function toolChoice(about: string, fallback: string): OptionalKey<string, ToolChoice> {
  const read = (value: string) => toolChoiceWord.words.find((each) => each === value) ?? { tool: value }
  return mayBeEmpty(key(z.string(), 'a text', about, fallback, read))
}

/** A section within a section. */
export function table<T>(inner: Section<T>, about: string): OptionalKey<T> {
  return { ...key<T>(z.never(), 'a table', about, undefined), inner }
}

/** A list of sections. */
export function tables<T>(inner: Section<T>, about: string): OptionalKey<T[]> {
  return { ...key<T[]>(z.never(), 'a list of tables', about, undefined), inner, isList: true }
}

/** A list of sections that may have names of their own. */
export function openTables<T>(inner: KeyTable, others: Key, about: string): OptionalKey<T[]> {
  return { ...key<T[]>(z.never(), 'a list of tables', about, undefined), inner, isList: true, others }
}

/** A section that holds nothing but a list of sections. */
export function instances<T>(each: OptionalKey<T[]>, about: string): OptionalKey<{ instances?: T[] }> {
  return table<{ instances?: T[] }>({ instances: each }, about)
}
