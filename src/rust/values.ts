import { isJsonObject, type JsonObject } from '../contract/json.ts'
import { invalidMessages } from '../contract/shape/read.ts'
import type { ValueSpelling } from './spelling.ts'

/** Numbers that satisfy `isFit`. `expected` describes them. */
function numbers(expected: string, isFit: (value: number) => boolean): ValueSpelling<number> {
  return {
    read(json, path) {
      if (typeof json !== 'number') throw invalidMessages(path, 'number', json)
      if (!isFit(json)) throw invalidMessages(path, expected, json)
      return json
    },
    write: (value) => value,
  }
}

export const decimal: ValueSpelling<number> = numbers('number', () => true)
const decimalFromZero: ValueSpelling<number> = numbers('number from 0', (value) => value >= 0)
export const integer: ValueSpelling<number> = numbers('integer', Number.isSafeInteger)

/** An unsigned integer that a JavaScript number can represent. */
export const count: ValueSpelling<number> = {
  read(json, path) {
    const value = integer.read(json, path)
    if (value < 0) throw invalidMessages(path, 'integer from 0', json)
    return value
  },
  write: (value) => value,
}

/** Rust accepts whole numbers only. A custom token counter may return other numbers. */
export const estimate: ValueSpelling<number> = { ...count, write: (value) => Math.max(0, Math.ceil(value)) }

/** Rust uses its largest integer for "no limit", which JSON numbers cannot represent. Here it is `Infinity`. */
export const limit: ValueSpelling<number> = {
  read(json, path) {
    const value = decimalFromZero.read(json, path)
    return value >= Number.MAX_SAFE_INTEGER ? Number.POSITIVE_INFINITY : value
  },
  write: (value) => Math.min(value, Number.MAX_SAFE_INTEGER),
}

/** A duration: milliseconds here, seconds and nanoseconds in Rust. */
export const duration: ValueSpelling<number> = {
  read(json, path) {
    const { secs, nanos } = objectAt(json, path)
    return limit.read(secs, `${path}.secs`) * 1000 + count.read(nanos, `${path}.nanos`) / 1_000_000
  },
  write(ms) {
    const nanos = Number.isFinite(ms) ? Math.floor((ms % 1000) * 1_000_000) : 0
    return { secs: limit.write(Math.floor(ms / 1000)), nanos }
  },
}

export const filledText: ValueSpelling<string> = {
  read(json, path) {
    if (typeof json !== 'string') throw invalidMessages(path, 'string', json)
    if (json === '') throw invalidMessages(path, 'text', json)
    return json
  },
  write: (value) => value,
}

/** Returns `json`, which must be an object. */
export function objectAt(json: unknown, path: string): JsonObject {
  if (!isJsonObject(json)) throw invalidMessages(path, 'object', json)
  return json
}

/** Returns the value as JSON without absent fields, at every level. */
export function plain(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value))
}
