import { isJsonObject, type JsonObject, type JsonValue, ownOf } from '../../contract/json.ts'
import type { PatchStep } from '../../contract/session/shared-state.ts'
import { pointerPart } from './json-value.ts'

/**
 * Returns JSON Patch operations (RFC 6902) that convert one value to the other, or none if they are equal apart from key order.
 *
 * **Contract**
 * - Compares lists from both ends, so one insertion or removal is a single operation. Compares the remaining items by index. Takes linear
 *   time; finding the shortest patch would take quadratic time.
 */
export function jsonDiff(before: JsonValue, after: JsonValue): PatchStep[] {
  return diff(before, after, '', new Numbers())
}

function diff(before: JsonValue, after: JsonValue, path: string, numbers: Numbers): PatchStep[] {
  if (numbers.of(before) === numbers.of(after)) return []
  if (Array.isArray(before) && Array.isArray(after)) return listDiff(before, after, path, numbers)
  if (isJsonObject(before) && isJsonObject(after)) return objectDiff(before, after, path, numbers)
  return [{ op: 'replace', path, value: after }]
}

/** Assigns numbers to values. Equal values get the same number. Reads each value once. */
class Numbers {
  readonly #byText = new Map<string, number>()
  readonly #known = new Map<object, number>()

  of(value: JsonValue): number {
    if (typeof value !== 'object' || value === null) return this.#numberOf(JSON.stringify(value))
    const known = this.#known.get(value)
    if (known !== undefined) return known
    const number = this.#numberOf(Array.isArray(value) ? `[${value.map((part) => this.of(part)).join()}]` : this.#textOf(value))
    this.#known.set(value, number)
    return number
  }

  #textOf(value: JsonObject): string {
    const names = Object.keys(value).sort()
    return `{${names.map((name) => `${JSON.stringify(name)}:${this.of(value[name] ?? null)}`).join()}}`
  }

  #numberOf(text: string): number {
    const known = this.#byText.get(text)
    if (known !== undefined) return known
    this.#byText.set(text, this.#byText.size)
    return this.#byText.size - 1
  }
}

function objectDiff(before: JsonObject, after: JsonObject, path: string, numbers: Numbers): PatchStep[] {
  const steps: PatchStep[] = []
  for (const name of Object.keys(before)) if (!Object.hasOwn(after, name)) steps.push({ op: 'remove', path: below(path, name) })
  for (const [name, value] of Object.entries(after)) {
    const old = ownOf(before, name)
    if (old === undefined) steps.push({ op: 'add', path: below(path, name), value })
    else addAll(steps, diff(old, value, below(path, name), numbers))
  }
  return steps
}

function listDiff(before: readonly JsonValue[], after: readonly JsonValue[], path: string, numbers: Numbers): PatchStep[] {
  const isSame = (at: number, other: number): boolean => numbers.of(before[at] ?? null) === numbers.of(after[other] ?? null)
  const shorter = Math.min(before.length, after.length)
  let from = 0
  while (from < shorter && isSame(from, from)) from += 1
  let tail = 0
  while (tail < shorter - from && isSame(before.length - 1 - tail, after.length - 1 - tail)) tail += 1
  const common = shorter - tail
  const steps: PatchStep[] = []
  for (let at = from; at < common; at += 1) addAll(steps, diff(before[at] ?? null, after[at] ?? null, below(path, String(at)), numbers))
  // Proceed from the end, so that no index shifts before use.
  for (let at = before.length - tail - 1; at >= common; at -= 1) steps.push({ op: 'remove', path: below(path, String(at)) })
  for (let at = common; at < after.length - tail; at += 1)
    steps.push({ op: 'add', path: below(path, String(at)), value: after[at] ?? null })
  return steps
}

/** Appends operations with a loop, because a call accepts a limited number of arguments. */
function addAll(steps: PatchStep[], more: readonly PatchStep[]): void {
  for (const step of more) steps.push(step)
}

function below(path: string, name: string): string {
  return `${path}/${pointerPart(name)}`
}

/** Returns the approximate JSON length of a value. Stops counting above `most`. */
export function charsWithin(value: JsonValue, most: number): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return String(value).length
  let chars = 2
  for (const [key, part] of Object.entries(value)) {
    chars += (Array.isArray(value) ? 1 : key.length + 4) + charsWithin(part, most - chars)
    if (chars > most) break
  }
  return chars
}
