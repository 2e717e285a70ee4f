import type { AssistantMessage } from './message/message.ts'
import type { RateLimits } from './model/usage.ts'
import type { RunFailure } from './run/run-facts.ts'
import { type Infer, oneOf } from './shape/shape.ts'

const brand = Symbol.for('phi-core.error')

/** What every error of this package carries beside its message. */
export interface PhiErrorOptions {
  cause?: unknown
  /** What to do next, when the message does not already say it. Default: the page in the package that explains its code. */
  hint?: string
}

/**
 * Base of every error this package throws.
 *
 * **Contract**
 * - `message` says what failed, with which value, and what to do next; `code` is stable and machine-readable.
 * - No secret in `message`, `hint` or `cause`.
 * - `isInstance` of this class and of each subclass works across duplicate copies of the package, where `instanceof` does not.
 */
export class PhiError<Code extends string = string> extends Error {
  override readonly name: string = 'PhiError'
  readonly code: Code
  /** What to do next, or the section of the documentation about the code. */
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
/** Why a model call failed. Source: docs/reference/errors.md */
export type ProviderErrorCode = Infer<typeof providerErrorCode>

/** What a provider knows about a failure. */
export interface ProviderErrorOptions extends PhiErrorOptions {
  /** HTTP status. */
  status?: number
  /** How long the service asked to wait, in ms. No number from 0 counts as absent. */
  retryAfterMs?: number
  /** What the service said of its rate limits. */
  limits?: RateLimits
  /** Whether the same call may succeed later. Default: `network` and `rateLimited` only. */
  isRetryable?: boolean
  /** Most times that the call is worth repeating, where that is less than a caller allows: an expensive one may have been worked on. */
  maxRetries?: number
  /** The message as far as it came, when streaming had begun. */
  partial?: AssistantMessage
}

/** A model call that failed. The only error a `StreamProvider` rejects with. */
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
/** Why a tool call failed. */
export type ToolErrorCode = Infer<typeof toolErrorCode>

/** Thrown by a tool to fail with a code; any other error a tool throws counts as `failed`. */
export class ToolError extends PhiError<ToolErrorCode> {
  override readonly name = 'ToolError'

  static override isInstance(value: unknown): value is ToolError {
    return isNamed(value, 'ToolError')
  }
}

export const workspaceErrorCode = oneOf('outside', 'notFound', 'wrongKind', 'conflict', 'protected', 'io')
/** Why a workspace refused. `protected`: inside, but other programs on the host would execute or obey it (`.git`, start-up files). */
export type WorkspaceErrorCode = Infer<typeof workspaceErrorCode>

/** A file operation that failed. See `Workspace`. */
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
/** Why a session could not be stored or read. */
export type SessionErrorCode = Infer<typeof sessionErrorCode>

/** A stored conversation that cannot be used. */
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
/** What a caller got wrong. */
export type MisuseCode = Infer<typeof misuseCode>

/** Where in a configuration something is wrong. */
export interface ConfigErrorOptions extends PhiErrorOptions {
  /** Its path, such as `agent.instances[0].provider`. */
  field?: string
  /** What stands there, as text; never a secret. */
  value?: string
  /** What may stand there, in words. */
  expected?: string
  /** From 1; absent where the parser does not know. */
  line?: number
  column?: number
}

/** Wrong use of the API: thrown at once, nothing has changed. Where a configuration file is wrong, it says at which place. */
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

/** `prompt()` or `continueLoop()` during a run. Nothing has changed; steer the run, queue a follow-up, or wait for it. */
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

/** A cursor older than what the run still remembers. Start again from `oldest`, or read the stored history. */
export class CursorExpiredError extends PhiError {
  override readonly name = 'CursorExpiredError'
  /** The oldest cursor that still works as `after`. */
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

/** The journal refused: nothing may happen that it would have to know. Ends a run with status `error`. */
export class JournalError extends PhiError {
  override readonly name = 'JournalError'
  constructor(cause: unknown) {
    super('journal', `The run stopped before its next step, because the journal could not store the conversation: ${errorText(cause)}`, {
      cause,
    })
  }

  /** Whether it has certainly stored nothing of what it refused. Else nobody knows: it may be there all the same. */
  get hasStoredNothing(): boolean {
    return SessionError.isInstance(this.cause) && unwritten.has(this.cause.code)
  }
}

/** No room, another writer, a store that did not open: nothing of a write is there after them. */
const unwritten: ReadonlySet<SessionErrorCode> = new Set(['quota', 'conflict', 'blocked'])

/**
 * A part of this package that is loaded late could not be had: the page was deployed anew, went offline, or the files on disk are gone. Nothing
 * is wrong with the network of the model, and the same run cannot go on: reload the page, or restart the process.
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

/** Whether somebody can wait for so long. Of anything else, JSON would make something that no log takes. */
function isWait(ms: number | undefined): ms is number {
  return Number.isFinite(ms) && Number(ms) >= 0
}

/** What failed, as data, and what of ours was behind it. */
export function toRunFailure(error: unknown): RunFailure {
  if (!PhiError.isInstance(error)) return { code: 'other', message: errorText(error) }
  const { code, cause } = error
  const failure: RunFailure = { code, message: errorText(error) }
  if (ProviderError.isInstance(error) && isWait(error.retryAfterMs)) failure.retryAfterMs = error.retryAfterMs
  // Only what is ours, and says more: nobody knows what others put into their errors.
  if (!PhiError.isInstance(cause) || cause.code === code) return failure
  return { ...failure, cause: { code: cause.code, message: errorText(cause) } }
}

/** The failure of code of the application that a run cannot do without, with its own code; `name` is the option it was passed as. */
export function callbackFailed(name: string, cause: unknown): PhiError {
  const code = PhiError.isInstance(cause) ? cause.code : 'other'
  return new PhiError(code, `${name} failed: ${errorText(cause).replace(/\.$/, '')}. The run stopped.`, { cause })
}

/**
 * What anything thrown has to say, however odd: its message, else its name, what caused it, or its JSON. Never empty, and never throws: it runs
 * where a failure is being handled.
 */
export function errorText(error: unknown): string {
  try {
    return saidBy(error) || 'an error without a message'
  } catch {
    return 'an error that cannot be shown as text'
  }
}

function saidBy(error: unknown): string {
  if (typeof error !== 'object' || error === null) return String(error)
  const { message, name, cause }: { message?: unknown; name?: unknown; cause?: unknown } = error
  if (typeof message === 'string' && message !== '') return message
  if (error instanceof Error) {
    const kind = String(name)
    return cause instanceof Error && cause.message !== '' ? `${kind}: ${cause.message}` : kind
  }
  return JSON.stringify(error) ?? String(error)
}

/** Names are compared, not constructors: another copy of the package has its own, and minifiers rename them. */
export function isNamed(value: unknown, name: string): boolean {
  return PhiError.isInstance(value) && value.name === name
}

/** What a model threw, as a `ProviderError`: `other` with its words, where it was none. */
export function asProviderError(error: unknown): ProviderError {
  return ProviderError.isInstance(error) ? error : new ProviderError('other', errorText(error), { cause: error })
}
