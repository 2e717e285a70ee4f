import { isObject } from '../json.ts'
import { isPlain, shown } from './json-fault.ts'
import { meant, nearest } from './nearest-name.ts'
import type { Form, ObjectForm, Reading, Shape } from './shape.ts'

/** First validation error of a value, with its location. */
export interface Fault {
  /**
   * `misfit`: not of the shape. `inside`, `instead`: the shape itself describes the error. `unknown`: unknown option. `prototype`: a
   * `__proto__` key.
   */
  kind: 'misfit' | 'inside' | 'instead' | 'unknown' | 'prototype'
  /** Path without the root name: `.content[0].type`. */
  path: string
  value: unknown
  shape: Shape
}

/** Returns the first validation error of `value`, or `undefined`. Builds the path only on error. */
export function faultIn(shape: Shape, value: unknown, reading: Reading): Fault | undefined {
  const { form, inside, instead } = shape
  const fault = faultInForm(form, shape, value, reading)
  if (fault !== undefined && reading === 'given' && instead?.(value, '') !== undefined) return { kind: 'instead', path: '', value, shape }
  if (fault !== undefined || inside === undefined) return fault
  return inside(value, '', reading) === undefined ? undefined : { kind: 'inside', path: '', value, shape }
}

function faultInForm(form: Form, shape: Shape, value: unknown, reading: Reading): Fault | undefined {
  switch (form.of) {
    case 'value':
      return form.fits(value) ? undefined : misfit(shape, value)
    case 'word':
      return typeof value === 'string' && form.words.includes(value) ? undefined : misfit(shape, value)
    case 'object':
      // Report a missing `await`, because an error about the promise's fields would mislead.
      if (reading === 'given' && value instanceof Promise) return misfit(shape, value)
      return isObject(value) ? faultInObject(form, shape, value, reading) : misfit(shape, value)
    case 'tagged':
      return isObject(value) ? faultInTagged(form, value, reading) : misfit(shape, value)
    case 'list':
      return Array.isArray(value) ? faultInList(form.item, value, reading) : misfit(shape, value)
    case 'record':
      return isObject(value) ? faultInRecord(form.item, value, reading) : misfit(shape, value)
    case 'either':
      return faultInEither(form.shapes, shape, value, reading)
    case 'written':
      if (reading !== 'given') return faultIn(form.whole, value, reading)
      return faultInEither([form.short, form.whole], shape, value, reading)
  }
}

function misfit(shape: Shape, value: unknown): Fault {
  return { kind: 'misfit', path: '', value, shape }
}

function below(step: string, fault: Fault): Fault {
  fault.path = `${step}${fault.path}`
  return fault
}

function faultInObject(form: ObjectForm, shape: Shape, value: object, reading: Reading): Fault | undefined {
  // Copying a `__proto__` key by assignment would change the copy's prototype.
  if (Object.hasOwn(value, '__proto__')) return { kind: 'prototype', path: '.__proto__', value: Reflect.get(value, '__proto__'), shape }
  const relied = reading === 'logged' ? form.relied : undefined
  for (const [name, field] of form.entries) {
    if (relied?.includes(name) === false) continue
    const part: unknown = Reflect.get(value, name)
    if (part === undefined && mayLack(field, form, reading)) continue
    const fault = faultIn(field, part, reading)
    if (fault === undefined) continue
    const stray = part === undefined && reading === 'given' ? strayFor(name, form, value) : undefined
    return stray === undefined ? below(`.${name}`, fault) : unknownKey(stray, value, shape)
  }
  // Class instances may have other fields.
  if (form.isOpen || !isPlain(value)) return undefined
  const unknown = Object.keys(value).find((key) => !Object.hasOwn(form.fields, key))
  return unknown === undefined ? undefined : unknownKey(unknown, value, shape)
}

function unknownKey(key: string, value: object, shape: Shape): Fault {
  return { kind: 'unknown', path: `.${key}`, value: Reflect.get(value, key), shape }
}

/** Returns the key of `value` that is probably a misspelled `name`. */
function strayFor(name: string, { fields }: ObjectForm, value: object): string | undefined {
  return Object.keys(value).find((key) => !Object.hasOwn(fields, key) && meant(key, Object.keys(fields)) === name)
}

function mayLack(field: Shape, { isPartial }: ObjectForm, reading: Reading): boolean {
  if (field.isOptional === true || (isPartial && field.isRequired !== true)) return true
  return reading === 'given' && field.fill !== undefined
}

