import { ConfigError } from '../../contract/errors.ts'
import { serviceAddresses } from './transport/endpoint.ts'

/** Base URLs of vendors that serve only their own models. */
export const vendorAddresses = {
  anthropic: serviceAddresses.anthropic,
  openai: serviceAddresses.openai,
  google: serviceAddresses.google,
  xai: 'https://api.x.ai/v1',
  deepseek: 'https://api.deepseek.com',
  mistral: 'https://api.mistral.ai/v1',
  moonshot: 'https://api.moonshot.ai/v1',
  minimax: 'https://api.minimax.io/v1',
  zai: 'https://api.z.ai/api/paas/v4',
} as const

/** A vendor whose URL serves only its own models. */
export type Vendor = keyof typeof vendorAddresses

/** Prefixes of each vendor's model ids. Omits open-weight models such as `gpt-oss`, which other providers also serve. */
const modelIds: Readonly<Record<Vendor, RegExp>> = {
  anthropic: /^(?:anthropic\/|claude-)/i,
  openai: /^(?:openai\/|(?:ft:)?(?:gpt-(?!oss)|chatgpt-|o[1-9](?:-|$)|codex-))/i,
  google: /^(?:google\/|(?:models\/)?gemini-)/i,
  xai: /^(?:xai\/|x-ai\/|grok-)/i,
  deepseek: /^(?:deepseek\/|deepseek-(?:chat|reasoner|v\d))/i,
  mistral: /^(?:mistral\/|mistralai\/|(?:mistral|magistral|ministral|codestral|devstral|pixtral)-)/i,
  moonshot: /^(?:moonshot\/|moonshotai\/|kimi-|moonshot-)/i,
  minimax: /^(?:minimax\/|minimax-)/i,
  zai: /^(?:zai\/|z-ai\/|glm-)/i,
}

const vendors = Object.keys(modelIds) as Vendor[] // keys of that table

/** Returns the vendor of a model id, or `undefined` if the id does not identify it. */
export function vendorOfModel(id: string): Vendor | undefined {
  return vendors.find((vendor) => modelIds[vendor].test(id.trim()))
}

const vendorHosts = new Map(vendors.map((vendor) => [new URL(vendorAddresses[vendor]).hostname, vendor]))

/**
 * Returns the vendor at `baseUrl`. Endpoints that imitate another protocol, such as `/anthropic`, map model ids themselves and count as
 * gateways.
 */
function vendorAt(baseUrl: string): Vendor | undefined {
  if (!URL.canParse(baseUrl)) return undefined
  const { hostname, pathname } = new URL(baseUrl)
  return /^\/anthropic(\/|$)/.test(pathname) ? undefined : vendorHosts.get(hostname.replace(/\.$/, ''))
}

/** Key prefixes by vendor, for vendors with recognizable keys. */
const keyForms: readonly (readonly [RegExp, Vendor])[] = [
  [/^sk-ant-/, 'anthropic'],
  [/^sk-(?:proj|svcacct|admin)-/, 'openai'],
  [/^AIza/, 'google'],
  [/^xai-/, 'xai'],
]

/**
 * Throws `ConfigError` `invalidOption` if the model `id` or the key belongs to a different vendor than `baseUrl`. Gateways accept any model
 * and key. Messages never contain a key.
 */
export function checkVendor({ id, baseUrl }: { id: string; baseUrl: string }, apiKey?: unknown): void {
  const host = vendorAt(baseUrl)
  if (host === undefined) return
  const owner = vendorOfModel(id)
  const { hostname } = new URL(baseUrl)
  if (owner !== undefined && owner !== host) {
    throw new ConfigError(
      'invalidOption',
      `model ${JSON.stringify(id.slice(0, 60))} belongs to ${owner}, but ${hostname} serves models of ${host} only. Choose the service ${owner} for it, or pass the baseUrl of a gateway that serves it.`,
    )
  }
  const issuer = typeof apiKey === 'string' ? keyForms.find(([form]) => form.test(apiKey.trim()))?.[1] : undefined
  if (issuer !== undefined && issuer !== host) {
    throw new ConfigError('invalidOption', `apiKey is a key of ${issuer}, but ${hostname} belongs to ${host}. Pass the key of ${host}.`)
  }
}
