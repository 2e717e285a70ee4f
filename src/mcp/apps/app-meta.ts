import { fieldIn, isObject } from '../../contract/json.ts'

/** The extension of MCP that apps belong to. Source: https://github.com/modelcontextprotocol/ext-apps */
export const appExtension = 'io.modelcontextprotocol/ui'

/** Media type of an app's HTML. */
export const appMimeType = 'text/html;profile=mcp-app'

/** Scheme of an app's URI. */
const appScheme = 'ui://'
/** Maximum characters of a URI from a server. */
export const maxUri = 4096

/** The caller of a tool: the agent's model, or an app in a frame. */
export type ToolCaller = 'model' | 'app'

/** A tool's app, and who may call the tool. */
export interface McpToolUi {
  /** URI of the app that shows the calls of the tool. */
  resourceUri?: string
  visibility: readonly ToolCaller[]
}

/** Returns the app metadata in `_meta` of a tool; `undefined` if there is none. */
export function toolUi(meta: unknown): McpToolUi | undefined {
  const ui = fieldIn(meta, 'ui')
  const resourceUri = [fieldIn(ui, 'resourceUri'), fieldIn(meta, 'ui/resourceUri')].find(isAppUri)
  if (resourceUri === undefined && !isObject(ui)) return undefined
  return { ...(resourceUri !== undefined && { resourceUri }), visibility: visibilityIn(fieldIn(ui, 'visibility')) }
}

/** A list restricts a tool to the callers in it. Without a list, both may call the tool. */
function visibilityIn(given: unknown): ToolCaller[] {
  const callers: ToolCaller[] = ['model', 'app']
  return Array.isArray(given) ? callers.filter((caller) => given.includes(caller)) : callers
}

/** Returns whether `caller` may call a tool with this metadata. */
export function isVisibleTo(caller: ToolCaller, { ui }: { ui?: McpToolUi }): boolean {
  return ui === undefined || ui.visibility.includes(caller)
}

function isAppUri(uri: unknown): uri is string {
  return typeof uri === 'string' && uri.length <= maxUri && uri.startsWith(appScheme) && !/[\s\p{Cc}]/u.test(uri) && URL.canParse(uri)
}
