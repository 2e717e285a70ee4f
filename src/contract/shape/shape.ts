/**
 * The dialect in which every shape is declared, once: a table of plain data says of each field what it must be. From the table come the type
 * (`FieldsOf`, `Infer`, `Given`), the readers of `read.ts`, the lists of words and fields, and what a caller may pass as options.
 *
 * ```ts
 * const textFields = { type: oneOf('text'), text: aText, providerState: optional(providerState) }
 * export interface TextContent extends FieldsOf<typeof textFields> {}
 * export const textContent = object<TextContent>(textFields)
 * ```
 *
 * @module
 */

import { isObject, type JsonObject, type JsonSchema, type JsonValue } from '../json.ts'
import { jsonFault } from './json-fault.ts'

declare const carried: unique symbol

declare const given: unique symbol

/**
 * Who reads: `given` is what a caller hands in, and what is filled in may be missing; `stored` is complete; `logged` may be of another version, so
 * that only what readers rely on is looked at.
 */
export type Reading = 'given' | 'stored' | 'logged'

/** What a value must be. */
export interface Shape {
  /** In words, after "it must be". */
  readonly expected: string
  readonly form: Form
  /** What is wrong with a value that fits otherwise, for who reads it: a sentence that begins with its `path`. */
  inside?(value: unknown, path: string, reading: Reading): string | undefined
  /** What to say of a value that does not fit, where it is known for something else. */
  instead?(value: unknown, path: string): string | undefined
  /** It may be left out. */
  readonly isOptional?: true
  /** It may not be left out, also among options. */
  readonly isRequired?: true
  /** What stands there where a caller leaves it out; `rest` is the object around it, as far as it is known. */
  fill?(rest: object): unknown
}

/** What the compiler knows the type of, for {@link FieldsOf}. */
export interface Carries<T> {
  readonly [carried]?: (value: T) => T
}

/** A shape of which the compiler knows what fits. */
export interface ShapeOf<T> extends Shape, Carries<T> {}

/** A shape for which a caller may hand in a `G`, to be completed. */
export interface GivenShape<T, G> extends ShapeOf<T> {
  readonly [given]?: G
}

/** One of some words, which can be listed. */
export interface Word<W extends string> extends ShapeOf<W> {
  readonly words: readonly W[]
}

/** A field that may be left out. */
export interface Optional {
  readonly isOptional: true
}

/** A field that a caller may leave out, because it is filled in. */
export interface Filled {
  fill(rest: object): unknown
}

/** How a value is made of others. */
export type Form =
  | { readonly of: 'value'; readonly type: string; readonly range?: Range; fits(value: unknown): boolean }
  | { readonly of: 'word'; readonly words: readonly string[] }
  | ObjectForm
  | {
      readonly of: 'tagged'
      readonly tag: string
      readonly variants: ReadonlyMap<string, Shape>
      readonly words: Shape
      readonly passes: OtherTags
    }
  | { readonly of: 'list'; readonly item: Shape }
  | { readonly of: 'record'; readonly item: Shape }
  | { readonly of: 'either'; readonly shapes: readonly Shape[] }
  | { readonly of: 'written'; readonly short: Shape; readonly whole: Shape; complete(short: unknown): unknown }

/** Which numbers fit. */
interface Range {
  readonly least: number
  readonly most?: number
  readonly isWhole: boolean
}

/** An object of fields. */
export interface ObjectForm {
  readonly of: 'object'
  readonly fields: Fields
  /** The same, for walking. */
  readonly entries: readonly (readonly [string, Shape])[]
  /** Whether it may have keys beyond its fields. Data may: an older version carries what a newer one wrote. */
  readonly isOpen: boolean
  /** Whether a field may be left out that is not marked. */
  readonly isPartial: boolean
  /** What readers of a log of another version rely on. Default: all of it. */
  readonly relied?: readonly string[]
}

/** Which values of a tagged union pass whose tag is not known: none, those in a log, or all. */
type OtherTags = 'none' | 'logged' | 'all'

/** A table: what each field must be. */
export type Fields = Readonly<Record<string, Shape>>

/** The type of what fits `S`. */
export type Infer<S> = S extends { readonly [carried]?: (value: infer T) => unknown } ? T : unknown
/** The type of what a caller may hand in for `S`. */
export type Given<S> = S extends { readonly [given]?: infer G } ? (unknown extends G ? Infer<S> : G) : Infer<S>

