import type { ModelCapabilities } from '../../../../contract/model/model-config.ts'
import type { ToolDefinition } from '../../../../contract/model/request.ts'
import type { ToolChoice } from '../../../../contract/model/request-settings.ts'
import type { StreamRequest } from '../../../../types/model/provider.ts'
import { perObject } from '../../encode/json-pieces.ts'
import { leaveOut } from '../../settings/write-settings.ts'
import { answerToolName } from '../response-format/answer-tool.ts'
import type { FormatPlan } from '../response-format/response-format.ts'

/** Tool choices that a provider supports. */
export interface ToolChoiceRules {
  /** Whether the provider can forbid tool calls. Otherwise, the request contains no tools. */
  none: boolean
  /** Whether the provider can restrict calls to some tools, even for `auto`. Otherwise, the request contains only these tools. */
  subset: boolean
  /** Whether no tool can be forced while the model thinks. */
  forcingStopsThinking: boolean
  /** Whether the provider has its own tool search, for models that support it. */
  searches?: boolean
  /** Maximum number of tools. Absent: unknown. */
  maxTools?: number
}

/** A tool choice in a provider-independent form. */
export interface ToolPlan {
  /** The request to encode, with the tools to declare. */
  request: StreamRequest
  /** Absent: `auto`. */
  choice?: Exclude<ToolChoice, object> | { tool: string } | { allowed: readonly string[]; mode: 'auto' | 'required' } | undefined
  /** Whether the response may contain at most one call. */
  isSingle: boolean
}

/** Inputs of a tool choice. */
interface Forcing {
  /** Whether at most one call is requested. */
  isSingle: boolean
  rules: ToolChoiceRules
  capabilities: ModelCapabilities
}

/** Plans the tool choice, based on the response format `plan`. See `planRequest`. */
export function planChoice(plan: FormatPlan, service: Forcing, warnings: string[]): ToolPlan {
  const { request } = plan
  const { toolChoice: asked, tools } = request
  const { isSingle, rules } = service
  const answer = plan.kind === 'tool' ? answerChoice(plan, asked) : undefined
  if (answer !== undefined) return { request, isSingle, choice: answer === 'auto' ? undefined : answer }
  if (asked === undefined || asked === 'auto') return { request, isSingle, choice: asked && tools.length > 0 ? asked : undefined }
  if (tools.length === 0) {
    if (asked !== 'none') leaveOut(request, 'toolChoice', 'is given no tools', warnings)
    return { request, isSingle: false }
  }
  if (asked === 'none') return rules.none ? { request, isSingle, choice: 'none' } : { request: withTools(request, []), isSingle: false }
  return chosen(request, asked, service, warnings)
}

/** Returns the choice that the response format requires, or `undefined` if the caller's choice applies. */
function answerChoice(plan: Extract<FormatPlan, { kind: 'tool' }>, asked: ToolChoice | undefined): ToolPlan['choice'] {
  const isOpen = asked === undefined || asked === 'auto' || asked === 'none'
  if (!isOpen) return undefined
  if (plan.force === 'none') return 'auto'
  return plan.force === 'answer' || asked === 'none' ? { tool: answerToolName } : 'required'
}

function chosen(
  request: StreamRequest,
  asked: Exclude<ToolChoice, 'auto' | 'none'>,
  { isSingle, rules, capabilities }: Forcing,
  warnings: string[],
): ToolPlan {
  const names = asked === 'required' ? undefined : 'tool' in asked ? [asked.tool] : asked.allowed
  if (names !== undefined && isUnknown(request, names, warnings)) return { request, isSingle }
  const isForced = asked === 'required' || 'tool' in asked || asked.mode === 'required'
  const thinks = rules.forcingStopsThinking && request.thinking !== 'off' && capabilities.thinking !== 'none'
  const cannot = !capabilities.forcedToolChoice
    ? 'cannot be forced to call a tool'
    : thinks
      ? 'cannot be forced to call a tool while it thinks'
      : undefined
  if (isForced && cannot !== undefined) {
    leaveOut(request, 'toolChoice', `${cannot}, so it is only offered ${names === undefined ? 'the tools' : names.join(', ')}`, warnings)
    return { request: names === undefined ? request : withTools(request, names), isSingle }
  }
  if (asked === 'required' || 'tool' in asked) return { request, isSingle, choice: asked }
  const mode = asked.mode ?? 'auto'
  if (rules.subset) return { request, isSingle, choice: { allowed: asked.allowed, mode } }
  return { request: withTools(request, asked.allowed), isSingle, choice: mode }
}

function isUnknown(request: StreamRequest, names: readonly string[], warnings: string[]): boolean {
  const missing = names.find((name) => !request.tools.some((tool) => tool.name === name))
  if (missing === undefined && names.length > 0) return false
  const reason = missing === undefined ? 'is allowed no tool by it' : `is given no tool ${JSON.stringify(missing)}`
  leaveOut(request, 'toolChoice', reason, warnings)
  return true
}

/** Returns the same list for the same names, so that encoded forms are reused. */
const subsets = perObject((tools: readonly ToolDefinition[]) => {
  const made = new Map<string, readonly ToolDefinition[]>()
  return (names: readonly string[]): readonly ToolDefinition[] => {
    const key = names.join('\n')
    const some = made.get(key) ?? tools.filter(({ name }) => names.includes(name) || name === answerToolName)
    made.set(key, some)
    return some
  }
})

function withTools(request: StreamRequest, names: readonly string[]): StreamRequest {
  return { ...request, tools: subsets(request.tools)(names) }
}

/**
 * Delegates the search among the `searchable` tools of `request` to a provider with its own tool search. The provider receives `deferred`
 * tools without showing them to the model. `request` contains neither these tools nor the replaced search tool. Returns `undefined` if the
 * model has no tool search.
 *
 * **Contract**
 * - Tools are sent once. Found tools stay deferred, so the prompt prefix does not change.
 * - Applies a tool choice and shows the selected tools to the model. If the choice selects one of the caller's search tools, that tool
 *   searches instead.
 */
export function planSearch(
  request: StreamRequest,
  { toolSearch }: ModelCapabilities,
): { request: StreamRequest; deferred: readonly ToolDefinition[] } | undefined {
  const { searchable, tools, toolChoice } = request
  if (toolSearch !== true || searchable === undefined) return undefined
  const chosen = typeof toolChoice !== 'object' ? [] : 'tool' in toolChoice ? [toolChoice.tool] : toolChoice.allowed
  if (searchable.foundBy.some((name) => chosen.includes(name))) return undefined
  const deferred = chosen.length === 0 ? searchable.tools : searchable.tools.filter(({ name }) => !chosen.includes(name))
  const hidden = new Set([...searchable.foundBy, ...searchable.tools.map(({ name }) => name)])
  const named = searchable.tools.filter(({ name }) => chosen.includes(name))
  return { request: { ...request, tools: [...tools.filter(({ name }) => !hidden.has(name)), ...named] }, deferred }
}
