/**
 * Declares every data shape once, as a table of fields. The table yields the type (`FieldsOf`, `Infer`, `Given`), the validators of
 * `read.ts`, the lists of words and fields, and the options that callers may pass.
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
 * Validation mode. `given`: caller input, in which fields with defaults may be missing. `stored`: complete data. `logged`: data of any
 * version, checked only for the fields that readers rely on.
 */
export type Reading = 'given' | 'stored' | 'logged'

/** Describes valid values. */
export interface Shape {
  /** Description that completes the phrase "it must be". */
  readonly expected: string
  readonly form: Form
  /** Runs an additional check. Returns a sentence that starts with `path`, or `undefined` if the value is valid. */
  inside?(value: unknown, path: string, reading: Reading): string | undefined
  /** Returns a correction for a recognised invalid value. */
  instead?(value: unknown, path: string): string | undefined
  /** The field may be omitted. */
  readonly isOptional?: true
  /** The option is required. */
  readonly isRequired?: true
  /** Returns the default of an omitted field. `rest` is the surrounding object so far. */
  fill?(rest: object): unknown
}

/** Carries a static type for {@link FieldsOf}. */
export interface Carries<T> {
  readonly [carried]?: (value: T) => T
}

/** A shape with its static type. */
export interface ShapeOf<T> extends Shape, Carries<T> {}

/** A shape that also accepts a shorter form `G` from callers. */
export interface GivenShape<T, G> extends ShapeOf<T> {
  readonly [given]?: G
}

/** An enumeration of words. */
export interface Word<W extends string> extends ShapeOf<W> {
  readonly words: readonly W[]
}

/** Marks a field that may be omitted. */
export interface Optional {
  readonly isOptional: true
}

/** Marks a field that callers may omit, because it has a default. */
export interface Filled {
  fill(rest: object): unknown
}

/** A shape's structure. */
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

/** Range of valid numbers. */
interface Range {
  readonly least: number
  readonly most?: number
  readonly isWhole: boolean
}

/** An object's structure. */
export interface ObjectForm {
  readonly of: 'object'
  readonly fields: Fields
  /** The fields as entries, for iteration. */
  readonly entries: readonly (readonly [string, Shape])[]
  /** Whether unknown keys are allowed. True for data, so that older versions preserve the keys of newer ones. */
  readonly isOpen: boolean
  /** Whether all fields are optional. */
  readonly isPartial: boolean
  /** Fields that readers of other versions' logs rely on. Default: all. */
  readonly relied?: readonly string[]
}

/** Which unknown tags of a tagged union are accepted: none, those in a log, or all. */
type OtherTags = 'none' | 'logged' | 'all'

/** Table of fields and their shapes. */
export type Fields = Readonly<Record<string, Shape>>

/** Static type of `S`. */
export type Infer<S> = S extends { readonly [carried]?: (value: infer T) => unknown } ? T : unknown
/** Static type of caller input for `S`. */
export type Given<S> = S extends { readonly [given]?: infer G } ? (unknown extends G ? Infer<S> : G) : Infer<S>

/** Static type of an object with these fields. */
export type FieldsOf<F> = { [K in keyof F as F[K] extends Optional ? never : K]: Infer<F[K]> } & {
  [K in keyof F as F[K] extends Optional ? K : never]?: Infer<F[K]>
}
/** Static type of caller input for an object with these fields. */
export type GivenOf<F> = { [K in keyof F as F[K] extends Optional | Filled ? never : K]: Given<F[K]> } & {
  [K in keyof F as F[K] extends Optional | Filled ? K : never]?: Given<F[K]>
}

/** Requires one shape per key of `T`, checked by the compiler. */
type TableFor<T> = { readonly [K in keyof T]-?: ShapeOf<Exclude<T[K], undefined>> }

/** Requires one shape per option, checked by the compiler. */
export type OptionTable<Options> = { readonly [Name in keyof Required<Options>]: Shape }

/** Creates a shape from a predicate. `type` is its name for readers of stored data. */
/* @__NO_SIDE_EFFECTS__ */
export function kind<T>(expected: string, fits: (value: unknown) => boolean, type: string = expected): ShapeOf<T> {
  return { expected, form: { of: 'value', type, fits } }
}

