import * as z from 'zod'
import { ConfigError } from '../../contract/errors.ts'
import { type JsonObject, ownOf } from '../../contract/json.ts'
import { type SettingName, settingFields, type ToolChoice, toolChoiceWord } from '../../contract/model/request-settings.ts'
import type { Carries, Infer, Optional, Shape } from '../../contract/shape/shape.ts'
import { invalidField, type Path } from '../config-error.ts'

// The optional peer dependency has no version constraint, but the code requires this version.
if (typeof z.toJSONSchema !== 'function') {
  throw new ConfigError('unsupported', 'phi-core/config needs zod 4.2 or newer, and another version is installed. Run: npm install zod@4')
}

/** Kinds of entities that references can name. */
export const namespaces = ['agent_profile', 'provider', 'sub_agent', 'compaction', 'system_prompt', 'system_prompt_strategy'] as const
/** One kind of entity. */
export type Namespace = (typeof namespaces)[number]

/**
 * Effects of a value besides setting an option.
 *
 * - `script`, `plugin`, `media`: require trust.
 * - `workspace`, `prompt`: require trust if the path leaves the workspace.
 * - `choice`: selects a provider. `headers`: may authenticate to a provider. A single variable counts as the user's choice.
 * - `local`: stays in this process, including everything in the section except keys with the role `sent`.
 */
type Role = 'script' | 'plugin' | 'media' | 'workspace' | 'prompt' | 'choice' | 'headers' | 'local' | 'sent'

/** Definition of a section's key. Validation, warnings, the JSON Schema, the reference page, options and trust requests derive from it. */
export interface Key {
  /** The value's schema. Accepts any section if `inner` is set. */
  readonly schema: z.ZodType
  /** Description of valid values, after "expected". */
  readonly expected: string
  /** Purpose of the key, in one or two sentences. */
  readonly about: string
  /** Alternative names. */
  readonly aliases: readonly string[]
  /** Default in words. Absent if the key is required, or if its absence has no effect. */
  readonly fallback?: string
  /** Whether the key is optional. */
  readonly isOptional?: true
  /** The section's keys. */
  readonly inner?: KeyTable
  /** Whether the value is a list of such sections. */
  readonly isList?: true
  /** Definition of keys that the table does not list. Default: unlisted keys are not allowed. */
  readonly others?: Key
  readonly role?: Role
  /** Kind of entity that the value refers to. */
  readonly namespace?: Namespace
  /** `api` value that the key applies to. Default: all. */
  readonly onlyFor?: string
  /** Whether an empty string counts as unset. */
  readonly mayBeEmpty?: true
  /** Returns the option value, or `undefined` for an unknown word from a variable. Default: the value unchanged. */
  read?(value: unknown): unknown
}

declare const option: unique symbol

/** A key with static types: the value type for `FieldsOf`, and the option type for {@link OptionsOf}. */
export interface KeyOf<T, Option = unknown> extends Key, Carries<T> {
  readonly [option]?: Option
}
type OptionalKey<T, Option = T> = KeyOf<T, Option> & Optional

/** Keys by name. */
export type KeyTable = Readonly<Record<string, Key>>
/** Keys of a section with a named type. */
type Section<T> = { readonly [Name in keyof Required<T>]: KeyOf<Exclude<T[Name], undefined>> }

/** Spelling of an option name in files. */
export type InFile<Name extends string> = Name extends `${infer Head}${infer Rest}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${InFile<Rest>}`
  : ''

/** Converts `topP` to `top_p`. */
export function inFile<Name extends string>(name: Name): InFile<Name> {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) as InFile<Name> // The return type performs the same conversion.
}

type Camel<Name extends string> = Name extends `${infer Head}_${infer Rest}` ? `${Head}${Capitalize<Camel<Rest>>}` : Name
/** Name of the option that a key sets. Files use seconds, options use milliseconds. */
type OptionName<Name extends string> = Name extends `${infer Time}_secs` ? `${Camel<Time>}Ms` : Camel<Name>

