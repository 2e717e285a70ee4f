import fc from 'fast-check'
import {
  aFlag,
  aJsonObject,
  aJsonSchema,
  aNumber,
  aNumberFromZero,
  aPositiveNumber,
  aText,
  isTrue,
  json,
  type Shape,
  type ShapeOf,
} from '../../src/contract/shape/shape.ts'

const text = fc.string({ maxLength: 12 })
/** What JSON can hold: no `-0`, and no key that would change a prototype where objects are copied by assignment. */
const data = fc.jsonValue({ maxDepth: 2 }).map((value): unknown => JSON.parse(JSON.stringify(value)))
const figure = fc.oneof(fc.nat(), fc.double({ noNaN: true, noDefaultInfinity: true, min: 0, max: 1e12 })).map((value) => value + 0)
const object = fc.dictionary(
  text.filter((key) => key !== '__proto__'),
  data,
  { maxKeys: 3 },
)

const leaves: readonly (readonly [Shape, fc.Arbitrary<unknown>])[] = [
  [aText, text],
  [aFlag, fc.boolean()],
  [aNumber, figure],
  [aNumberFromZero, figure],
  [aPositiveNumber, fc.integer({ min: 1, max: 1_000_000 })],
  [json, data],
  [aJsonObject, object],
  [aJsonSchema, object],
  [isTrue, fc.constant(true)],
]

/** What a limited number or a whole one may be, by its words. */
function numbersOf(type: string): fc.Arbitrary<number> | undefined {
  const [, least, most] = /^a number from (-?\d+) to (\d+)$/.exec(type) ?? []
  if (least !== undefined && most !== undefined)
    return fc.double({ min: Number(least), max: Number(most), noNaN: true }).map((value) => value + 0)
  const [, first] = /^a whole number from (\d+)$/.exec(type) ?? []
  return first === undefined ? undefined : fc.integer({ min: Number(first), max: 1_000_000 })
}

const sources = fc.constantFrom<object>(
  { data: 'AAAA' },
  { url: 'https://a.example/b' },
  { fileId: 'f', api: 'somebody' },
  { blob: { hash: '0'.repeat(64), bytes: 3 } },
)

/** Media have exactly one source. */
function withSource(value: object, source: object): object {
  const rest = { ...value, mimeType: 'text/plain' }
  for (const name of ['data', 'url', 'fileId', 'api', 'blob']) Reflect.deleteProperty(rest, name)
  return { ...rest, ...source }
}

/** Values of a shape, made of its table alone: what is added to a table is tried with it. Every object may have a key of a newer version. */
export function valuesOf<T>(shape: ShapeOf<T>): fc.Arbitrary<T> {
  return made(shape) as fc.Arbitrary<T> // the readers under test are the proof
}

function made({ form }: Shape): fc.Arbitrary<unknown> {
  switch (form.of) {
    case 'value': {
      const [, values] = leaves.find(([leaf]) => leaf.form === form || (leaf.form.of === 'value' && leaf.form.fits === form.fits)) ?? []
      const numbers = numbersOf(form.type)
      if (numbers !== undefined) return numbers
      if (values === undefined) throw new Error(`No values for ${form.type}: add them to the leaves of arbitrary-shape.ts.`)
      return values
    }
    case 'word':
      return fc.constantFrom(...form.words)
    case 'object': {
      const needed = form.entries
        .filter(([, field]) => field.isRequired === true || (field.isOptional !== true && !form.isPartial))
        .map(([name]) => name)
      const fields = fc.record(Object.fromEntries(form.entries.map(([name, field]) => [name, made(field)])), { requiredKeys: needed })
      return fc
        .tuple(fields, fc.option(data, { freq: 4, nil: undefined }))
        .map(([known, later]) => (later === undefined ? { ...known } : { ...known, ofANewerVersion: later }))
        .chain((value) =>
          'fileId' in form.fields && 'data' in form.fields ? sources.map((source) => withSource(value, source)) : fc.constant(value),
        )
    }
    case 'tagged':
      return fc.oneof(...Array.from(form.variants.values(), made))
    case 'list':
      return fc.array(made(form.item), { maxLength: 3 })
    case 'record':
      return fc.dictionary(
        text.filter((key) => key !== '__proto__'),
        made(form.item),
        { maxKeys: 3 },
      )
    case 'either':
      return fc.oneof(...form.shapes.map(made))
    case 'written':
      return made(form.whole)
  }
}