/** Any value. */
export const anything: Shape = kind('anything', () => true)
/** A string, possibly empty. */
export const aText: ShapeOf<string> = kind('a text', (value) => typeof value === 'string', 'string')
/** A boolean. */
export const aFlag: ShapeOf<boolean> = kind('true or false', (value) => typeof value === 'boolean', 'boolean')
/** The value `true`. */
export const isTrue: ShapeOf<true> = kind('true', (value) => value === true)
/** A function. */
export const aFunction: Shape = kind('a function', (value) => typeof value === 'function')
/** An object that is not an array. */
export const anObject: ShapeOf<object> = kind('an object', isObject, 'object')
/** An object or a function. Some schema libraries represent schemas as functions. */
export const aSchema: Shape = kind('a Standard Schema or a JSON Schema', (value) => isObject(value) || typeof value === 'function')
/** A number except NaN. */
export const aNumber: ShapeOf<number> = kind('a number', (value) => typeof value === 'number' && !Number.isNaN(value), 'number')
/** A number from 0, including infinity. */
export const aNumberFromZero: ShapeOf<number> = kind('a number from 0', (value) => typeof value === 'number' && value >= 0)
/** A number greater than 0, including infinity. */
export const aPositiveNumber: ShapeOf<number> = kind(
  'a number greater than 0, or left out',
  (value) => typeof value === 'number' && value > 0,
)
/** An `AbortSignal`, not a controller. */
export const aSignal: Shape = kind(
  'an AbortSignal, such as controller.signal',
  (value) => isObject(value) && typeof value.aborted === 'boolean' && typeof value.addEventListener === 'function',
)
/** A JSON value of at most 200 levels. */
export const json: ShapeOf<JsonValue> = withInside(
  kind('JSON', (value) => value !== undefined, 'JSON value'),
  (value, path) => jsonFault(value, path),
)
/** A plain JSON object of at most 200 levels. */
export const aJsonObject: ShapeOf<JsonObject> = withInside(kind('an object', isObject, 'object'), (value, path) => jsonFault(value, path))
/** A JSON Schema in object form. */
export const aJsonSchema: ShapeOf<JsonSchema> = withInside(kind('an object', isObject, 'object'), (value, path) => jsonFault(value, path))

/** A whole number of at least `least`. */
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

/** Returns the field names of a table. */
/* @__NO_SIDE_EFFECTS__ */
export function namesOf<F extends object>(fields: F): readonly (keyof F & string)[] {
  return Object.keys(fields) as (keyof F & string)[] // shape tables have only literal keys
}

/** Any string. `W` are the words with a meaning here. */
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

/** An array of `item`. */
/* @__NO_SIDE_EFFECTS__ */
export function listOf<S extends Shape>(item: S): GivenShape<Infer<S>[], readonly Given<S>[]> {
  return { expected: 'a list', form: { of: 'list', item } }
}

/** {@link listOf} for readonly arrays. */
/* @__NO_SIDE_EFFECTS__ */
export function fixedListOf<S extends Shape>(item: S): ShapeOf<readonly Infer<S>[]> {
  return { expected: 'a list', form: { of: 'list', item } }
}

/** An object with any keys whose values are `item`. */
/* @__NO_SIDE_EFFECTS__ */
export function recordOf<S extends Shape>(item: S): ShapeOf<Record<string, Infer<S>>> {
  return { expected: 'an object', form: { of: 'record', item } }
}

/** An object whose values are strings, such as headers. */
export const texts: ShapeOf<Record<string, string>> = { ...recordOf(aText), expected: 'an object of texts' }

/** One of several shapes. If no shape matches, reports the error of the last shape with a matching form. */
/* @__NO_SIDE_EFFECTS__ */
export function either<S extends readonly Shape[]>(...shapes: S): ShapeOf<Infer<S[number]>> {
  return { expected: shapes.map(({ expected }) => expected).join(', or '), form: { of: 'either', shapes } }
}

/** Accepts `whole` or, from callers, a short form that `complete` converts. */
/* @__NO_SIDE_EFFECTS__ */
export function written<S extends Shape, H>(
  whole: S,
  short: ShapeOf<H>,
  complete: (short: H) => Infer<S>,
): GivenShape<Infer<S>, Given<S> | H> {
  const form: Form = { of: 'written', short, whole, complete: (value) => complete(value as H) } // only values that match `short` reach this line
  return { expected: `${short.expected}, or ${whole.expected}`, form }
}