/** Returns the option name of a key: `topP` for `top_p`, `timeoutMs` for `timeout_secs`. */
export function optionName(name: string): string {
  return name.replace(/_secs$/, '_ms').replace(/_([a-z\d])/g, (_, letter: string) => letter.toUpperCase())
}

type OptionOf<K> = K extends { readonly [option]?: infer Option } ? Option : never
/** Options that a section of type `S` with table `T` sets. */
export type OptionsOf<T, S> = { [K in keyof S as K extends keyof T & string ? OptionName<K> : never]: OptionOf<T[K & keyof T]> }

/** Converts `section` at `path` to options. Throws `ConfigError` `invalidField` for an unknown word from a variable. */
export function optionsOf<T extends KeyTable, S extends object>(table: T, section: S, path: Path): OptionsOf<T, S> {
  const options = Object.entries(section).flatMap(([name, value]) => {
    const key = ownOf(table, name)
    const isGiven = key !== undefined && value !== undefined && !(value === '' && key.mayBeEmpty)
    return isGiven ? [[optionName(name), optionOf(key, value, [...path, name])]] : []
  })
  return Object.fromEntries(options) as OptionsOf<T, S> // The return type performs the same conversion.
}

/** Returns the option value of `key` for `value` at `path`. Throws like {@link optionsOf}. */
export function optionOf<K extends Key>(key: K, value: unknown, path: Path): OptionOf<K> {
  const read = key.read === undefined ? value : key.read(value)
  if (read === undefined) throw invalidField(path, value, key.expected)
  return read as OptionOf<K> // The key's constructor has checked both types.
}

/** Formats 1000000 as 1,000,000. */
export const grouped = (count: number): string => count.toLocaleString('en')

/** Variables are substituted later. */
const placeholder = /\$\{[^{}]+\}/

/** A key's default: a number or a description. */
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
    ...(read !== undefined && { read: (value) => read(value as T) }), // The schema has validated the value.
  }
}

/** A required key. */
export function required<T, Option>({ isOptional: _, ...rest }: OptionalKey<T, Option>): KeyOf<T, Option> {
  return rest
}

/** Adds an alternative name, used by the specification or older files. */
export function alias<K extends Key>(name: string, of: K): K {
  return { ...of, aliases: [...of.aliases, name] }
}

/** Adds a role to a key. */
export function as<K extends Key>(role: Role, of: K): K {
  return { ...of, role }
}

/** Restricts a key to one protocol, by its `api` value. */
export function onlyFor<K extends Key>(api: string, of: K): K {
  return { ...of, onlyFor: api }
}

/** Treats an empty string as unset. */
export function mayBeEmpty<K extends Key>(of: K): K {
  return { ...of, mayBeEmpty: true }
}

/** The id of an entity. */
export function id(
  namespace: Namespace,
  about: string = `Id in the namespace \`${namespace}\`; refer to it as \`{{name}}\`.`,
  fallback?: string,
): OptionalKey<string> {
  return { ...text(about, fallback), namespace }
}

/** Spelling of option values in files, case-insensitive. */
type Written<T> = T extends string ? string : T extends readonly string[] ? string[] : T

const quoted = (words: readonly string[]): string => words.map((each) => JSON.stringify(each)).join(', ')
const bare = (word: string): string => word.toLowerCase().replaceAll('_', '')

/** Any string. */
export function text(about: string, fallback?: Fallback): OptionalKey<string> {
  return key(z.string(), 'a string', about, fallback)
}

/** One of several words, case-insensitive. `written`: the spelling in files. */
export function word<const W extends string>(
  words: readonly W[],
  about: string,
  fallback?: Fallback,
  written: readonly string[] = words.map(inFile),
): OptionalKey<string, W> {
  const isWord = (value: string): boolean => written.includes(value.toLowerCase()) || placeholder.test(value)
  // Editors suggest the lower-case spelling.
  const schema = z
    .string()
    .refine(isWord)
    .meta({ anyOf: [{ enum: written }, { pattern: placeholder.source }] })
  return key(schema, quoted(written), about, fallback, (value) => words.find((each) => bare(each) === bare(value)))
}

