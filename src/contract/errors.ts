import type { AssistantMessage } from './message/message.ts'
import type { RateLimits } from './model/usage.ts'
import type { RunFailure } from './run/run-facts.ts'
import { type Infer, oneOf } from './shape/shape.ts'

const brand = Symbol.for('phi-core.error')

/** Options of every error of this package. */
export interface PhiErrorOptions {
  cause?: unknown
  /** What to do next, if the message does not say it. Default: the documentation page of the error code. */
  hint?: string
}

/**
 * Base class of all errors that this package throws.
 *
 * **Contract**
 * - `message` says what failed, with which value, and what to do next. `code` is stable and machine-readable.
 * - `message`, `hint` and `cause` contain no secrets.
 * - `isInstance` of this class and its subclasses works across duplicate copies of the package, unlike `instanceof`.
 */
export class PhiError<Code extends string = string> extends Error {
  override readonly name: string = 'PhiError'
  readonly code: Code
  /** What to do next, or the documentation section of the code. */
  readonly hint: string

  constructor(code: Code, message: string, options: PhiErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.hint = options.hint ?? `See node_modules/phi-core/docs/reference/errors.md#${code.toLowerCase()}.`
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
/** Codes of failed model calls. Source: docs/reference/errors.md */
export type ProviderErrorCode = Infer<typeof providerErrorCode>

/** Details of a failed model call. */
export interface ProviderErrorOptions extends PhiErrorOptions {
  /** HTTP status. */
  status?: number
  /** Milliseconds from the provider's `retry-after`. Ignored unless it is a number from 0. */
  retryAfterMs?: number
  /** Rate limits from the response headers. */
  limits?: RateLimits
  /** Whether a retry may succeed. Default: true for `network` and `rateLimited`. */
  isRetryable?: boolean
  /** Upper limit of retries if lower than the caller's, for expensive calls that the provider may have processed. */
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
      // Not enumerable: logging an error must not print a conversation.
      Object.defineProperty(this, 'partial', { value: options.partial, enumerable: false })
    }
  }

  static override isInstance(value: unknown): value is ProviderError {
    return isNamed(value, 'ProviderError')
  }
}

export const toolErrorCode = oneOf('failed', 'notFound', 'invalidArguments', 'cancelled', 'timeout')
/** Codes of failed tool calls. */
export type ToolErrorCode = Infer<typeof toolErrorCode>

/** Thrown by a tool to fail with a code. Any other error of a tool counts as `failed`. */
export class ToolError extends PhiError<ToolErrorCode> {
  override readonly name = 'ToolError'

  static override isInstance(value: unknown): value is ToolError {
    return isNamed(value, 'ToolError')
  }
}

export const workspaceErrorCode = oneOf('outside', 'notFound', 'wrongKind', 'conflict', 'protected', 'io')
/**
 * Codes of rejected file operations. `protected`: inside the root, but other programs execute or obey the file (`.git`, start-up files).
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
/** Codes of failed session storage. */
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
/** Codes of API misuse. */
export type MisuseCode = Infer<typeof misuseCode>

/** Location of an invalid value in a configuration. */
export interface ConfigErrorOptions extends PhiErrorOptions {
  /** Path such as `agent.instances[0].provider`. */
  field?: string
  /** The invalid value as text; never a secret. */
  value?: string
  /** Description of valid values. */
  expected?: string
  /** Line number from 1; absent if the parser does not report it. */
  line?: number
  column?: number
}

/** Misuse of the API, or an invalid configuration. Thrown before anything changes. For configuration files, it names the location. */
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

/** Thrown by `prompt()` or `continueLoop()` during a run. Nothing has changed; steer the run, queue a follow-up, or wait for it. */
export class AgentBusyError extends PhiError {
  override readonly name = 'AgentBusyError'
  constructor() {
    super(
      'busy',
      'An Agent is one conversation, and this one is already running. Make an Agent for each person or chat. ' +
        'In this conversation, use steer() or followUp(), abort() it, or await run.result first.',
    )
  }

  static override isInstance(value: unknown): value is AgentBusyError {
    return isNamed(value, 'AgentBusyError')
  }
}

/** The cursor is older than the retained events. Start again from `oldest`, or read the stored history. */
export class CursorExpiredError extends PhiError {
  override readonly name = 'CursorExpiredError'
  /** Oldest valid cursor for `after`. */
  readonly oldest: number

  constructor(after: number, oldest: number) {
    super(
      'cursorExpired',
      `Events after ${after} are no longer all remembered; the oldest usable cursor is ${oldest}. Reload the history, or raise replayBytes.`,
    )
    this.oldest = oldest
  }

  static override isInstance(value: unknown): value is CursorExpiredError {
    return isNamed(value, 'CursorExpiredError')
  }
}

/** The journal rejected a record, so the next side effect must not happen. Ends a run with status `error`. */
export class JournalError extends PhiError {
  override readonly name = 'JournalError'
  constructor(cause: unknown) {
    super('journal', `The run stopped before its next step, because the journal could not store the conversation: ${errorText(cause)}`, {
      cause,
    })
  }

  /** Whether the rejected records are certainly not stored. Otherwise they may be stored nevertheless. */
  get hasStoredNothing(): boolean {
    return SessionError.isInstance(this.cause) && unwritten.has(this.cause.code)
  }
}

/** Codes that guarantee that nothing was written. */
const unwritten: ReadonlySet<SessionErrorCode> = new Set(['quota', 'conflict', 'blocked'])

/**
 * A lazily loaded chunk of this package is missing: a new deployment replaced it, the browser is offline, or files were deleted. The
 * model's network is not at fault. Retrying in the same process fails; reload the page or restart the process.
 */
export class LoadError extends PhiError {
  override readonly name = 'LoadError'
  constructor(part: string, cause: unknown) {
    super(
      'loadFailed',
      `A part of this program (${part}) could not be loaded: ${errorText(cause)}. Reload the page, or restart the process.`,
      {
        cause,
      },
    )
  }

  static override isInstance(value: unknown): value is LoadError {
    return isNamed(value, 'LoadError')
  }
}

/** Rejects NaN, negative and infinite values, which JSON cannot store. */
function isWait(ms: number | undefined): ms is number {
  return Number.isFinite(ms) && Number(ms) >= 0
}

/** Converts an error to data, with its cause if the cause is a `PhiError`. */
export function toRunFailure(error: unknown): RunFailure {
  if (!PhiError.isInstance(error)) return { code: 'other', message: errorText(error) }
  const { code, cause } = error
  const failure: RunFailure = { code, message: errorText(error) }
  if (ProviderError.isInstance(error) && isWait(error.retryAfterMs)) failure.retryAfterMs = error.retryAfterMs
  // Other causes are left out: foreign errors may contain secrets.
  if (!PhiError.isInstance(cause) || cause.code === code) return failure
  return { ...failure, cause: { code: cause.code, message: errorText(cause) } }
}

/** Wraps an error of a required application callback, preserving its code. `name` is the option of the callback. */
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

/** Compares names, not constructors: duplicate copies of the package have their own, and minifiers rename them. */
export function isNamed(value: unknown, name: string): boolean {
  return PhiError.isInstance(value) && value.name === name
}

/** Returns the `ProviderError` that a model threw, or wraps any other error as `other`. */
export function asProviderError(error: unknown): ProviderError {
  return ProviderError.isInstance(error) ? error : new ProviderError('other', errorText(error), { cause: error })
}
