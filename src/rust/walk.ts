import { SessionError } from '../contract/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue, ownOf } from '../contract/json.ts'
import { fits, invalidMessages } from '../contract/shape/read.ts'
import { aNumber, aNumberFromZero, type Form, type Infer, type ObjectForm, type Shape } from '../contract/shape/shape.ts'
import { type FieldSpelling, type Spelling, styled } from './spelling.ts'
import { messageSpellings } from './tables/message.ts'
import { runSpellings } from './tables/run.ts'
import { sessionSpellings } from './tables/session.ts'
import { isFiner, readTime, writeTime } from './time.ts'
import { count, objectAt, plain } from './values.ts'

/** All spellings that differ in Rust. */
const dictionary: ReadonlyMap<Form, Spelling> = new Map<Form, Spelling>([...messageSpellings, ...runSpellings, ...sessionSpellings])

/** Forms that are whole numbers from 0 in Rust, unless a table says otherwise. */
const counts: ReadonlySet<Form> = new Set([aNumber.form, aNumberFromZero.form])

/** Keys that reading adds to our objects for writing. */
const kept = ['specTimes', 'specBlock', 'specEvent'] as const

function spellingOf(form: Form): Spelling {
  return dictionary.get(form) ?? {}
}

/**
 * Reads a value of `shape`. Keeps keys that neither side knows. Throws `SessionError` `invalidMessages` with the path of the first error.
 */
export function readSpec<S extends Shape>(shape: S, json: unknown, path: string): Infer<S> {
  return read(shape, json, path) as Infer<S> // Was just read by its shape.
}

function read(shape: Shape, json: unknown, path: string): unknown {
  const { form } = shape
  switch (form.of) {
    case 'value':
      if (counts.has(form)) return count.read(json, path)
      if (!form.fits(json)) throw invalidMessages(path, form.type, json)
      return json
    case 'word':
      return readWord(form, form.words, json, path)
    case 'object':
      return readObject(form, objectAt(json, path), path)
    case 'tagged':
      return spellingOf(form).isOutside ? readOutside(form, json, path) : readTagged(form, objectAt(json, path), path)
    case 'list':
      if (!Array.isArray(json)) throw invalidMessages(path, 'array', json)
      return json.map((item: unknown, at) => read(form.item, item, `${path}[${at}]`))
    case 'record':
      return Object.fromEntries(Object.entries(objectAt(json, path)).map(([key, item]) => [key, read(form.item, item, `${path}.${key}`)]))
    case 'written':
      return read(form.whole, json, path)
    case 'either':
      if (!fits(shape, json)) throw invalidMessages(path, shape.expected, json)
      return json
  }
}

function readWord(form: Form, ours: readonly string[], json: unknown, path: string): string {
  const { words: style, also = {}, ours: unknownThere = [] } = spellingOf(form)
  const theirs = ours.map((word) => styled(word, style))
  const word = ours[theirs.indexOf(String(json))] ?? new Map(Object.entries(also)).get(String(json))
  if (typeof json !== 'string' || word === undefined) {
    const known = theirs.filter((_, at) => !unknownThere.includes(ours[at] ?? ''))
    throw invalidMessages(path, known.join('|'), json, true)
  }
  return word
}

function readTagged(form: TaggedForm, spec: JsonObject, path: string): object {
  const { tag: there = form.tag } = spellingOf(form)
  const word = readWord(form, [...form.variants.keys()], ownOf(spec, there), `${path}.${there}`)
  return { ...readObject(variantOf(form, word), spec, path, form.tag), [form.tag]: word }
}

/** The tag is the only key around the fields, or a plain string. */
function readOutside(form: TaggedForm, json: unknown, path: string): object {
  const { words: style, ours = [] } = spellingOf(form)
  const choices: string[] = []
  for (const word of form.variants.keys()) {
    if (ours.includes(word)) continue
    const variant = variantOf(form, word)
    const there = styled(word, style)
    const isAlone = variant.entries.length === 1
    choices.push(isAlone ? there : `{${there}}`)
    if (isAlone && json === there) return { [form.tag]: word }
    const inside = !isAlone && isJsonObject(json) ? ownOf(json, there) : undefined
    if (inside !== undefined) {
      const at = `${path}.${there}`
      return { ...readObject(variant, objectAt(inside, at), at, form.tag), [form.tag]: word }
    }
  }
  const alone = choices.filter((choice) => !choice.startsWith('{'))
  throw invalidMessages(path, [...alone, ...choices.filter((choice) => !alone.includes(choice))].join('|'), json, true)
}

type TaggedForm = Form & { of: 'tagged' }

function variantOf({ variants }: TaggedForm, word: string): ObjectForm {
  const form = variants.get(word)?.form
  if (form?.of !== 'object') throw new TypeError(`The shape of ${word} has no table of fields.`)
  return form
}

/** A field and its spelling. */
interface Line {
  name: string
  there: string
  shape: Shape
  field: FieldSpelling<unknown>
  /** Whether it may be `null` or absent. */
  isOption: boolean
}

interface Lines {
  lines: readonly Line[]
  /** All names, ours and Rust's. */
  known: ReadonlySet<string>
}

const linesOfForm = new WeakMap<ObjectForm, Lines>()

