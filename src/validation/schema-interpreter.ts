import { resolveRef } from '../base/json/json-value.ts'
import { isObject, type JsonSchema } from '../contract/json.ts'
import type { SchemaIssue } from '../types/standard-schema.ts'
import type { EnforcedFormat } from './enforceable-schema.ts'
import { addIssue, type Found, notAllowed, type PlainKeywords, visitPlain } from './flat-schema.ts'
import { cut, json } from './format-issues.ts'
import { formatChecks } from './formats.ts'
import { type LinearPattern, linearPattern, maxCheckSteps } from './linear-pattern.ts'

/** Any schema that `enforceableSchema` returns. */
interface Schema extends PlainKeywords {
  $ref?: string
  allOf?: readonly Subschema[]
  anyOf?: readonly Subschema[]
  oneOf?: readonly Subschema[]
  not?: Subschema
  if?: Subschema
  then?: Subschema
  else?: Subschema
  properties?: Readonly<Record<string, Subschema>>
  patternProperties?: Readonly<Record<string, Subschema>>
  additionalProperties?: Subschema
  unevaluatedProperties?: Subschema
  propertyNames?: Subschema
  dependentSchemas?: Readonly<Record<string, Subschema>>
  dependentRequired?: Readonly<Record<string, readonly string[]>>
  prefixItems?: readonly Subschema[]
  items?: Subschema
  unevaluatedItems?: Subschema
  contains?: Subschema
  minContains?: number
  maxContains?: number
  uniqueItems?: boolean
  multipleOf?: number
  pattern?: string
  format?: EnforcedFormat
}
type Subschema = Schema | boolean

/**
 * Returns a check for `root`, any enforceable schema, which returns issues or `undefined`. Interprets, so it works without code generation.
 * The `path` of an issue includes a missing or forbidden property. Throws for values that are not JSON, and `RangeError` if a check takes
 * too many steps.
 */
export function interpret(root: JsonSchema): (value: unknown) => SchemaIssue[] | undefined {
  const known: Known = { patterns: new Map(), targets: new Map() }
  return (value) => {
    const found: Found = { issues: [], path: [] }
    new Check(root, known).visit(root, value, found, undefined)
    return found.issues.length === 0 ? undefined : found.issues
  }
}

/** Data derived from a schema, shared by all checks. */
interface Known {
  patterns: Map<string, LinearPattern>
  /** Resolved references. */
  targets: Map<string, Subschema>
}

/** Cost of one visit in pattern steps, so that the step limit always takes about the same time. */
const visitSteps = 8

/** Properties and items that a keyword has evaluated, for `unevaluatedProperties` and `unevaluatedItems`. */
class Seen {
  readonly names = new Set<string>()
  readonly items = new Set<number>()

  add(other: Seen | undefined): void {
    for (const name of other?.names ?? []) this.names.add(name)
    for (const item of other?.items ?? []) this.items.add(item)
  }
}

/** Check of one value. */
class Check {
  readonly #root: JsonSchema
  readonly #known: Known
  #left = maxCheckSteps

  constructor(root: JsonSchema, known: Known) {
    this.#root = root
    this.#known = known
  }

  visit(schema: Subschema, value: unknown, found: Found, outer: Seen | undefined): void {
    if (schema === true) return
    if (schema === false) {
      addIssue(found, 'is not allowed')
      return
    }
    this.#spend(visitSteps + (Array.isArray(value) || typeof value === 'string' ? value.length : 0))
    const looksBack = schema.unevaluatedProperties !== undefined || schema.unevaluatedItems !== undefined
    const seen = looksBack ? new Seen() : outer
    let text: string | undefined
    visitPlain(schema, value, found, (other) => {
      text ??= this.#canonical(value)
      return this.#canonical(other) === text
    })
    this.#combined(schema, value, found, seen)
    if (typeof value === 'string') this.#text(schema, value, found)
    else if (typeof value === 'number') this.#number(schema, value, found)
    else if (Array.isArray(value)) this.#array(schema, value, found, seen)
    else if (isObject(value)) this.#object(schema, value, found, seen)
    if (looksBack) outer?.add(seen)
  }

  #spend(steps: number): void {
    this.#left -= steps
    if (this.#left < 0) throw new RangeError('Validating the value takes too long.')
  }

  #target(ref: string): Subschema {
    const { targets } = this.#known
    // `enforceableSchema` has verified every reference.
    const target = targets.get(ref) ?? (resolveRef(this.#root, ref) as Subschema)
    targets.set(ref, target)
    return target
  }

  #canonical(value: unknown): string {
    const text = canonical(value)
    this.#spend(text.length)
    return text
  }

