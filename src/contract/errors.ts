import type { AssistantMessage } from './message/message.ts'
import type { RateLimits } from './model/usage.ts'
import type { RunFailure } from './run/run-facts.ts'
import { type Infer, oneOf } from './shape/shape.ts'

const brand = Symbol.for('phi-core.error')

/** Options for every error of this package. */
export interface PhiErrorOptions {
  cause?: unknown
  /** Advice on what to do next, if the message contains none. Default: the documentation page of the error code. */
  hint?: string
}

/**
 * Base class of all errors that this package throws.
 *
 * **Contract**
 * - `message` states what failed, the value and what to do next. `code` is stable and machine-readable.
 * - `message`, `hint` and `cause` contain no secrets.
 * - `isInstance` of this class and its subclasses works across duplicate copies of the package, unlike `instanceof`.
 */
export class PhiError<Code extends string = string> extends Error {
  override readonly name: string = 'PhiError'
  readonly code: Code
  /** Advice on what to do next, or a link to the error code's documentation. */
  readonly hint: string

  constructor(code: Code, message: string, options: PhiErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.hint = options.hint ?? `See docs/reference/errors.md#${code.toLowerCase()} in the phi-core package for causes and fixes.`
    Object.defineProperty(this, brand, { value: true })
  }

  static isInstance(value: unknown): value is PhiError {
    return typeof value === 'object' && value !== null && brand in value
  }
}

export const providerErrorCode = oneOf(
  'api',
  'network',
  'auth',
  'rateLimited',
  'contextOverflow',
  'cancelled',
  'schemaMismatch',
  'unsupportedMedia',
  'unsupported',
  'other',
)
/** Codes for failed model calls. Source: docs/reference/errors.md */
export type ProviderErrorCode = Infer<typeof providerErrorCode>

/** Details of a failed model call. */
export interface ProviderErrorOptions extends PhiErrorOptions {
  /** HTTP status. */
  status?: number
  /** Milliseconds from the provider's `retry-after` header. Negative values are ignored. */
  retryAfterMs?: number
  /** Rate limits from the response headers. */
  limits?: RateLimits
  /** Whether a retry may succeed. Default: true for `network` and `rateLimited`. */
  isRetryable?: boolean
  /** Maximum retries, if lower than the caller's limit. Set for expensive calls that the provider may already have processed. */
  maxRetries?: number
  /** Partial message, if streaming had started. */
  partial?: AssistantMessage
}

/** A failed model call. A `StreamProvider` rejects only with this error. */
export class ProviderError extends PhiError<ProviderErrorCode> {
  override readonly name = 'ProviderError'
  declare readonly status?: number
  declare readonly retryAfterMs?: number
  declare readonly limits?: RateLimits
  readonly isRetryable: boolean
  declare readonly maxRetries?: number
  declare readonly partial?: AssistantMessage

  constructor(code: ProviderErrorCode, message: string, options: ProviderErrorOptions = {}) {
    super(code, message, options)
    this.isRetryable = options.isRetryable ?? (code === 'network' || code === 'rateLimited')
    if (options.status !== undefined) this.status = options.status
    if (isWait(options.retryAfterMs)) this.retryAfterMs = options.retryAfterMs
    if (options.limits !== undefined) this.limits = options.limits
    if (options.maxRetries !== undefined) this.maxRetries = options.maxRetries
    if (options.partial !== undefined) {
      // Not enumerable, so that logging an error does not print a conversation.
      Object.defineProperty(this, 'partial', { value: options.partial, enumerable: false })
    }
  }

  static override isInstance(value: unknown): value is ProviderError {
    return isNamed(value, 'ProviderError')
  }
}

export const toolErrorCode = oneOf('failed', 'notFound', 'invalidArguments', 'cancelled', 'timeout')
/** Codes for failed tool calls. */
export type ToolErrorCode = Infer<typeof toolErrorCode>

/** Thrown by a tool to fail with a code. Any other error that a tool throws counts as `failed`. */
export class ToolError extends PhiError<ToolErrorCode> {
  override readonly name = 'ToolError'

