import { bytesOfBase64 } from '../../base/base64.ts'
import { utf8In } from '../../base/text/characters.ts'
import { ToolError } from '../../contract/errors.ts'
import { fieldIn } from '../../contract/json.ts'
import { isBase64 } from '../../contract/message/media.ts'
import { oneLine } from '../call-result.ts'
import { ask, need, type RequestSetting } from '../features/requests.ts'
import { appMimeType } from './app-meta.ts'

/** Maximum characters of an app's HTML. */
export const maxHtml = 4 * 1024 * 1024
/** Maximum domains per list. */
const maxDomains = 50

/** Domains that an app requests, as declared by its server. Untrusted. */
export interface McpAppDomains {
  /** For requests and sockets. */
  connectDomains?: readonly string[]
  /** For scripts, styles, images, fonts and media. */
  resourceDomains?: readonly string[]
  /** For nested frames. */
  frameDomains?: readonly string[]
  /** For `<base>`. */
  baseUriDomains?: readonly string[]
}

/** An app's HTML. Untrusted: render it only with `mountMcpApp`. */
export interface McpAppResource {
  html: string
  /** Default: the app has no network. */
  csp?: McpAppDomains
  /** Whether the app requests a visible border. */
  prefersBorder?: boolean
}

/** The lists of {@link McpAppDomains}. */
export const domainLists = ['connectDomains', 'resourceDomains', 'frameDomains', 'baseUriDomains'] as const

/** Reads an app. Rejects with `ToolError` if the resource has no HTML of type {@link appMimeType}, or more than 4 Mi characters. */
export async function readApp(setting: RequestSetting, uri: string, signal: AbortSignal | undefined): Promise<McpAppResource> {
  need(setting, 'resources')
  const { contents } = await ask(setting, { method: 'resources/read', params: { uri } }, signal)
  const found: unknown = Array.isArray(contents) ? contents.find((content) => isApp(fieldIn(content, 'mimeType'))) : undefined
  const html = htmlIn(found)
  if (html === undefined || html.length > maxHtml) {
    const why = html === undefined ? `has no content of the type ${appMimeType}` : `has more than ${maxHtml} characters`
    throw new ToolError('failed', `The app "${oneLine(uri)}" of the MCP server ${why}.`)
  }
  const ui = fieldIn(fieldIn(found, '_meta'), 'ui')
  const csp = domainsIn(fieldIn(ui, 'csp'))
  const prefersBorder = fieldIn(ui, 'prefersBorder')
  return { html, ...(csp !== undefined && { csp }), ...(typeof prefersBorder === 'boolean' && { prefersBorder }) }
}

function isApp(mimeType: unknown): boolean {
  return typeof mimeType === 'string' && mimeType.length < 200 && mimeType.toLowerCase().replaceAll(/\s/g, '') === appMimeType
}

function htmlIn(content: unknown): string | undefined {
  const [text, blob] = [fieldIn(content, 'text'), fieldIn(content, 'blob')]
  if (typeof text === 'string') return text
  // Base64 of UTF-8 has at most four characters per character of the text.
  return typeof blob === 'string' && blob.length <= 4 * maxHtml && isBase64(blob) ? utf8In(bytesOfBase64(blob)) : undefined
}

function domainsIn(csp: unknown): McpAppDomains | undefined {
  const lists = domainLists.flatMap((name) => {
    const given = fieldIn(csp, name)
    return Array.isArray(given) ? [[name, given.slice(0, maxDomains).filter((each) => typeof each === 'string')] as const] : []
  })
  return lists.length === 0 ? undefined : Object.fromEntries(lists)
}