function faultInTagged({ tag, variants, words, passes }: Form & { of: 'tagged' }, value: object, reading: Reading): Fault | undefined {
  const word: unknown = Reflect.get(value, tag)
  const variant = typeof word === 'string' ? variants.get(word) : undefined
  if (variant !== undefined) return faultIn(variant, value, reading)
  if (typeof word === 'string' && (passes === 'all' || passes === reading)) return undefined
  // Report a `__proto__` key first.
  if (Object.hasOwn(value, '__proto__'))
    return below('.__proto__', { ...misfit(words, Reflect.get(value, '__proto__')), kind: 'prototype' })
  return below(`.${tag}`, misfit(words, word))
}

function faultInList(item: Shape, list: readonly unknown[], reading: Reading): Fault | undefined {
  // Iterate by index to find holes, which JSON does not support.
  for (let at = 0; at < list.length; at += 1) {
    const fault = faultIn(item, list[at], reading)
    if (fault !== undefined) return below(`[${at}]`, fault)
  }
  return undefined
}

function faultInRecord(item: Shape, record: object, reading: Reading): Fault | undefined {
  for (const [name, part] of Object.entries(record)) {
    const fault = faultIn(item, part, reading)
    if (fault !== undefined) return below(`.${name}`, fault)
  }
  return undefined
}

function faultInEither(shapes: readonly Shape[], shape: Shape, value: unknown, reading: Reading): Fault | undefined {
  let inner: Fault | undefined
  for (const each of shapes) {
    const fault = faultIn(each, value, reading)
    if (fault === undefined) return undefined
    if (fault.kind !== 'misfit' || fault.path !== '') inner = fault
  }
  return inner ?? misfit(shape, value)
}

/** Describes a fault in `name` to a caller: path, value, expected type, and the nearest known name. Redacts secrets. */
export function describeGivenFault({ kind, path, value, shape }: Fault, name: string): string {
  const place = placeOf(name, path)
  if (kind === 'inside') return shape.inside?.(value, place, 'given') ?? ''
  if (kind === 'instead') return shape.instead?.(value, place) ?? ''
  if (kind === 'prototype') return `${place} is ${shown(value, place)}; this key is not allowed.`
  if (kind === 'misfit') {
    const near = shape.form.of === 'word' && typeof value === 'string' ? meant(value, shape.form.words) : undefined
    return `${place || 'options'} is ${shown(value, place)}; it must be ${shape.expected}.${near === undefined ? '' : ` Did you mean ${near}?`}`
  }
  const key = path.slice(path.lastIndexOf('.') + 1)
  const within = placeOf(name, path.slice(0, path.lastIndexOf('.')))
  return `${key} (${shown(value, key)}) is not an option${within && ` of ${within}`}. ${nearest(key, namesIn(shape))}`
}

/**
 * Describes a fault in stored data: path, expected type, and actual type. Quotes only an invalid word, up to 40 characters. Other values
 * may be private.
 */
export function describeStoredFault({ kind, path, value, shape }: Fault, name: string): string {
  const place = placeOf(name, path)
  if (kind === 'inside') return shape.inside?.(value, place, 'stored')?.replace(/\.$/, '') ?? ''
  if (typeof value === 'number' && !Number.isFinite(value)) return `${place} is ${value}, which JSON cannot represent`
  const expected = kind === 'misfit' ? typeOf(shape) : 'no such key'
  return expectation(place, expected, value, kind === 'misfit' && shape.form.of === 'word')
}

/** `path: expected …, got …`. `isWord`: quotes a string. */
export function expectation(path: string, expected: string, value: unknown, isWord = false): string {
  const got = isWord && typeof value === 'string' ? JSON.stringify(value.slice(0, 40)) : jsonType(value)
  return `${path}: expected ${expected}, got ${got}`
}

/** Returns the JSON type of `value`, or `nothing` for `undefined`. */
export function jsonType(value: unknown): string {
  if (value === undefined) return 'nothing'
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
}

function typeOf({ form, expected }: Shape): string {
  switch (form.of) {
    case 'value':
      return form.type
    case 'word':
      return form.words.join('|')
    case 'list':
      return 'array'
    case 'either':
      return form.shapes.map(typeOf).join('|')
    case 'written':
      return typeOf(form.whole)
    default:
      return expected === '' ? '' : 'object'
  }
}

/** Returns the option names of a shape, with paths for nested ones. */
function namesIn({ form }: Shape): string[] {
  if (form.of === 'either') return form.shapes.flatMap(namesIn)
  if (form.of !== 'object') return []
  return form.entries.flatMap(([key, field]) => [key, ...namesWithin(field).map((inner) => `${key}.${inner}`)])
}

/** Returns the names within an option, or none for open data. */
function namesWithin(field: Shape): string[] {
  return field.form.of === 'object' && field.form.isOpen ? [] : namesIn(field)
}

function placeOf(name: string, path: string): string {
  return name === '' && path.startsWith('.') ? path.slice(1) : `${name}${path}`
}