  static override isInstance(value: unknown): value is ToolError {
    return isNamed(value, 'ToolError')
  }
}

export const workspaceErrorCode = oneOf('outside', 'notFound', 'wrongKind', 'conflict', 'protected', 'io')
/**
 * Codes for rejected file operations. `protected`: the file is inside the root, but other programs execute it or read it as configuration
 * (`.git`, start-up files).
 */
export type WorkspaceErrorCode = Infer<typeof workspaceErrorCode>

/** A failed file operation. See `Workspace`. */
export class WorkspaceError extends PhiError<WorkspaceErrorCode> {
  override readonly name = 'WorkspaceError'

  static override isInstance(value: unknown): value is WorkspaceError {
    return isNamed(value, 'WorkspaceError')
  }
}

export const sessionErrorCode = oneOf(
  'invalidId',
  'invalidMessages',
  'invalidSnapshot',
  'invalidSession',
  'notFound',
  'conflict',
  'quota',
  'newerSchema',
  'blocked',
  'io',
)
/** Error codes for session storage. */
export type SessionErrorCode = Infer<typeof sessionErrorCode>

/** A session that cannot be read or stored. */
export class SessionError extends PhiError<SessionErrorCode> {
  override readonly name = 'SessionError'

  static override isInstance(value: unknown): value is SessionError {
    return isNamed(value, 'SessionError')
  }
}

export const misuseCode = oneOf(
  'invalidOption',
  'invalidTool',
  'unsupportedSchema',
  'invalidMessage',
  'emptyPrompt',
  'emptyHistory',
  'trailingAssistant',
  'missingIds',
  'unknownMessage',
  'unknownCall',
  'unknownInput',
  'argumentsChanged',
  'claimedElsewhere',
  'invalidState',
  'stateConflict',
  'notAllowed',
  'nestedSubAgent',
  'branchCount',
  'parse',
  'missingEnvVar',
  'invalidField',
  'badReference',
  'untrusted',
  'unsupported',
  'io',
)
/** Codes for API misuse. */
export type MisuseCode = Infer<typeof misuseCode>

/** Location of an invalid value in a configuration. */
export interface ConfigErrorOptions extends PhiErrorOptions {
  /** Path such as `agent.instances[0].provider`. */
  field?: string
  /** The invalid value as text. Never a secret. */
  value?: string
  /** Description of valid values. */
  expected?: string
  /** Line number from 1. Absent if the parser does not report it. */
  line?: number
  column?: number
}

/**
 * Misuse of the API, or an invalid configuration. Thrown before anything changes. For configuration files, the error includes the
 * location.
 */
export class ConfigError extends PhiError<MisuseCode> {
  override readonly name = 'ConfigError'
  declare readonly field?: string
  declare readonly value?: string
  declare readonly expected?: string
  declare readonly line?: number
  declare readonly column?: number

  constructor(code: MisuseCode, message: string, { cause, hint, ...place }: ConfigErrorOptions = {}) {
    super(code, message, { cause, ...(hint !== undefined && { hint }) })
    Object.assign(this, place)
  }

  static override isInstance(value: unknown): value is ConfigError {
    return isNamed(value, 'ConfigError')
  }
}

/**
 * Thrown by `prompt()` or `continueLoop()` during a run. Nothing has changed. Steer the run, queue a follow-up, or wait for the run to
 * end.
 */
export class AgentBusyError extends PhiError {
  override readonly name = 'AgentBusyError'
  constructor() {
    super(
      'busy',
      'This agent is already running. An Agent is one conversation: create one per user or chat. ' +
        'Within one conversation, call steer(), followUp() or abort(), or await run.result first.',
    )
  }

  static override isInstance(value: unknown): value is AgentBusyError {
    return isNamed(value, 'AgentBusyError')
  }
}

/** Thrown for a cursor older than the retained events. Start again from `oldest`, or read the stored history. */
export class CursorExpiredError extends PhiError {
  override readonly name = 'CursorExpiredError'
  /** Oldest valid cursor for `after`. */
  readonly oldest: number

