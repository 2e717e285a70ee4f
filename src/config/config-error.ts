import { ConfigError, type MisuseCode } from '../contract/errors.ts'
import { shown } from '../contract/shape/json-fault.ts'

/** Path of a value in a document, as keys and array indices. */
export type Path = readonly (string | number)[]

/** Line and column, both counted from 1. */
export interface Place {
  line: number
  column: number
}

/** A valid part of a file that has no effect, or probably not the intended effect. */
export interface ConfigWarning {
  /** `unknownKey`: the key is ignored. `noEffect`: a setting that the key requires is missing. */
  code: 'unknownKey' | 'noEffect'
  /** The value's path, such as `agent.instances[0].nme`. */
  field: string
  message: string
  /** Counted from 1. Absent if the parser does not report it. */
  line?: number
  column?: number
}

/** Formats a path: `agent.instances[0].name`. */
export function fieldOf(path: Path): string {
  return path.map((step, at) => (typeof step === 'number' ? `[${step}]` : at === 0 ? keyText(step) : `.${keyText(step)}`)).join('')
}

/** Parses the result of {@link fieldOf}. */
export function stepsOf(field: string): Path {
  return [...field.matchAll(/\[(\d+)\]|("(?:[^"\\]|\\.)*")|([\w$-]+)/g)].map(([, index, quoted, plain = '']) =>
    index !== undefined ? Number(index) : quoted !== undefined ? String(JSON.parse(quoted)) : plain,
  )
}

/** Truncates and escapes a key, because files may be untrusted. */
function keyText(key: string): string {
  return /^[\w$-]{1,64}$/.test(key) ? key : JSON.stringify(key.slice(0, 64))
}

/** Error for an invalid value at `path`. Hides values that may be secrets. */
export function invalidField(path: Path, value: unknown, expected: string, advice = ''): ConfigError {
  const field = fieldOf(path)
  const text = shownAt(path, value)
  const what = value === undefined ? `${field} is missing` : `Invalid value for ${field}: ${text}`
  const message = `${what} (expected ${expected}).${advice === '' ? '' : ` ${advice}`}`
  return new ConfigError('invalidField', message, { field, expected, ...(value !== undefined && { value: text }) })
}

/** Error with a custom message about the value at `path`. */
export function fieldError(code: MisuseCode, path: Path, message: string, cause?: unknown): ConfigError {
  return new ConfigError(code, message, { field: fieldOf(path), ...(cause !== undefined && { cause }) })
}

/** Error for a feature that the host does not provide. */
export function needs(path: Path, what: string, part: string): ConfigError {
  const field = fieldOf(path)
  return fieldError('unsupported', path, `${field} ${what}, which requires ${part} from the host. Pass it, or remove ${field}.`)
}

/** Returns the error with its position in the text. */
export function placed(error: ConfigError, place: Place | undefined): ConfigError {
  if (place === undefined || error.line !== undefined) return error
  const { code, field, value, expected, cause } = error
  const options = { ...place, ...(field !== undefined && { field }), ...(value !== undefined && { value }) }
  const message = `${error.message} (line ${place.line}, column ${place.column})`
  return new ConfigError(code, message, { ...options, ...(expected !== undefined && { expected }), cause })
}

/** Treats every value in these tables as a secret, because header and variable names do not show whether a value is secret. */
const secretTables = new Set(['headers', 'env'])

function shownAt(path: Path, value: unknown): string {
  const isSecret = path.some((step) => typeof step === 'string' && secretTables.has(step))
  return isSecret && typeof value === 'string' ? 'a text' : shown(value, path.findLast((step) => typeof step === 'string') ?? '')
}

/** Source text data of a parsed configuration. */
interface Origin {
  placeOf(path: Path): Place | undefined
  /** Unread warnings. */
  warnings: readonly ConfigWarning[]
}

/** Provides text positions for errors during agent creation. */
const origins = new WeakMap<object, Origin>()

/** Stores the positions of `config` in its text, and its warnings. */
export function rememberOrigin(config: object, origin: Origin): void {
  origins.set(config, origin)
}

/** Finds the position of `path` in the text from which `config` was parsed. Returns `undefined` if `config` was not parsed from text. */
export function placeIn(config: object, path: Path): Place | undefined {
  return origins.get(config)?.placeOf(path)
}

/** Returns the unread warnings of `config` and marks them as read. */
export function takeUnread(config: object): readonly ConfigWarning[] {
  const origin = origins.get(config)
  const warnings = origin?.warnings ?? []
  if (origin !== undefined) origin.warnings = []
  return warnings
}