/** The type of an object with these fields. */
export type FieldsOf<F> = { [K in keyof F as F[K] extends Optional ? never : K]: Infer<F[K]> } & {
  [K in keyof F as F[K] extends Optional ? K : never]?: Infer<F[K]>
}
/** The type of what a caller may hand in for an object with these fields. */
export type GivenOf<F> = { [K in keyof F as F[K] extends Optional | Filled ? never : K]: Given<F[K]> } & {
  [K in keyof F as F[K] extends Optional | Filled ? K : never]?: Given<F[K]>
}

/** One field for every key of `T`: the compiler refuses a table that lacks one, or has one too many. */
type TableFor<T> = { readonly [K in keyof T]-?: ShapeOf<Exclude<T[K], undefined>> }

/** One option for every key of `Options`: the compiler refuses a table that lacks one, or has one too many. */
export type OptionTable<Options> = { readonly [Name in keyof Required<Options>]: Shape }

/** A shape that is all there is to see from outside; `type` is what a reader of stored data calls it. */
/* @__NO_SIDE_EFFECTS__ */
export function kind<T>(expected: string, fits: (value: unknown) => boolean, type: string = expected): ShapeOf<T> {
  return { expected, form: { of: 'value', type, fits } }
}

/** Any value at all. */
export const anything: Shape = kind('anything', () => true)
/** A string, which may be empty. */
export const aText: ShapeOf<string> = kind('a text', (value) => typeof value === 'string', 'string')
/** Nothing but true or false. */
export const aFlag: ShapeOf<boolean> = kind('true or false', (value) => typeof value === 'boolean', 'boolean')
/** Nothing but true. */
export const isTrue: ShapeOf<true> = kind('true', (value) => value === true)
/** A function of any kind. */
export const aFunction: Shape = kind('a function', (value) => typeof value === 'function')
/** An object that is no list. */
export const anObject: ShapeOf<object> = kind('an object', isObject, 'object')
/** An object or a function: schemas of some libraries are functions. */
export const aSchema: Shape = kind('a Standard Schema or a JSON Schema', (value) => isObject(value) || typeof value === 'function')
/** A number that is not NaN. */
export const aNumber: ShapeOf<number> = kind('a number', (value) => typeof value === 'number' && !Number.isNaN(value), 'number')
/** A number from 0, infinity included. */
export const aNumberFromZero: ShapeOf<number> = kind('a number from 0', (value) => typeof value === 'number' && value >= 0)
/** A number greater than 0, infinity included. */
export const aPositiveNumber: ShapeOf<number> = kind(
  'a number greater than 0, or left out',
  (value) => typeof value === 'number' && value > 0,
)
/** An `AbortSignal`; a controller is none. */
export const aSignal: Shape = kind(
  'an AbortSignal, such as controller.signal',
  (value) => isObject(value) && typeof value.aborted === 'boolean' && typeof value.addEventListener === 'function',
)
/** Any JSON value of at most 200 levels. */
export const json: ShapeOf<JsonValue> = withInside(
  kind('JSON', (value) => value !== undefined, 'JSON value'),
  (value, path) => jsonFault(value, path),
)
/** An object of plain JSON, of at most 200 levels. */
export const aJsonObject: ShapeOf<JsonObject> = withInside(kind('an object', isObject, 'object'), (value, path) => jsonFault(value, path))
/** A JSON Schema in its object form. */
export const aJsonSchema: ShapeOf<JsonSchema> = withInside(kind('an object', isObject, 'object'), (value, path) => jsonFault(value, path))

/** A whole number from `least`. */
/* @__NO_SIDE_EFFECTS__ */
export function wholeFrom(least: number): ShapeOf<number> {
  return inRange(`a whole number from ${least}`, { least, isWhole: true })
}

/** A number from `least` to `most`. */
/* @__NO_SIDE_EFFECTS__ */
export function between(least: number, most: number): ShapeOf<number> {
  return inRange(`a number from ${least} to ${most}`, { least, most, isWhole: false })
}

function inRange(expected: string, range: Range): ShapeOf<number> {
  const { least, most = Number.POSITIVE_INFINITY, isWhole } = range
  const fits = (value: unknown): boolean =>
    typeof value === 'number' && value >= least && value <= most && (!isWhole || Number.isInteger(value))
  return { expected, form: { of: 'value', type: expected, range, fits } }
}

