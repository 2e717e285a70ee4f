import type { ModelCapabilities } from '../../../../contract/model/model-config.ts'
import type { ToolDefinition } from '../../../../contract/model/request.ts'
import type { ToolChoice } from '../../../../contract/model/request-settings.ts'
import type { StreamRequest } from '../../../../types/model/provider.ts'
import { perObject } from '../../encode/json-pieces.ts'
import { leaveOut } from '../../settings/write-settings.ts'
import { answerToolName } from '../response-format/answer-tool.ts'
import type { FormatPlan } from '../response-format/response-format.ts'

/** What a service can be told about tools. */
export interface ToolChoiceRules {
  /** It can be told to call none. Otherwise it is told nothing of its tools. */
  none: boolean
  /** It can be told to use some of its tools only, also where it need not call any. Otherwise it is told of no others. */
  subset: boolean
  /** It cannot be made to call a tool while it thinks. */
  forcingStopsThinking: boolean
  /** It searches among tools itself, for the models that can. */
  searches?: boolean
  /** The most tools that it takes. Absent: no limit is known. */
  maxTools?: number
}

/** What is said of the choice among tools, in one form for all services. */
export interface ToolPlan {
  /** To be encoded instead: with the tools that are declared. */
  request: StreamRequest
  /** Absent: nothing is said, which is `auto`. */
  choice?: Exclude<ToolChoice, object> | { tool: string } | { allowed: readonly string[]; mode: 'auto' | 'required' } | undefined
  /** At most one call. */
  isSingle: boolean
}

/** What a choice depends on. */
interface Forcing {
  /** At most one call is wanted. */
  isSingle: boolean
  rules: ToolChoiceRules
  capabilities: ModelCapabilities
}

/** What `plan`, which says how the answer is formed, makes of the choice among tools. See `planRequest`. */
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

/** What the form of the answer demands; `undefined` where the choice of the caller stands. */
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
    ? 'cannot be made to call a tool'
    : thinks
      ? 'cannot be made to call a tool while it thinks'
      : undefined
  if (isForced && cannot !== undefined) {
    leaveOut(request, 'toolChoice', `${cannot}; it is only offered ${names === undefined ? 'them' : names.join(', ')}`, warnings)
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
  const said = missing === undefined ? 'is allowed no tool by it' : `is given no tool ${JSON.stringify(missing)}`
  leaveOut(request, 'toolChoice', said, warnings)
  return true
}

/** The same list for the same names, so that encoded forms are found again. */
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
 * Leaves the search among the `searchable` tools of `request` to a service that has one. `deferred` are the tools that it is given, and does not show; `request`
 * has neither these nor the search that it replaces. `undefined` if the model has no search.
 *
 * **Contract**
 * - Nothing stands twice: what was found earlier stays among the deferred tools, and so the prompt's prefix stays as it was.
 * - A choice of tools stands: those that it names are shown. Where it names a search of the caller's, that one searches.
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
