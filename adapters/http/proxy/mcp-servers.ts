import { isJsonObject } from '../../../src/contract/json.ts'
import { kind, listOf } from '../../../src/contract/shape/shape.ts'
import type { JsonObject, JsonValue } from '../../../src/index.ts'
import { refuse } from '../access/problem.ts'
import { contentFields, describesForms, formsOfFunctions } from './call-body.ts'

/** Validation shape for a proxy's `mcpHosts`. */
export const mcpHostList = listOf(
  kind('a host, such as "mcp.example.com" or "*.example.com", or the id of a connector', (value) => {
    return typeof value === 'string' && /^(?:\*\.[\w-]+\.[\w.-]+|[\w.-]+)(?::\d{1,5})?$/.test(value)
  }),
)

/** Fields that list MCP servers, in all providers' spellings. */
const listsServers = /^mcp_?servers?$/i
/** Fields of an object that describes an MCP server, as in OpenAI's `tools`. */
const namesServer = /^(?:server_?url|connector_?id)$/i
/** Matches a URL that all parsers read identically. */
const plainAddress = /^https:\/\/([a-z0-9.-]+(?::\d{1,5})?)(?:[/?][^\\]*)?$/i

/**
 * Rejects a call that refers to an MCP server whose host is not allowed.
 *
 * Providers connect from their own network and forward the client's data, so a client could reach any server through the proxy's account.
 */
export function assertMcpServers(body: JsonObject, hosts: readonly string[]): void {
  const refused = serversIn(body, contentFields).find((server) => !isAllowed(server, hosts))
  if (refused === undefined) return
  const shown = JSON.stringify(refused.slice(0, 200))
  refuse(403, 'mcpServerNotAllowed', `The MCP server ${shown} is not allowed through this proxy. Add its host to mcpHosts of the proxy.`)
}

/**
 * Returns the host or connector of every MCP server in the body. Returns unreadable values unchanged, so that they match no entry in the
 * allow-list.
 */
function serversIn(holder: JsonObject, unread: ReadonlySet<string>): string[] {
  return Object.entries(holder).flatMap(([field, value]) => {
    if (unread.has(field) || describesForms.test(field)) return []
    if (listsServers.test(field)) return (Array.isArray(value) ? value : [value]).flatMap(serversOf)
    if (namesServer.test(field)) return [serverNamed(value)]
    return serversBelow(value)
  })
}

function serversBelow(value: JsonValue | undefined): string[] {
  if (Array.isArray(value)) return value.flatMap(serversBelow)
  if (!isJsonObject(value)) return []
  // A function's schema is client content.
  if (value.type === 'function') return serversIn(value, formsOfFunctions)
  const named = serversIn(value, nothing)
  return value.type === 'mcp' && named.length === 0 ? [unreadable(value)] : named
}

const nothing: ReadonlySet<string> = new Set()

/** Reads an entry of a server list: Anthropic's `url`, or Gemini's `streamableHttpTransport.url`. */
function serversOf(entry: JsonValue): string[] {
  const addresses = addressesIn(entry)
  return addresses.length === 0 ? [unreadable(entry)] : addresses.map(serverNamed)
}

function addressesIn(value: JsonValue | undefined): JsonValue[] {
  if (Array.isArray(value)) return value.flatMap(addressesIn)
  if (!isJsonObject(value)) return []
  return Object.entries(value).flatMap(([field, inner]) => (/url$/i.test(field) ? [inner ?? null] : addressesIn(inner)))
}

function serverNamed(value: JsonValue | undefined): string {
  if (typeof value !== 'string') return unreadable(value)
  return plainAddress.exec(value)?.[1]?.toLowerCase() ?? value
}

function unreadable(value: JsonValue | undefined): string {
  return JSON.stringify(value ?? null)
}

function isAllowed(server: string, hosts: readonly string[]): boolean {
  return hosts.some((host) => {
    const wanted = host.toLowerCase()
    return server === wanted || (wanted.startsWith('*.') && /^[a-z0-9.:-]+$/.test(server) && server.endsWith(wanted.slice(1)))
  })
}
