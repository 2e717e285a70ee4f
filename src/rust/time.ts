import { invalidMessages } from '../contract/shape/read.ts'

/** A time in the shortest exact form of the Rust crate, and its value here. */
export interface SpecTime {
  /** Epoch milliseconds, truncated. */
  at: number
  text: string
}

const pattern = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}:\d{2})(?:\.(\d+))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/

/** Parses an RFC 3339 time with nanoseconds and any offset, or `undefined` for anything else, such as February 30. */
function parseTime(text: string): SpecTime | undefined {
  const [whole, date, time, fraction = '', sign, hours = '0', minutes = '0'] = pattern.exec(text) ?? []
  if (whole === undefined) return undefined
  const local = `${date}T${time}`
  const localAt = Date.parse(`${local}Z`)
  if (Number.isNaN(localAt) || new Date(localAt).toISOString().slice(0, 19) !== local) return undefined
  const offset = (Number(hours) * 60 + Number(minutes)) * 60_000
  const seconds = localAt - (sign === '-' ? -offset : offset)
  const nanos = fraction.padEnd(9, '0').slice(0, 9)
  return { at: seconds + Number(nanos.slice(0, 3)), text: `${new Date(seconds).toISOString().slice(0, 19)}${shortest(nanos)}Z` }
}

/** Formats epoch milliseconds like the Rust crate. */
function formatTime(at: number): string {
  const [seconds = '', rest = ''] = new Date(at).toISOString().split('.')
  return `${seconds}${shortest(rest.slice(0, 3).padEnd(9, '0'))}Z`
}

/** Returns none, three, six or nine digits. */
function shortest(nanos: string): string {
  if (nanos === '000000000') return ''
  return `.${nanos.replace(/(?:000){1,2}$/, '')}`
}

/** Reads a time from a file. */
export function readTime(json: unknown, path: string): SpecTime {
  if (typeof json !== 'string') throw invalidMessages(path, 'string', json)
  const time = parseTime(json)
  if (time === undefined) throw invalidMessages(path, 'RFC 3339 time', json)
  return time
}

/** Returns whether a time is more precise than milliseconds. */
export function isFiner({ at, text }: SpecTime): boolean {
  return text !== formatTime(at)
}

/** Formats the time `at`. Returns the original text if `owner` was read with the same time under `key`. */
export function writeTime(owner: object, key: string, at: number): string {
  const exact: unknown = Reflect.get(Object(Reflect.get(owner, 'specTimes')), key)
  return typeof exact === 'string' && parseTime(exact)?.at === at ? exact : formatTime(at)
}