  constructor(after: number, oldest: number) {
    super('cursorExpired', `Cursor ${after} has expired: the oldest valid cursor is ${oldest}. Reload the history, or raise replayBytes.`)
    this.oldest = oldest
  }

  static override isInstance(value: unknown): value is CursorExpiredError {
    return isNamed(value, 'CursorExpiredError')
  }
}

/** Thrown when the journal rejects a record. Ends the run with status `error`, before the next side effect. */
export class JournalError extends PhiError {
  override readonly name = 'JournalError'
  constructor(cause: unknown) {
    super('journal', `The run stopped because the journal could not store the conversation: ${errorText(cause)}`, {
      cause,
    })
  }

  /** True if the rejected records are guaranteed not to be stored. If false, they may be stored. */
  get hasStoredNothing(): boolean {
    return SessionError.isInstance(this.cause) && unwritten.has(this.cause.code)
  }
}

/** Codes that guarantee that nothing was written. */
const unwritten: ReadonlySet<SessionErrorCode> = new Set(['quota', 'conflict', 'blocked'])

/**
 * Thrown when a lazily loaded chunk of this package is missing: a new deployment replaced it, the browser is offline, or files were
 * deleted. The provider is not at fault. Retrying in the same process fails. Reload the page or restart the process.
 */
export class LoadError extends PhiError {
  override readonly name = 'LoadError'
  constructor(part: string, cause: unknown) {
    super('loadFailed', `Cannot load a part of this program (${part}): ${errorText(cause)}. Reload the page or restart the process.`, {
      cause,
    })
  }

  static override isInstance(value: unknown): value is LoadError {
    return isNamed(value, 'LoadError')
  }
}

/** Rejects NaN, negative and infinite values, which JSON cannot store. */
function isWait(ms: number | undefined): ms is number {
  return Number.isFinite(ms) && Number(ms) >= 0
}

/** Converts an error to data. Includes the cause if it is a `PhiError`. */
export function toRunFailure(error: unknown): RunFailure {
  if (!PhiError.isInstance(error)) return { code: 'other', message: errorText(error) }
  const { code, cause } = error
  const failure: RunFailure = { code, message: errorText(error) }
  if (ProviderError.isInstance(error) && isWait(error.retryAfterMs)) failure.retryAfterMs = error.retryAfterMs
  // Omit other causes, because third-party errors may contain secrets.
  if (!PhiError.isInstance(cause) || cause.code === code) return failure
  return { ...failure, cause: { code: cause.code, message: errorText(cause) } }
}

/** Wraps an error thrown by a required application callback and preserves its code. `name` is the option that contains the callback. */
export function callbackFailed(name: string, cause: unknown): PhiError {
  const code = PhiError.isInstance(cause) ? cause.code : 'other'
  return new PhiError(code, `${name} failed: ${errorText(cause).replace(/\.$/, '')}. The run stopped.`, { cause })
}

/** Describes any thrown value: its message, name, cause or JSON. Never empty and never throws, because it runs in error handlers. */
export function errorText(error: unknown): string {
  try {
    return errorMessageOf(error) || 'an error without a message'
  } catch {
    return 'an error that cannot be shown as text'
  }
}

function errorMessageOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return String(error)
  const { message, name, cause }: { message?: unknown; name?: unknown; cause?: unknown } = error
  if (typeof message === 'string' && message !== '') return message
  if (error instanceof Error) {
    const kind = String(name)
    return cause instanceof Error && cause.message !== '' ? `${kind}: ${cause.message}` : kind
  }
  return JSON.stringify(error) ?? String(error)
}

/** Compares names, because constructors differ between duplicate copies of the package and minifiers rename them. */
export function isNamed(value: unknown, name: string): boolean {
  return PhiError.isInstance(value) && value.name === name
}

/** Returns the `ProviderError` that a model threw, or wraps any other error as `other`. */
export function asProviderError(error: unknown): ProviderError {
  return ProviderError.isInstance(error) ? error : new ProviderError('other', errorText(error), { cause: error })
}