/** One of these words. */
/* @__NO_SIDE_EFFECTS__ */
export function oneOf<const W extends readonly string[]>(...words: W): Word<W[number]> {
  return { expected: words.map((word) => JSON.stringify(word)).join(' or '), form: { of: 'word', words }, words }
}

/** The names of a table's fields. */
/* @__NO_SIDE_EFFECTS__ */
export function namesOf<F extends object>(fields: F): readonly (keyof F & string)[] {
  return Object.keys(fields) as (keyof F & string)[] // tables are written out
}

/** Any text; `W` are those that mean something here. */
/* @__NO_SIDE_EFFECTS__ */
export function textLike<W extends string>(): ShapeOf<W> {
  const { expected, form } = aText
  return { expected, form }
}

/** An object with these methods. */
/* @__NO_SIDE_EFFECTS__ */
export function withMethods(expected: string, ...methods: readonly string[]): Shape {
  const isTarget = (value: unknown): value is object => (typeof value === 'object' && value !== null) || typeof value === 'function'
  return kind(
    `${expected}, with ${methods.join(' and ')}()`,
    (value) => isTarget(value) && methods.every((name) => typeof Reflect.get(value, name) === 'function'),
  )
}

/** A list, all of whose entries are `item`s. */
/* @__NO_SIDE_EFFECTS__ */
export function listOf<S extends Shape>(item: S): GivenShape<Infer<S>[], readonly Given<S>[]> {
  return { expected: 'a list', form: { of: 'list', item } }
}

/** As {@link listOf}, of a list that nobody changes. */
/* @__NO_SIDE_EFFECTS__ */
export function fixedListOf<S extends Shape>(item: S): ShapeOf<readonly Infer<S>[]> {
  return { expected: 'a list', form: { of: 'list', item } }
}

/** An object whose values, under any name, are `item`s. */
/* @__NO_SIDE_EFFECTS__ */
export function recordOf<S extends Shape>(item: S): ShapeOf<Record<string, Infer<S>>> {
  return { expected: 'an object', form: { of: 'record', item } }
}

/** An object whose values are texts, such as headers. */
export const texts: ShapeOf<Record<string, string>> = { ...recordOf(aText), expected: 'an object of texts' }

/** One of several shapes; where none fits inside, the last that fits from outside says why. */
/* @__NO_SIDE_EFFECTS__ */
export function either<S extends readonly Shape[]>(...shapes: S): ShapeOf<Infer<S[number]>> {
  return { expected: shapes.map(({ expected }) => expected).join(', or '), form: { of: 'either', shapes } }
}

/** `whole`, for which a caller may also write something shorter, that `complete` makes into it. */
/* @__NO_SIDE_EFFECTS__ */
export function written<S extends Shape, H>(
  whole: S,
  short: ShapeOf<H>,
  complete: (short: H) => Infer<S>,
): GivenShape<Infer<S>, Given<S> | H> {
  const form: Form = { of: 'written', short, whole, complete: (value) => complete(value as H) } // only what fits `short` comes here
  return { expected: `${short.expected}, or ${whole.expected}`, form }
}

/** A field that may be left out. */
/* @__NO_SIDE_EFFECTS__ */
export function optional<S extends Shape>(shape: S): S & Optional {
  return { ...shape, isOptional: true }
}

/** A field that a caller may leave out: `fill` says what stands there then. Whoever reads what is stored relies on it. */
/* @__NO_SIDE_EFFECTS__ */
export function filled<S extends Shape, Rest extends object = object>(shape: S, fill: (rest: Rest) => Infer<S>): S & Filled {
  return { ...shape, fill }
}

/** An option that may not be left out. */
/* @__NO_SIDE_EFFECTS__ */
export function required<S extends Shape>(shape: S): S {
  return { ...shape, isRequired: true }
}

/** `shape`, of which `inside` may find something else wrong. */
/* @__NO_SIDE_EFFECTS__ */
export function withInside<S extends Shape>(shape: S, inside: (value: unknown, path: string, reading: Reading) => string | undefined): S {
  return { ...shape, inside: (value, path, reading) => withStop(inside(value, path, reading)) }
}

/** `shape`, which a caller is told of as `expected`. */
/* @__NO_SIDE_EFFECTS__ */
export function toldAs<S extends Shape>(shape: S, expected: string): S {
  return { ...shape, expected }
}

