import type { CostConfig } from '../../../src/index.ts'
import type { ModelChoice } from '../settings/settings.ts'
import { type Service, services } from './services.ts'

/** A call of a model factory of the SDK: what the page makes, and what "view code" prints. */
export interface FactoryCall {
  entry: Service['entry']
  factory: Service['factory'] | 'local'
  modelId: string
  /** Without the key. */
  options: {
    baseUrl?: string
    backend?: NonNullable<Service['backend']>
    contextWindow?: number
    cost?: CostConfig
  }
  /** Where a program finds the key; absent where none is needed. */
  keyVariable?: string
}

/** Which factory makes the chosen model. Not for the scripted one. */
export function factoryCall({ source, service: id, modelId, address, contextWindow, inputPrice, outputPrice }: ModelChoice): FactoryCall {
  const service: Service = services[id]
  const facts = {
    ...(contextWindow > 0 && { contextWindow }),
    ...((inputPrice > 0 || outputPrice > 0) && { cost: costOf(inputPrice, outputPrice) }),
  }
  if (source === 'local') {
    return { entry: 'openai', factory: 'local', modelId, options: { ...(address !== '' && { baseUrl: address }), ...facts } }
  }
  const { entry, factory, backend, keyVariable } = service
  const options = { ...(backend !== undefined && { backend }), ...(address !== '' && { baseUrl: address }), ...facts }
  return { entry, factory, modelId, options, keyVariable: source === 'proxy' ? 'PROXY_TOKEN' : keyVariable }
}

/** Whose key a call needs. */
export function keyOwnerOf({ source, service, address }: ModelChoice): string | undefined {
  if (source === 'scripted') return undefined
  if (source === 'direct') return service
  // A token is for the server that it was given for, and no other.
  return `${source} ${originOf(address)}`
}

function originOf(address: string): string {
  return URL.canParse(address) ? new URL(address).origin : ''
}

/** What most services ask for cached tokens: a tenth to read them, a quarter more to write them. */
function costOf(inputPerMillion: number, outputPerMillion: number): CostConfig {
  return { inputPerMillion, outputPerMillion, cacheReadPerMillion: inputPerMillion / 10, cacheWritePerMillion: inputPerMillion * 1.25 }
}