  #inside(schema: Subschema, key: PropertyKey, value: unknown, found: Found, others: object = {}): void {
    found.path.push(key)
    if (schema === false) addIssue(found, notAllowed(others))
    else this.visit(schema, value, found, undefined)
    found.path.pop()
  }

  /** Checks `value` against `schema` separately. Returns its issues and what it evaluated. */
  #apart(schema: Subschema, value: unknown, { path }: Found, seen: Seen | undefined): { issues: SchemaIssue[]; seen: Seen | undefined } {
    const apart: Found = { issues: [], path: [...path] }
    const own = seen === undefined ? undefined : new Seen()
    this.visit(schema, value, apart, own)
    return { issues: apart.issues, seen: own }
  }

  #combined(schema: Schema, value: unknown, found: Found, seen: Seen | undefined): void {
    const { $ref, allOf = [], anyOf, oneOf, not } = schema
    if ($ref !== undefined) this.visit(this.#target($ref), value, found, seen)
    if (not !== undefined && this.#apart(not, value, found, undefined).issues.length === 0)
      addIssue(found, 'matches a form that is excluded')
    if (anyOf !== undefined && this.#matches(anyOf, value, found, seen) === 0) this.#matchesNone(anyOf, value, found)
    for (const each of allOf) this.visit(each, value, found, seen)
    if (oneOf !== undefined) {
      const count = this.#matches(oneOf, value, found, seen)
      if (count === 0) this.#matchesNone(oneOf, value, found)
      else if (count > 1) addIssue(found, `matches ${count} of the forms, of which one alone is allowed`)
    }
    this.#condition(schema, value, found, seen)
  }

  #matches(forms: readonly Subschema[], value: unknown, found: Found, seen: Seen | undefined): number {
    let count = 0
    for (const form of forms) {
      const apart = this.#apart(form, value, found, seen)
      if (apart.issues.length > 0) continue
      count += 1
      seen?.add(apart.seen)
    }
    return count
  }

  #matchesNone(forms: readonly Subschema[], value: unknown, found: Found): void {
    const reasons = new Set<string>()
    for (const form of forms) {
      for (const { path = [], message } of this.#apart(form, value, found, undefined).issues) {
        const rest = path.slice(found.path.length).map((key) => String(typeof key === 'object' ? key.key : key))
        if (reasons.size < 5) reasons.add(rest.length === 0 ? message : `${rest.join('.')}: ${message}`)
      }
    }
    addIssue(found, `matches none of the allowed forms (${[...reasons].join('; ')})`)
  }

  #condition(schema: Schema, value: unknown, found: Found, seen: Seen | undefined): void {
    if (schema.if === undefined) return
    const condition = this.#apart(schema.if, value, found, seen)
    const holds = condition.issues.length === 0
    if (holds) seen?.add(condition.seen)
    const branch = holds ? schema.then : schema.else
    if (branch !== undefined) this.visit(branch, value, found, seen)
  }

  #number({ multipleOf }: Schema, value: number, found: Found): void {
    if (multipleOf !== undefined && !isMultiple(value, multipleOf, (digits) => this.#spend(digits)))
      addIssue(found, `expected a multiple of ${multipleOf}, got ${value}`)
  }

  #text({ pattern, format }: Schema, value: string, found: Found): void {
    if (pattern !== undefined && !this.#occurs(pattern, value))
      addIssue(found, `expected a string matching /${cut(pattern)}/, got ${json(value)}`)
    if (format === undefined) return
    this.#spend(value.length)
    if (!formatChecks[format](value)) addIssue(found, `expected a string in the format ${format}, got ${json(value)}`)
  }

  #occurs(source: string, value: string): boolean {
    const { patterns } = this.#known
    let pattern = patterns.get(source)
    if (pattern === undefined) {
      pattern = linearPattern(source)
      patterns.set(source, pattern)
    }
    return pattern.occursIn(value, (steps) => this.#spend(steps))
  }

  #array(schema: Schema, value: readonly unknown[], found: Found, seen: Seen | undefined): void {
    const { prefixItems = [], items, contains, uniqueItems, unevaluatedItems } = schema
    for (const [index, item] of value.entries()) {
      const own = prefixItems[index] ?? items
      if (own === undefined) continue
      seen?.items.add(index)
      if (own !== true) this.#inside(own, index, item, found)
    }
    if (contains !== undefined) this.#contains(contains, schema, value, found, seen)
    if (uniqueItems === true && new Set(value.map((item) => this.#canonical(item))).size < value.length)
      addIssue(found, 'expected no two equal items')
    if (unevaluatedItems === undefined) return
    for (const [index, item] of value.entries()) {
      if (seen?.items.has(index) !== true) this.#inside(unevaluatedItems, index, item, found)
      seen?.items.add(index)
    }
  }

  #contains(contains: Subschema, schema: Schema, value: readonly unknown[], found: Found, seen: Seen | undefined): void {
    const { minContains = 1, maxContains = Number.POSITIVE_INFINITY } = schema
    const fitting = value.flatMap((item, index) => (this.#apart(contains, item, found, undefined).issues.length === 0 ? [index] : []))
    for (const index of fitting) seen?.items.add(index)
    if (fitting.length < minContains) addIssue(found, `expected at least ${minContains} items of one form, got ${fitting.length}`)
    if (fitting.length > maxContains) addIssue(found, `expected at most ${maxContains} items of one form, got ${fitting.length}`)
  }

  #object(schema: Schema, value: Readonly<Record<string, unknown>>, found: Found, seen: Seen | undefined): void {
    const { properties = {}, propertyNames, dependentRequired = {}, dependentSchemas = {} } = schema
    for (const [name, wanted] of Object.entries(dependentRequired)) {
      if (!Object.hasOwn(value, name)) continue
      for (const other of wanted)
        if (!Object.hasOwn(value, other)) addIssue(found, `${JSON.stringify(other)} is required beside ${JSON.stringify(name)}`)
    }
    for (const [name, own] of Object.entries(dependentSchemas)) if (Object.hasOwn(value, name)) this.visit(own, value, found, seen)
    if (propertyNames !== undefined) this.#names(propertyNames, value, found)
    for (const [name, own] of Object.entries(properties)) {
      if (!Object.hasOwn(value, name)) continue
      seen?.names.add(name)
      if (own !== true) this.#inside(own, name, value[name], found)
    }
    this.#others(schema, value, found, seen)
  }

  #names(propertyNames: Subschema, value: object, found: Found): void {
    for (const name of Object.keys(value)) {
      const [issue] = this.#apart(propertyNames, name, found, undefined).issues
      if (issue !== undefined) addIssue(found, `the key ${JSON.stringify(name.slice(0, 100))} is not allowed: ${issue.message}`)
    }
  }

  /** Checks pattern, additional and unevaluated properties. */
  #others(schema: Schema, value: Readonly<Record<string, unknown>>, found: Found, seen: Seen | undefined): void {
    const { properties = {}, patternProperties = {}, additionalProperties, unevaluatedProperties } = schema
    const patterns = Object.entries(patternProperties)
    if (patterns.length === 0 && additionalProperties === undefined && unevaluatedProperties === undefined) return
    for (const name of Object.keys(value)) {
      const fitting = patterns.filter(([pattern]) => this.#occurs(pattern, name))
      for (const [, own] of fitting) this.#inside(own, name, value[name], found)
      const isDeclared = fitting.length > 0 || Object.hasOwn(properties, name)
      if (!isDeclared && additionalProperties !== undefined) this.#inside(additionalProperties, name, value[name], found, properties)
      if (isDeclared || additionalProperties !== undefined) seen?.names.add(name)
      if (unevaluatedProperties === undefined || seen?.names.has(name) === true) continue
      seen?.names.add(name)
      this.#inside(unevaluatedProperties, name, value[name], found)
    }
  }
}

/** Uses decimals: in binary fractions, 0.3 is not a multiple of 0.1. `spend` gets the number of digits. */
function isMultiple(value: number, of: number, spend: (digits: number) => void): boolean {
  if (!Number.isFinite(value)) return false
  const [a, b] = [decimal(value), decimal(of)]
  const least = Math.min(a.exponent, b.exponent)
  spend(Math.max(a.exponent, b.exponent) - least)
  const scaled = ({ digits, exponent }: typeof a): bigint => digits * 10n ** BigInt(exponent - least)
  return scaled(a) % scaled(b) === 0n
}

function decimal(value: number): { digits: bigint; exponent: number } {
  const [whole = '', exponent = '0'] = value.toExponential().split('e')
  const [units, fraction = ''] = whole.split('.')
  return { digits: BigInt(`${units}${fraction}`), exponent: Number(exponent) - fraction.length }
}

/** Returns the same text for equal values, whatever the order of their keys. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (!isObject(value)) return typeof value === 'string' ? JSON.stringify(value) : String(value === 0 ? 0 : value)
  return `{${Object.keys(value)
    .toSorted()
    .map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`)
    .join(',')}}`
}
