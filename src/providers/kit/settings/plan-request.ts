import { ProviderError } from '../../../contract/errors.ts'
import type { ToolDefinition } from '../../../contract/model/request.ts'
import type { StreamRequest } from '../../../types/model/provider.ts'
import type { ModelProfile } from '../capabilities/capabilities.ts'
import { type FormatPlan, planFormat } from '../optional/response-format/response-format.ts'
import { planChoice, planSearch, type ToolChoiceRules, type ToolPlan } from '../optional/settings/tool-choice.ts'

/** What is said of the form of an answer and of tools. */
export interface RequestPlan extends ToolPlan {
  format: FormatPlan
  /** Tools that the service is given, and does not show. Empty: it does not search. */
  deferred: readonly ToolDefinition[]
}

/**
 * What `asked` says of tools and of the form of the answer, as a service with these `rules` takes it for a model with this profile.
 *
 * **Contract**
 * - The form of an answer comes first: where a tool takes the answer, the choice `none` means that tool alone.
 * - Without tools nothing is said: services refuse it.
 * - A call that cannot be forced is asked for by the tools that are declared: the one that was named, or all.
 * - What had to be changed is added to `warnings`. Throws `ProviderError`: `schemaMismatch` if the model cannot be held to the form, `unsupported` for more
 *   tools than the service takes.
 */
export function planRequest(
  asked: StreamRequest,
  { capabilities, formats }: Pick<ModelProfile, 'capabilities' | 'formats'>,
  rules: ToolChoiceRules,
  warnings: string[],
): RequestPlan {
  const search = rules.searches === true && asked.searchable !== undefined ? planSearch(asked, capabilities) : undefined
  const { request: searched, deferred } = search ?? { request: asked, deferred: [] }
  const { responseFormat: form } = searched
  const isText = form === undefined || form.type === 'text'
  const format: FormatPlan = isText ? { kind: 'text', request: searched } : planFormat(searched, form, { capabilities, formats }, warnings)
  const { request } = format
  const isSingle = request.parallelToolCalls === false && request.tools.length > 0
  const isFree = request.toolChoice === undefined && format.kind !== 'tool'
  const plan = isFree ? { request, isSingle } : planChoice(format, { isSingle, rules, capabilities }, warnings)
  const { model, tools } = plan.request
  const { maxTools = Infinity } = rules
  if (tools.length <= maxTools) return { ...plan, format, deferred }
  const next = 'Give it fewer, let it search among them (toolSearch), or hand work to sub-agents.'
  throw new ProviderError('unsupported', `The service takes at most ${maxTools} tools, and ${model.id} was given ${tools.length}. ${next}`)
}
