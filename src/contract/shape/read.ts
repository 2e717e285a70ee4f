import { ConfigError, type MisuseCode, SessionError } from '../errors.ts'
import { describeGivenFault, describeStoredFault, expectation, faultIn, jsonType } from './fault.ts'
import { jsonFault, maxDocumentDepth } from './json-fault.ts'
import type { Given, Infer, ObjectForm, Shape } from './shape.ts'

/**
 * Validates options. Throws `ConfigError` (`invalidOption`, or `code`) with the option's path within `name`, its value, the expected type,
 * and the nearest name for an unknown option. Redacts secrets.
 */
export function checkOptions(value: unknown, shape: Shape, name = '', code: MisuseCode = 'invalidOption'): void {
  const fault = faultIn(shape, value, 'given')
  if (fault !== undefined) throw new ConfigError(code, describeGivenFault(fault, name))
}

/**
 * Validates caller input and applies defaults. Complete input is returned as the same object.
 *
 * Throws `ConfigError` (`code`) with the path within `name`, also for values under unknown keys that JSON cannot represent.
 */
export function readGiven<S extends Shape>(shape: S, value: Given<S>, name: string, code: MisuseCode): Infer<S> {
  checkOptions(value, shape, name, code)
  checkDocument(value, name, code)
  return completed(shape, value) as Infer<S> // just checked, and filled in
}

/** Throws `ConfigError` (`code`) with the path within `name` for values that JSON cannot represent. */
export function checkDocument(value: unknown, name: string, code: MisuseCode): void {
  const unfit = jsonFault(value, name, maxDocumentDepth)
  if (unfit !== undefined) throw new ConfigError(code, `${unfit}.`)
}

/**
 * Validates stored or received data and returns the same object, with unknown keys. Throws `SessionError` `invalidMessages` with the path
 * within `name`, without quoting private content.
 */
export function readStored<S extends Shape>(shape: S, value: unknown, name: string): Infer<S> {
  const fault = faultIn(shape, value, 'stored')
  if (fault !== undefined) throw new SessionError('invalidMessages', describeStoredFault(fault, name))
  return value as Infer<S> // just checked
}

/** Returns whether a log entry, possibly of another version, has the fields that readers rely on. Never throws. */
export function fitsLog<S extends Shape>(shape: S, value: unknown): value is Infer<S> {
  return faultIn(shape, value, 'logged') === undefined
}

/** Returns whether `value` is a complete `shape`. Never throws. */
export function fits<S extends Shape>(shape: S, value: unknown): value is Infer<S> {
  return faultIn(shape, value, 'stored') === undefined
}

/** Parses JSON. Throws `SessionError` `invalidMessages` without the parser's message, which quotes the text. `what` names the document. */
export function parseStored(text: string, what: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    const got = typeof text === 'string' ? `${text.length} characters` : jsonType(text)
    throw new SessionError('invalidMessages', `${what}: not valid JSON (${got})`)
  }
}

/** Creates a `SessionError` `invalidMessages` for `path`. Quotes only a `word`. */
export function invalidMessages(path: string, expected: string, value: unknown, isWord = false): SessionError {
  return new SessionError('invalidMessages', expectation(path, expected, value, isWord))
}

function completed({ form }: Shape, value: unknown): unknown {
  switch (form.of) {
    case 'object':
      return completedObject(form, value as object) // has been checked
    case 'tagged': {
      const variant = form.variants.get(String(Reflect.get(value as object, form.tag))) // has been checked
      return variant === undefined ? value : completed(variant, value)
    }
    case 'written':
      return faultIn(form.short, value, 'given') === undefined ? form.complete(value) : completed(form.whole, value)
    default:
      return value
  }
}

function completedObject({ entries }: ObjectForm, value: object): object {
  let copy: Record<string, unknown> | undefined
  for (const [name, field] of entries) {
    const part: unknown = Reflect.get(value, name)
    if (part === undefined && field.fill === undefined) continue
    const whole = part === undefined ? field.fill?.(copy ?? value) : completed(field, part)
    if (whole === part) continue
    copy ??= { ...value }
    copy[name] = whole
  }
  return copy ?? value
}
