import { escapeControls, hasHalf } from '../../base/text/characters.ts'
import { ConfigError, ToolError } from '../../contract/errors.ts'
import type { Content } from '../../contract/message/content.ts'
import { maxUri } from '../apps/app-meta.ts'
import { callResult, oneLine } from '../call-result.ts'
import { ask, listAll, need, type RequestSetting, type ServerList, send, supports, textsIn } from './requests.ts'

/** A resource as a server lists it. Untrusted. */
export interface McpResource {
  uri: string
  name: string
  title?: string
  description?: string
  mimeType?: string
  /** Size in bytes, according to the server. */
  size?: number
}

/** A template for resource URIs, such as `db:///{table}`, as a server lists it. Untrusted. */
export interface McpResourceTemplate {
  /** The template, as defined by RFC 6570. */
  uriTemplate: string
  name: string
  title?: string
  description?: string
  mimeType?: string
}

/** URI schemes that contain code or data instead of a location. Programs that open such a URI may run it. */
const unsafeScheme = /^(?:javascript|vbscript|data|blob):/i

/** Returns whether `uri` is an absolute URI that is safe to show and to request. */
function isResourceUri(uri: unknown): uri is string {
  return isSafe(uri) && URL.canParse(uri)
}

function isSafe(uri: unknown): uri is string {
  if (typeof uri !== 'string' || uri === '' || uri.length > maxUri || unsafeScheme.test(uri)) return false
  // URL parsers would drop spaces and control characters. Others hide or reorder what a person sees.
  return !/\s/.test(uri) && !hasHalf(uri) && escapeControls(uri) === uri
}

/** Text fields that lists of resources and templates show. */
const shownTexts = ['name', 'title', 'description', 'mimeType'] as const

const resourceList: ServerList<McpResource> = {
  method: 'resources/list',
  field: 'resources',
  noun: 'resource',
  read: (entry) => {
    const { uri, size }: Record<string, unknown> = Object(entry)
    if (!isResourceUri(uri)) return []
    const { name = uri, ...texts } = textsIn(entry, shownTexts)
    return [{ uri, name, ...texts, ...(typeof size === 'number' && size >= 0 && { size }) }]
  },
}

const templateList: ServerList<McpResourceTemplate> = {
  method: 'resources/templates/list',
  field: 'resourceTemplates',
  noun: 'resource template',
  read: (entry) => {
    const { uriTemplate }: Record<string, unknown> = Object(entry)
    if (!isSafe(uriTemplate)) return []
    const { name = uriTemplate, ...texts } = textsIn(entry, shownTexts)
    return [{ uriTemplate, name, ...texts }]
  },
}

/** Lists all resources and templates; none if the server has no resources. Skips entries with an unsafe URI. */
export async function listResources(
  setting: RequestSetting,
  signal: AbortSignal | undefined,
): Promise<{ resources: McpResource[]; templates: McpResourceTemplate[] }> {
  if (!supports(setting, 'resources')) return { resources: [], templates: [] }
  const resources = await listAll(resourceList, (request) => send(setting, request, signal))
  // Many servers have no templates and do not support the request.
  const templates = await listAll(templateList, (request) =>
    send(setting, request, signal).catch((error: unknown) => {
      if (/-32601|method not found/i.test(String(Object(error).message))) return { resourceTemplates: [] }
      throw error
    }),
  )
  return { resources, templates }
}

/** Throws `ConfigError` for a URI that is not absolute, too long, or of an unsafe scheme. */
export function checkUri(uri: string): void {
  if (isResourceUri(uri)) return
  throw new ConfigError(
    'invalidOption',
    `Cannot read the resource "${oneLine(uri)}": pass an absolute URI of at most ${maxUri} characters that holds no code or data.`,
  )
}

/** Reads a resource as content blocks, converted and limited like a tool result. */
export async function readResource(setting: RequestSetting, uri: string, signal: AbortSignal | undefined): Promise<Content[]> {
  checkUri(uri)
  need(setting, 'resources')
  const { contents } = await ask(setting, { method: 'resources/read', params: { uri } }, signal)
  if (!Array.isArray(contents))
    throw new ToolError('failed', `The MCP server's response for the resource "${oneLine(uri)}" has no contents.`)
  return callResult({ content: contents.map((resource: unknown) => ({ type: 'resource', resource })) }).content
}
