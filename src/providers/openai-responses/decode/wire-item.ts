import type { JsonObject } from '../../../contract/json.ts'
import { nameIn, OddValue, objectIn, objectsIn, wordIn } from '../../kit/decode/wire-value.ts'
import type { WireItem, WirePart } from './wire.ts'

/** Returns an item with validated names, or `undefined` if absent. */
export function itemOf(value: WireItem | null | undefined): WireItem | undefined {
  const given = objectIn(value, 'an item')
  if (given === undefined) return undefined
  const item = { ...given }
  const type = wordIn(item.type, 'the type of an item')
  if (type === undefined) throw new OddValue('the type of an item', type)
  for (const name of ['id', 'call_id', 'name'] as const) {
    const text = nameIn(item[name], `the ${name} of an item`)
    if (text !== undefined) item[name] = text
    else if (item[name] !== null) delete item[name]
  }
  return item
}

/** Returns an item or part as JSON. Its values come from `JSON.parse`. */
export function jsonOf(wire: WireItem | WirePart): JsonObject {
  return wire as JsonObject
}

const knownParts: ReadonlySet<string> = new Set(['output_text', 'text', 'input_text', 'refusal'])

/** Returns whether a message part has no known content. */
export function isUnknownPart(part: WirePart): boolean {
  return part.type !== undefined && !knownParts.has(part.type) && !isRefusal(part) && typeof part.text !== 'string'
}

/** Returns whether a part is a refusal. */
export function isRefusal({ type, text, refusal }: WirePart): boolean {
  return type === 'refusal' || (refusal !== undefined && text === undefined)
}

/** Returns an item's call id; may be empty. */
export function callIdOf({ call_id }: WireItem): string {
  return typeof call_id === 'string' ? call_id : ''
}

/** Returns the parts of a message or a summary. */
export function partsOf(value: WireItem['content']): readonly WirePart[] {
  return typeof value === 'string' ? [{ text: value }] : objectsIn(value, 'parts')
}
