import type { StreamRequest } from '../../types/model/provider.ts'
import type { RefusalHint } from '../kit/errors/classify.ts'
import { headerCredential, mergeHeaders } from '../kit/transport/endpoint.ts'
import type { ServerToolParts } from './server-tools.ts'

/** Protocol options in addition to the request. */
export interface AnthropicWire {
  anthropicVersion: string
  dangerouslyAllowBrowser: boolean
  /** `user-agent` for calls with an OAuth token. Absent for API keys. */
  oauthUserAgent?: string
  /** Provider-executed tools. */
  serverTools: ServerToolParts
  /** Secrets in these options, for redaction. */
  secrets: readonly string[]
}

/** The API rejects OAuth tokens without it. */
const oauthIdentity = "You are Claude Code, Anthropic's official CLI for Claude."

const oauthBetas = ['claude-code-20250219', 'oauth-2025-04-20']

/** Hint for a token that needs an option. See {@link keyHint}. */
const oauthHint =
  'It begins with sk-ant-oat, so it is an OAuth token, not an API key. To send it, set the option oauth (read about its risk first).'

/**
 * Returns a request's headers. Throws `ProviderError` `other` for a key that no header can carry.
 * Source: docs/providers/anthropic.md
 */
export function requestHeaders({ model, credential }: StreamRequest, wire: AnthropicWire): Record<string, string> {
  const own: Record<string, string> = { 'content-type': 'application/json', 'anthropic-version': wire.anthropicVersion }
  const key = credential === undefined ? undefined : headerCredential('Anthropic', credential)
  if (key !== undefined && wire.oauthUserAgent === undefined) own['x-api-key'] = key
  if (wire.dangerouslyAllowBrowser) own['anthropic-dangerous-direct-browser-access'] = 'true'
  const { oauthUserAgent, serverTools } = wire
  if (oauthUserAgent === undefined) return withBetas(mergeHeaders(own, model.headers), serverTools.betas)
  if (key !== undefined) own.authorization = `Bearer ${key}`
  return withBetas(mergeHeaders({ ...own, 'x-app': 'cli', 'user-agent': oauthUserAgent }, model.headers), [
    ...oauthBetas,
    ...serverTools.betas,
  ])
}

/** Appends the caller's betas. */
function withBetas(headers: Record<string, string>, betas: readonly string[]): Record<string, string> {
  const wanted = headers['anthropic-beta']
  const all = wanted === undefined ? betas : [...betas, wanted]
  return all.length === 0 ? headers : { ...headers, 'anthropic-beta': all.join(',') }
}

/** Returns the texts of the system prompt, in order. */
export function systemTexts(systemPrompt: string, { oauthUserAgent }: AnthropicWire): readonly string[] {
  const own = systemPrompt.trim() === '' ? [] : [systemPrompt]
  return oauthUserAgent === undefined ? own : [oauthIdentity, ...own]
}

/** Returns a hint for a rejected key. */
export function keyHint({ credential }: StreamRequest, { oauthUserAgent }: AnthropicWire): RefusalHint {
  return (code) => (code === 'auth' && oauthUserAgent === undefined && credential?.trim().startsWith('sk-ant-oat') ? oauthHint : undefined)
}
