import type { ModelCapabilities } from '../../../contract/model/model-config.ts'
import type { ToolDefinition } from '../../../contract/model/request.ts'
import type { StreamRequest } from '../../../types/model/provider.ts'

/** What of a request is sent where its service searches among tools. */
export interface SearchPlan {
  /** To be encoded instead: without what the service searches, and without the search that it replaces. */
  request: StreamRequest
  /** Tools that the service is given, and does not show. Empty: it does not search. */
  deferred: readonly ToolDefinition[]
}

/**
 * Leaves the search among the `searchable` tools of `request` to a service that has one.
 *
 * **Contract**
 * - Nothing stands twice: what was found earlier stays among the deferred tools, and so the prompt's prefix stays as it was.
 * - A choice of tools stands: those that it names are shown. Where it names a search of the caller's, that one searches.
 */
export function planSearch(request: StreamRequest, { toolSearch }: ModelCapabilities): SearchPlan {
  const { searchable, tools, toolChoice } = request
  if (toolSearch !== true || searchable === undefined) return { request, deferred: [] }
  const chosen = typeof toolChoice !== 'object' ? [] : 'tool' in toolChoice ? [toolChoice.tool] : toolChoice.allowed
  if (searchable.foundBy.some((name) => chosen.includes(name))) return { request, deferred: [] }
  const deferred = chosen.length === 0 ? searchable.tools : searchable.tools.filter(({ name }) => !chosen.includes(name))
  const hidden = new Set([...searchable.foundBy, ...searchable.tools.map(({ name }) => name)])
  const named = searchable.tools.filter(({ name }) => chosen.includes(name))
  return { request: { ...request, tools: [...tools.filter(({ name }) => !hidden.has(name)), ...named] }, deferred }
}
