import { ProviderError } from '../../../../contract/errors.ts'
import type { AssistantMessage } from '../../../../contract/message/message.ts'
import type { SettingName } from '../../../../contract/model/request-settings.ts'
import type { StreamRequest } from '../../../../types/model/provider.ts'
import { readErrorFacts } from '../../errors/error-facts.ts'
import { leaveOut } from '../../settings/write-settings.ts'

/**
 * What services call the settings that a request can do without, in the order in which they are kept where a service takes only one of them. Not among
 * them: what forces or forbids tools, and what limits the answer.
 */
const fieldNames = {
  temperature: ['temperature'],
  topP: ['top_p', 'topP'],
  topK: ['top_k', 'topK'],
  stopSequences: ['stop', 'stop_sequences', 'stopSequences'],
  seed: ['seed', 'random_seed'],
  // Gemini names neither: "Penalty is not enabled for this model".
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
const dispensable = Object.keys(fieldNames) as Dispensable[] // the keys of that very table

/** Settings of words: one that is refused says nothing of the others. */
const worded: ReadonlySet<Dispensable> = new Set(['verbosity', 'thinkingSummary', 'serviceTier', 'cacheTtl'])

/** How services say that they do not take a field. Source: docs/concepts/models.md */
const refusing =
  /unsupported|not supported|(does not|doesn['’]t|do not|don['’]t) (support|take|accept|allow)|unrecognized|unknown (name|parameter|field|argument)|not (permitted|allowed|enabled)|cannot both|unset|deprecated/i
/** A place in the conversation or the tools, where a schema or a text may have any name. */
const insideConversation = /\b(tools|messages|contents|input)(\[|\.\d)|\b(tool_?config|function_declarations)\b|#\/(messages|tools)/i
/** Depends on the rest of the request, so that it says nothing of the next one. */
const depends = /\b(both|when|while|unless|unset)\b/i

/** Settings that models have refused in this process, by model. The oldest models are forgotten. */
export const refusedSettings = new Map<string, Set<string>>()
const maxModels = 1000

/** A call that was refused. */
interface RefusedCall {
  request: StreamRequest
  /** What was left out of it; settings that are refused are added. */
  warnings: string[]
  /** `refusal` is what the service said to the last request, if it refused that. */
  attempts: { readonly signal: AbortSignal; readonly refusal: { body: unknown } | undefined }
  send: (request: StreamRequest) => Promise<AssistantMessage>
}

/**
 * Sends a refused request once more for each setting that the service refuses by name before it has said anything, without it.
 *
 * **Contract**
 * - What a model has refused is left out of later requests of this process too, unless the refusal depends on the rest of the request.
 * - Rejects with `error` if that refuses no setting, otherwise with what came of the last request. With `strict`, a refused setting is the error
 *   `unsupported`.
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

/** `request` without the settings that its model has refused before; the same object where there is none. */
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

/** The settings of `request` that a refusal names; remembers them. */
function namedBy(body: unknown, request: StreamRequest): Dispensable[] {
  const { text, names, param, raw } = readErrorFacts(body, undefined)
  // Where the message is only that something is wrong, the details have the name.
  const said = `${text} ${names} ${raw}`
  if (!refusing.test(said) || insideConversation.test(said)) return []
  const named = dispensable.filter((name) => request[name] !== undefined && fieldNames[name].some((field) => isNamed(field, said, param)))
  const isOneTooMany = /\bboth\b/i.test(said) && named.length > 1
  const [, ...others] = named
  if (!depends.test(said)) remember(request, named)
  return isOneTooMany ? others : named
}

/** A field that is a word of the language counts only where it is quoted. */
function isNamed(field: string, said: string, param: string | undefined): boolean {
  if (param !== undefined) return param === field || param.endsWith(`.${field}`)
  const isWord = /^(stop|seed|user)$/.test(field)
  return new RegExp(isWord ? `["'\`[]${field}["'\`\\]]` : `(?<!\\w)${field.replace('.', '\\.')}(?!\\w)`).test(said)
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
