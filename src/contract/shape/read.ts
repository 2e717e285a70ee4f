import { ConfigError, type MisuseCode, SessionError } from '../errors.ts'
import { expectation, faultIn, jsonType, toldCaller, toldReader } from './fault.ts'
import { jsonFault, maxDocumentDepth } from './json-fault.ts'
import type { Given, Infer, ObjectForm, Shape } from './shape.ts'

/**
 * Throws `ConfigError` (`invalidOption`, or `code`) where `value` is none of what callers may hand in for `shape`. It names the option within
 * `name`, what it is, what it must be, and for an unknown one the nearest there is. What may be a secret is not shown.
 */
export function checkOptions(value: unknown, shape: Shape, name = '', code: MisuseCode = 'invalidOption'): void {
  const fault = faultIn(shape, value, 'given')
  if (fault !== undefined) throw new ConfigError(code, toldCaller(fault, name))
}

/**
 * What a caller hands in for `shape`, completed: what may be left out is filled in. What is complete already is the same object.
 *
 * Throws `ConfigError` (`code`) that names the path within `name`: also for what JSON cannot hold, in a key that the shape does not know.
 */
export function readGiven<S extends Shape>(shape: S, value: Given<S>, name: string, code: MisuseCode): Infer<S> {
  checkOptions(value, shape, name, code)
  checkDocument(value, name, code)
  return completed(shape, value) as Infer<S> // just checked, and filled in
}

/** Throws `ConfigError` (`code`) for what of `value` JSON cannot hold, with its path within `name`. */
export function checkDocument(value: unknown, name: string, code: MisuseCode): void {
  const unfit = jsonFault(value, name, maxDocumentDepth)
  if (unfit !== undefined) throw new ConfigError(code, `${unfit}.`)
}

/**
 * `value`, which was stored or sent and is complete: the same object, whose unknown keys are carried. Throws `SessionError` `invalidMessages` that
 * names the path within `name` and what was wrong there, and quotes nothing that somebody said.
 */
export function readStored<S extends Shape>(shape: S, value: unknown, name: string): Infer<S> {
  const fault = faultIn(shape, value, 'stored')
  if (fault !== undefined) throw new SessionError('invalidMessages', toldReader(fault, name))
  return value as Infer<S> // just checked
}

/** Whether readers of a log can rely on `value`, which may be of another version. Never throws. */
export function fitsLog<S extends Shape>(shape: S, value: unknown): value is Infer<S> {
  return faultIn(shape, value, 'logged') === undefined
}

/** Whether `value` is a whole `shape`. Never throws. */
export function fits<S extends Shape>(shape: S, value: unknown): value is Infer<S> {
  return faultIn(shape, value, 'stored') === undefined
}

/**
 * The JSON value of `text`; throws `SessionError` `invalidMessages` without the parser's own words: they quote the text, which may be private.
 * `what` was to be read.
 */
export function parseStored(text: string, what: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    const got = typeof text === 'string' ? `${text.length} characters` : jsonType(text)
    throw new SessionError('invalidMessages', `${what}: not valid JSON (${got})`)
  }
}

/** A `SessionError` `invalidMessages` for something else that is wrong at `path`; only a `word` is quoted. */
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
