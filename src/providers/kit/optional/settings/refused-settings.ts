import { ProviderError } from '../../../../contract/errors.ts'
import type { AssistantMessage } from '../../../../contract/message/message.ts'
import type { SettingName } from '../../../../contract/model/request-settings.ts'
import type { StreamRequest } from '../../../../types/model/provider.ts'
import { readErrorFacts } from '../../errors/error-facts.ts'
import { leaveOut } from '../../settings/write-settings.ts'

/**
 * Provider names of optional settings, in order of precedence in case a provider accepts only one. Excludes settings that force or forbid
 * tools, or limit the response.
 */
const fieldNames = {
  temperature: ['temperature'],
  topP: ['top_p', 'topP'],
  topK: ['top_k', 'topK'],
  stopSequences: ['stop', 'stop_sequences', 'stopSequences'],
  seed: ['seed', 'random_seed'],
  // Gemini's message mentions neither name: "Penalty is not enabled for this model".
  frequencyPenalty: ['frequency_penalty', 'frequencyPenalty', 'Penalty'],
  presencePenalty: ['presence_penalty', 'presencePenalty', 'Penalty'],
  verbosity: ['verbosity'],
  parallelToolCalls: ['parallel_tool_calls', 'disable_parallel_tool_use'],
  thinkingBudget: ['budget_tokens', 'thinking_budget', 'thinkingBudget'],
  thinkingSummary: ['reasoning.summary', 'includeThoughts', 'include_thoughts'],
  serviceTier: ['service_tier', 'serviceTier', 'performanceConfig'],
  cacheTtl: ['prompt_cache_retention', 'prompt_cache_options'],
  user: ['user', 'safety_identifier', 'user_id'],
} as const satisfies Partial<Record<SettingName, readonly string[]>>
type Dispensable = keyof typeof fieldNames
const dispensable = Object.keys(fieldNames) as Dispensable[] // keys of that table

/** Settings with enumerated values. Rejecting one value does not affect other values. */
const worded: ReadonlySet<Dispensable> = new Set(['verbosity', 'thinkingSummary', 'serviceTier', 'cacheTtl'])

/** Messages about an unsupported field. Source: docs/concepts/models.md */
const refusing =
  /unsupported|not supported|(does not|doesn['’]t|do not|don['’]t) (support|take|accept|allow)|unrecognized|unknown (name|parameter|field|argument)|not (permitted|allowed|enabled)|cannot both|unset|deprecated/i
/** A path in the conversation or tools, where schemas and texts may contain any name. */
const insideConversation = /\b(tools|messages|contents|input)(\[|\.\d)|\b(tool_?config|function_declarations)\b|#\/(messages|tools)/i
/** Matches a rejection that depends on the rest of the request, so it does not apply to later requests. */
const depends = /\b(both|when|while|unless|unset)\b/i

/** Rejected settings per model in this process. Evicts the oldest models. */
export const refusedSettings = new Map<string, Set<string>>()
const maxModels = 1000

/** A rejected call. */
interface RefusedCall {
  request: StreamRequest
  /** Settings dropped from the call so far, including newly rejected ones. */
  warnings: string[]
  /** `refusal` is the body of the last rejection, if the last request was rejected. */
  attempts: { readonly signal: AbortSignal; readonly refusal: { body: unknown } | undefined }
  send: (request: StreamRequest) => Promise<AssistantMessage>
}

/**
 * Retries a rejected request without the settings that the rejection mentions. Applies only before the first event.
 *
 * **Contract**
 * - Later requests in this process omit the setting for this model, unless the rejection depends on the rest of the request.
 * - Rejects with `error` if it mentions no setting, otherwise with the last request's error. With `strict`, a rejected setting fails the
 *   call with `unsupported`.
 */
export async function withoutRefusedSettings(
  { request, warnings, attempts, send }: RefusedCall,
  error: unknown,
): Promise<AssistantMessage> {
  let asked = request
  let last = error
  for (;;) {
    const names = attempts.signal.aborted || !isRefusal(last) ? [] : namedBy(attempts.refusal?.body, asked)
    if (names.length === 0) throw last
    asked = without(asked, names, warnings)
    try {
      return await send(asked)
    } catch (thrown) {
      last = thrown
    }
  }
}

/** Returns `request` without settings that its model rejected before, or the same object if there are none. */
export function withoutKnown(request: StreamRequest, warnings: string[]): StreamRequest {
  const known = refusedSettings.get(keyOf(request))
  if (known === undefined) return request
  const names = dispensable.filter((name) => request[name] !== undefined && known.has(whatOf(request, name)))
  return names.length === 0 ? request : without(request, names, warnings)
}

function isRefusal(error: unknown): boolean {
  return ProviderError.isInstance(error) && error.code === 'api' && (error.status === 400 || error.status === 422) && !error.partial
}

function without(request: StreamRequest, names: readonly Dispensable[], warnings: string[]): StreamRequest {
  const rest = { ...request }
  for (const name of names) {
    leaveOut(request, name, 'has refused it', warnings)
    delete rest[name]
  }
  return rest
}

/** Returns the settings of `request` that a rejection mentions, and records them. */
function namedBy(body: unknown, request: StreamRequest): Dispensable[] {
  const { text, names, param, raw } = readErrorFacts(body, undefined)
  // If the message is generic, read the details.
  const refusalText = `${text} ${names} ${raw}`
  if (!refusing.test(refusalText) || insideConversation.test(refusalText)) return []
  const named = dispensable.filter(
    (name) => request[name] !== undefined && fieldNames[name].some((field) => isNamed(field, refusalText, param)),
  )
  const isOneTooMany = /\bboth\b/i.test(refusalText) && named.length > 1
  const [, ...others] = named
  if (!depends.test(refusalText)) remember(request, named)
  return isOneTooMany ? others : named
}

/** A field name that is also a common word matches only in quotes. */
function isNamed(field: string, refusalText: string, param: string | undefined): boolean {
  if (param !== undefined) return param === field || param.endsWith(`.${field}`)
  const isWord = /^(stop|seed|user)$/.test(field)
  return new RegExp(isWord ? `["'\`[]${field}["'\`\\]]` : `(?<!\\w)${field.replace('.', '\\.')}(?!\\w)`).test(refusalText)
}

function remember(request: StreamRequest, names: readonly Dispensable[]): void {
  const key = keyOf(request)
  const known = refusedSettings.get(key) ?? new Set()
  for (const name of names) known.add(whatOf(request, name))
  refusedSettings.set(key, known)
  const [oldest] = refusedSettings.keys()
  if (refusedSettings.size > maxModels && oldest !== undefined) refusedSettings.delete(oldest)
}

function whatOf(request: StreamRequest, name: Dispensable): string {
  return worded.has(name) ? `${name}=${String(request[name])}` : name
}

function keyOf({ model: { api, provider, baseUrl, id } }: StreamRequest): string {
  return JSON.stringify([api, provider, baseUrl, id])
}