function linesOf(form: ObjectForm): Lines {
  const made = linesOfForm.get(form)
  if (made !== undefined) return made
  const { names, fields = {} } = spellingOf(form)
  const lines = form.entries.map(([name, shape]): Line => {
    const field = fields[name] ?? {}
    const there = field.name ?? (field.extra === undefined ? styled(name, names) : name)
    return { name, there, shape, field, isOption: field.isOption ?? (field.missing === undefined && mayLack(shape, form)) }
  })
  const table = { lines, known: new Set([...lines.flatMap(({ name, there }) => [name, there]), ...kept, '__proto__']) }
  linesOfForm.set(form, table)
  return table
}

function mayLack({ isOptional, isRequired }: Shape, { isPartial }: ObjectForm): boolean {
  return isOptional === true || (isPartial && isRequired !== true)
}

/** `tag` has already been read. */
function readObject(form: ObjectForm, spec: JsonObject, path: string, tag?: string): Record<string, unknown> {
  const { lines, known } = linesOf(form)
  const value: Record<string, unknown> = {}
  const exactTimes: Record<string, string> = {}
  for (const line of lines) {
    const { name, there, field } = line
    if (name === tag) continue
    const part = ownOf(spec, there)
    if (field.as === 'time' && !(line.isOption && (part ?? null) === null)) {
      const time = readTime(part, `${path}.${there}`)
      value[name] = time.at
      if (isFiner(time)) exactTimes[there] = time.text
      continue
    }
    const own = readField(line, part, `${path}.${there}`)
    if (own !== undefined) value[name] = own
  }
  Object.assign(value, unknownKeys(spec, known))
  // Store times that are more precise than milliseconds, so that `toSpecJson` writes them back unchanged.
  if (Object.keys(exactTimes).length > 0) value.specTimes = exactTimes
  return spellingOf(form).read?.(value, spec) ?? value
}

function readField({ shape, field, isOption }: Line, part: JsonValue | undefined, path: string): unknown {
  if (part === null && isOption) return field.missing?.()
  if (part === undefined && (isOption || field.missing !== undefined || field.extra !== undefined)) return field.missing?.()
  switch (field.extra) {
    case 'native':
      return fits(shape, part) ? part : field.missing?.()
    case 'spelled':
      return attempt(() => readAs(shape, field, part, path)) ?? field.missing?.()
    default:
      return readAs(shape, field, part, path)
  }
}

function readAs(shape: Shape, { as = shape }: FieldSpelling<unknown>, part: unknown, path: string): unknown {
  if (as === 'time') return readTime(part, path).at
  return 'form' in as ? read(as, part, path) : as.read(part, path)
}

/** Returns the result of `reading`, or `undefined` if it throws. */
function attempt(reading: () => unknown): unknown {
  try {
    return reading()
  } catch (error) {
    if (SessionError.isInstance(error)) return undefined
    throw error
  }
}

/** Returns keys that newer versions or other programs wrote. Drops names that have a meaning on the other side. */
function unknownKeys(value: object, known: ReadonlySet<string>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([key, part]) => !known.has(key) && part !== undefined))
}

/** Writes a value of `shape` without validation. */
export function writeSpec(shape: Shape, value: unknown): JsonValue {
  const { form } = shape
  switch (form.of) {
    case 'word':
      return styled(String(value), spellingOf(form).words)
    case 'object':
      return isObject(value) ? writeObject(form, value) : null
    case 'tagged':
      return isObject(value) ? writeTagged(form, value) : null
    case 'list':
      return Array.isArray(value) ? value.map((item: unknown) => writeSpec(form.item, item)) : null
    case 'record':
      return isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, writeSpec(form.item, item)])) : null
    case 'written':
      return writeSpec(form.whole, value)
    default:
      return value as JsonValue // Our data is JSON.
  }
}

function writeTagged(form: TaggedForm, value: object): JsonValue {
  const { tag: there = form.tag, isOutside, words: style, ours, instead } = spellingOf(form)
  const word: unknown = Reflect.get(value, form.tag)
  // A block from another version.
  if (typeof word !== 'string' || !form.variants.has(word)) return plain(value)
  if (instead !== undefined && ours?.includes(word)) return instead(value)
  const fields = writeObject(variantOf(form, word), value, form.tag)
  if (!isOutside) return { [there]: styled(word, style), ...fields }
  return variantOf(form, word).entries.length === 1 ? styled(word, style) : { [styled(word, style)]: fields }
}

/** `tag` is written by the caller. */
function writeObject(form: ObjectForm, value: object, tag?: string): JsonObject {
  const { lines, known } = linesOf(form)
  const spec: JsonObject = {}
  for (const line of lines) {
    const part: unknown = Reflect.get(value, line.name)
    const written = line.name === tag ? undefined : writeField(line, part, value)
    if (written !== undefined) spec[line.there] = written
  }
  const whole = { ...spec, ...(unknownKeys(value, known) as JsonObject) } // Our data is JSON.
  return spellingOf(form).write?.(whole, { ...value }) ?? whole
}

function writeField({ shape, field, there }: Line, part: unknown, owner: object): JsonValue | undefined {
  const { as = shape, absent, extra } = field
  if (part === undefined) return absent
  if (extra === 'native' && isObject(part)) return JSON.parse(JSON.stringify(part))
  if (as === 'time') return writeTime(owner, there, Number(part))
  return 'form' in as ? writeSpec(as, part) : as.write(part)
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
