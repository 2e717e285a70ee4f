import { ProviderError } from '../../../contract/errors.ts'
import type { ToolDefinition } from '../../../contract/model/request.ts'
import type { StreamRequest } from '../../../types/model/provider.ts'
import type { ModelProfile } from '../capabilities/capabilities.ts'
import { type FormatPlan, planFormat } from '../optional/response-format/response-format.ts'
import { planChoice, planSearch, type ToolChoiceRules, type ToolPlan } from '../optional/settings/tool-choice.ts'

/** Response format and tool choice of a request. */
export interface RequestPlan extends ToolPlan {
  format: FormatPlan
  /** Tools that the provider receives without showing them to the model. Empty if the provider does not search. */
  deferred: readonly ToolDefinition[]
}

/**
 * Plans the tools and response format of `asked` for a provider with these `rules` and a model with this profile.
 *
 * **Contract**
 * - The response format takes precedence: if a tool receives the response, the choice `none` means only this tool.
 * - Without tools, sends no tool choice, because providers reject it.
 * - If the provider cannot force a call, declares only the named tool, or all tools.
 * - Adds changes to `warnings`. Throws `ProviderError`: `schemaMismatch` if the format cannot be enforced, `unsupported` for more tools
 *   than the provider accepts.
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
  const next = 'Pass fewer tools, use toolSearch, or delegate to sub-agents.'
  throw new ProviderError('unsupported', `The provider accepts at most ${maxTools} tools, but ${model.id} has ${tools.length}. ${next}`)
}