/** `shape`; of a value that is none, `instead` may know what it is. */
/* @__NO_SIDE_EFFECTS__ */
export function withInstead<S extends Shape>(shape: S, instead: (value: unknown, path: string) => string | undefined): S {
  return { ...shape, instead }
}

/**
 * An object of these fields. It may have others, which are carried unseen. `relied` are those that readers of a log of another version rely on;
 * a message that was stored must not vanish because of a detail that only a model cares about.
 */
/* @__NO_SIDE_EFFECTS__ */
export function object<T, G = T>(fields: TableFor<T>, relied?: readonly (keyof T & string)[]): GivenShape<T, G> {
  return objectOf(fields, { isOpen: true, isPartial: false, ...(relied && { relied }) })
}

/** As {@link object}, of a type without a name of its own. */
/* @__NO_SIDE_EFFECTS__ */
export function fieldsOf<F extends Fields>(fields: F): GivenShape<Flat<FieldsOf<F>>, Flat<GivenOf<F>>> {
  return objectOf(fields, { isOpen: true, isPartial: false })
}

/** As {@link object}, of which any field may be left out. */
/* @__NO_SIDE_EFFECTS__ */
export function partial<T>(fields: TableFor<T>): ShapeOf<Partial<T>> {
  return objectOf(fields, { isOpen: true, isPartial: true })
}

/** An object of options: each may be left out that is not `required`, and others are refused, unless it `isOpen`. */
/* @__NO_SIDE_EFFECTS__ */
export function options<Options>(table: OptionTable<Options>, isOpen = false): Shape {
  return objectOf(table, { isOpen, isPartial: true })
}

function objectOf(fields: Fields, rest: Pick<ObjectForm, 'isOpen' | 'isPartial' | 'relied'>): Shape {
  return { expected: 'an object', form: { of: 'object', fields, entries: Object.entries(fields), ...rest } }
}

/** Unions read better without the intersections that they are made of. */
type Flat<T> = { [K in keyof T]: T[K] }
type Variants = Readonly<Record<string, Fields | Shape>>
type Variant<Tag extends string, K, V> = V extends Shape ? Infer<V> : Flat<{ [_ in Tag]: K } & FieldsOf<V>>
type GivenVariant<Tag extends string, K, V> = V extends Shape ? Given<V> : Flat<{ [_ in Tag]: K } & GivenOf<V>>

/** An object whose text `tag` picks the shape, or the fields beside it. `passes`: which values pass whose tag is none of these. */
/* @__NO_SIDE_EFFECTS__ */
export function tagged<Tag extends string, V extends Variants>(
  tag: Tag,
  variants: V,
  passes: OtherTags = 'none',
): GivenShape<{ [K in keyof V]: Variant<Tag, K, V[K]> }[keyof V], { [K in keyof V]: GivenVariant<Tag, K, V[K]> }[keyof V]> {
  const words = required(oneOf(...Object.keys(variants)))
  const shapes = Object.entries(variants).map(([word, given]): [string, Shape] => {
    return [word, isShape(given) ? given : fieldsOf({ [tag]: required(oneOf(word)), ...given })]
  })
  return {
    expected: `an object with ${tag} ${words.expected}`,
    form: { of: 'tagged', tag, variants: new Map(shapes), words, passes },
  }
}

/** The tags of a tagged union. */
export function tagsOf<T>({ form }: ShapeOf<T>): readonly TagOf<T>[] {
  return (form.of === 'tagged' ? [...form.variants.keys()] : []) as TagOf<T>[] // the type is that of the variants
}

type TagOf<T> = T extends { readonly type: infer Tag extends string } ? Tag : string

function isShape(given: Fields | Shape): given is Shape {
  return typeof given.expected === 'string'
}

/** `shape`, an object or a tagged one, that may have no other keys: as an option, where a mistyped name must not pass for data. */
/* @__NO_SIDE_EFFECTS__ */
export function closed<S extends Shape>(shape: S): S {
  const { form } = shape
  if (form.of === 'object') return { ...shape, form: { ...form, isOpen: false } }
  if (form.of !== 'tagged') return shape
  return { ...shape, form: { ...form, variants: new Map([...form.variants].map(([word, variant]) => [word, closed(variant)])) } }
}

function withStop(sentence: string | undefined): string | undefined {
  return sentence === undefined || sentence.endsWith('.') ? sentence : `${sentence}.`
}