/** An integer of at least `least`. */
export function whole(least: number, about: string, fallback?: Fallback): OptionalKey<number> {
  return key(z.int().min(least), `an integer of at least ${least}`, about, fallback)
}

/** A number from `least` to `most`. */
export function number(least: number, about: string, fallback?: Fallback, most?: number): OptionalKey<number> {
  const schema = most === undefined ? z.number().min(least) : z.number().min(least).max(most)
  return key(schema, most === undefined ? `a number of at least ${least}` : `a number from ${least} to ${most}`, about, fallback)
}

/** A duration in seconds, for an option in milliseconds. `defaultMs`: default of the option. */
export function seconds(about: string, defaultMs?: Fallback): OptionalKey<number> {
  const fallback = typeof defaultMs === 'number' ? defaultMs / 1000 : defaultMs
  return key(z.number().min(0.001), 'a number of at least 0.001', about, fallback, (value: number) => value * 1000)
}

/** A boolean. */
export function flag(about: string, fallback?: Fallback): OptionalKey<boolean> {
  return key(z.boolean(), 'true or false', about, fallback)
}

/** A list of strings. */
export function texts(about: string, fallback?: Fallback): OptionalKey<string[]> {
  return key(z.array(z.string()), 'a list of strings', about, fallback)
}

/** A table of strings with arbitrary keys. */
export function record(about: string, fallback?: Fallback): OptionalKey<Record<string, string>> {
  return key(z.record(z.string(), z.string()), 'a table of strings', about, fallback)
}

/** A list of tables with arbitrary content. */
export function objects(about: string): OptionalKey<JsonObject[]> {
  return key(z.array(z.record(z.string(), z.unknown())), 'a list of tables', about, undefined)
}

/** A table with arbitrary content. */
export function jsonTable(about: string, fallback?: Fallback): OptionalKey<JsonObject> {
  return key(z.record(z.string(), z.unknown()), 'a table', about, fallback)
}

/** An integer, or a specific word. */
export function wholeOr<const W extends string, Option>(
  least: number,
  other: W,
  read: (value: number | W) => Option,
  about: string,
  fallback?: Fallback,
): OptionalKey<number | W, Option> {
  return key(
    z.union([z.int().min(least), z.enum([other])]),
    `an integer of at least ${least}, or ${quoted([other])}`,
    about,
    fallback,
    read,
  )
}

/** A request setting, validated by its table in `src/contract`. */
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

/** A tool choice. Any other word is a tool name. */
export function toolChoice(about: string, fallback: string): OptionalKey<string, ToolChoice> {
  const read = (value: string) => toolChoiceWord.words.find((each) => each === value) ?? { tool: value }
  return mayBeEmpty(key(z.string(), 'a string', about, fallback, read))
}

/** A nested section. */
export function table<T>(inner: Section<T>, about: string): OptionalKey<T> {
  return { ...key<T>(z.never(), 'a table', about, undefined), inner }
}

/** A list of sections. */
export function tables<T>(inner: Section<T>, about: string): OptionalKey<T[]> {
  return { ...key<T[]>(z.never(), 'a list of tables', about, undefined), inner, isList: true }
}

/** A list of sections with additional free keys. */
export function openTables<T>(inner: KeyTable, others: Key, about: string): OptionalKey<T[]> {
  return { ...key<T[]>(z.never(), 'a list of tables', about, undefined), inner, isList: true, others }
}

/** A section that contains only a list of sections. */
export function instances<T>(each: OptionalKey<T[]>, about: string): OptionalKey<{ instances?: T[] }> {
  return table<{ instances?: T[] }>({ instances: each }, about)
}