/** A field that may be omitted. */
/* @__NO_SIDE_EFFECTS__ */
export function optional<S extends Shape>(shape: S): S & Optional {
  return { ...shape, isOptional: true }
}

/** A field that callers may omit: `fill` returns the default. Stored data always contains the field. */
/* @__NO_SIDE_EFFECTS__ */
export function filled<S extends Shape, Rest extends object = object>(shape: S, fill: (rest: Rest) => Infer<S>): S & Filled {
  return { ...shape, fill }
}

/** A required option. */
/* @__NO_SIDE_EFFECTS__ */
export function required<S extends Shape>(shape: S): S {
  return { ...shape, isRequired: true }
}

/** Adds the check `inside` to a shape. */
/* @__NO_SIDE_EFFECTS__ */
export function withInside<S extends Shape>(shape: S, inside: (value: unknown, path: string, reading: Reading) => string | undefined): S {
  return { ...shape, inside: (value, path, reading) => withStop(inside(value, path, reading)) }
}

/** Describes a shape to callers as `expected`. */
/* @__NO_SIDE_EFFECTS__ */
export function withExpected<S extends Shape>(shape: S, expected: string): S {
  return { ...shape, expected }
}

/** Adds a correction for recognised invalid values. */
/* @__NO_SIDE_EFFECTS__ */
export function withInstead<S extends Shape>(shape: S, instead: (value: unknown, path: string) => string | undefined): S {
  return { ...shape, instead }
}

/**
 * An object with these fields and possibly others. `relied` lists the fields that readers of other versions' logs need, so an invalid
 * detail that only a model needs does not hide a stored message.
 */
/* @__NO_SIDE_EFFECTS__ */
export function object<T, G = T>(fields: TableFor<T>, relied?: readonly (keyof T & string)[]): GivenShape<T, G> {
  return objectOf(fields, { isOpen: true, isPartial: false, ...(relied && { relied }) })
}

/** {@link object} for a type without a name. */
/* @__NO_SIDE_EFFECTS__ */
export function fieldsOf<F extends Fields>(fields: F): GivenShape<Flat<FieldsOf<F>>, Flat<GivenOf<F>>> {
  return objectOf(fields, { isOpen: true, isPartial: false })
}

/** {@link object} whose fields are all optional. */
/* @__NO_SIDE_EFFECTS__ */
export function partial<T>(fields: TableFor<T>): ShapeOf<Partial<T>> {
  return objectOf(fields, { isOpen: true, isPartial: true })
}

/** An object of options: all optional unless `required`. Unknown ones are rejected unless `isOpen`. */
/* @__NO_SIDE_EFFECTS__ */
export function options<Options>(table: OptionTable<Options>, isOpen = false): Shape {
  return objectOf(table, { isOpen, isPartial: true })
}

function objectOf(fields: Fields, rest: Pick<ObjectForm, 'isOpen' | 'isPartial' | 'relied'>): Shape {
  return { expected: 'an object', form: { of: 'object', fields, entries: Object.entries(fields), ...rest } }
}

/** Flattens intersections, for readable types. */
type Flat<T> = { [K in keyof T]: T[K] }
type Variants = Readonly<Record<string, Fields | Shape>>
type Variant<Tag extends string, K, V> = V extends Shape ? Infer<V> : Flat<{ [_ in Tag]: K } & FieldsOf<V>>
type GivenVariant<Tag extends string, K, V> = V extends Shape ? Given<V> : Flat<{ [_ in Tag]: K } & GivenOf<V>>

/** A union discriminated by `tag`. `passes`: the unknown tags to accept. */
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

/** Returns the tags of a tagged union. */
export function tagsOf<T>({ form }: ShapeOf<T>): readonly TagOf<T>[] {
  return (form.of === 'tagged' ? [...form.variants.keys()] : []) as TagOf<T>[] // the variants determine the type
}

type TagOf<T> = T extends { readonly type: infer Tag extends string } ? Tag : string

function isShape(given: Fields | Shape): given is Shape {
  return typeof given.expected === 'string'
}

/** Rejects unknown keys of an object or tagged union. Used for options, to find typos. */
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
