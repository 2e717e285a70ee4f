import { ConfigError, type MisuseCode } from '../contract/errors.ts'
import { shown } from '../contract/shape/json-fault.ts'

/** Where in a document something stands: keys, and positions in lists. */
export type Path = readonly (string | number)[]

/** Line and column, from 1. */
export interface Place {
  line: number
  column: number
}

/** Something in a file that is no error and does not do what its author may think. */
export interface ConfigWarning {
  /** `unknownKey`: nobody reads it. `noEffect`: it needs something that the file does not say. */
  code: 'unknownKey' | 'noEffect'
  /** Where, such as `agent.instances[0].nme`. */
  field: string
  message: string
  /** From 1; absent where the parser does not know. */
  line?: number
  column?: number
}

/** A path as people read it: `agent.instances[0].name`. */
export function fieldOf(path: Path): string {
  return path.map((step, at) => (typeof step === 'number' ? `[${step}]` : at === 0 ? keyText(step) : `.${keyText(step)}`)).join('')
}

/** The steps of what {@link fieldOf} gave. */
export function stepsOf(field: string): Path {
  return [...field.matchAll(/\[(\d+)\]|("(?:[^"\\]|\\.)*")|([\w$-]+)/g)].map(([, index, quoted, plain = '']) =>
    index !== undefined ? Number(index) : quoted !== undefined ? String(JSON.parse(quoted)) : plain,
  )
}

/** A key of a stranger's file is as long as it likes, and holds what it likes. */
function keyText(key: string): string {
  return /^[\w$-]{1,64}$/.test(key) ? key : JSON.stringify(key.slice(0, 64))
}

/** What stands at `path` cannot be used. What may be a secret is not shown. */
export function invalidField(path: Path, value: unknown, expected: string, advice = ''): ConfigError {
  const field = fieldOf(path)
  const text = shownAt(path, value)
  const what = value === undefined ? `${field} is missing` : `Invalid value for ${field}: ${text}`
  const message = `${what} (expected ${expected}).${advice === '' ? '' : ` ${advice}`}`
  return new ConfigError('invalidField', message, { field, expected, ...(value !== undefined && { value: text }) })
}

/** Something else that is wrong with what stands at `path`. */
export function fieldError(code: MisuseCode, path: Path, message: string, cause?: unknown): ConfigError {
  return new ConfigError(code, message, { field: fieldOf(path), ...(cause !== undefined && { cause }) })
}

/** What the file wants and the host does not give. */
export function needs(path: Path, what: string, part: string): ConfigError {
  const field = fieldOf(path)
  return fieldError('unsupported', path, `${field} ${what}, for which the host must give ${part}. Give it, or leave ${field} out.`)
}

/** The same error, and where in the text it is. */
export function placed(error: ConfigError, place: Place | undefined): ConfigError {
  if (place === undefined || error.line !== undefined) return error
  const { code, field, value, expected, cause } = error
  const options = { ...place, ...(field !== undefined && { field }), ...(value !== undefined && { value }) }
  const message = `${error.message} (line ${place.line}, column ${place.column})`
  return new ConfigError(code, message, { ...options, ...(expected !== undefined && { expected }), cause })
}

/** A header or a variable is named like any word, so everything in such a table may be a secret. */
const secretTables = new Set(['headers', 'env'])

function shownAt(path: Path, value: unknown): string {
  const isSecret = path.some((step) => typeof step === 'string' && secretTables.has(step))
  return isSecret && typeof value === 'string' ? 'a text' : shown(value, path.findLast((step) => typeof step === 'string') ?? '')
}

/** What is known of the text that a configuration was read from. */
interface Origin {
  placeOf(path: Path): Place | undefined
  /** Those that no program has read. */
  warnings: readonly ConfigWarning[]
}

/** Errors that are found while agents are made can still say where in the text they come from. */
const origins = new WeakMap<object, Origin>()

/** Remembers where the parts of `config` stand in its text, and its warnings. */
export function rememberOrigin(config: object, origin: Origin): void {
  origins.set(config, origin)
}

/** Where `path` of `config` stands; undefined for one that was not parsed. */
export function placeIn(config: object, path: Path): Place | undefined {
  return origins.get(config)?.placeOf(path)
}

/** Returns the warnings of `config` that no program has read. They count as read from now on. */
export function takeUnread(config: object): readonly ConfigWarning[] {
  const origin = origins.get(config)
  const warnings = origin?.warnings ?? []
  if (origin !== undefined) origin.warnings = []
  return warnings
}
