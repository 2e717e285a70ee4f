import type { CostConfig } from '../../../src/index.ts'
import type { ModelChoice } from '../settings/settings.ts'
import { type ServiceToolKit, serviceToolKit } from './service-tools.ts'
import { type Service, services } from './services.ts'

/** A call to one of the SDK's model factories, as made by the page and printed by "view code". */
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
  /** Provider-executed tools, for `serverTools`. Absent without any. */
  serviceTools?: { kit: ServiceToolKit; names: readonly string[] }
  /** Environment variable that holds the key in a program. Absent if no key is needed. */
  keyVariable?: string
}

/** Returns the factory call for the selected model. The scripted model has none. */
export function factoryCall(choice: ModelChoice): FactoryCall {
  const { source, service: id, modelId, address, contextWindow, inputPrice, outputPrice } = choice
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
  return { entry, factory, modelId, options, keyVariable: source === 'proxy' ? 'PROXY_TOKEN' : keyVariable, ...chosenTools(choice) }
}

/** Only tools of this provider, because the names may belong to another one. */
function chosenTools(choice: ModelChoice): Pick<FactoryCall, 'serviceTools'> {
  const kit = serviceToolKit(choice)
  const names = Object.keys(kit?.tools ?? {}).filter((name) => choice.serviceTools.includes(name))
  return kit === undefined || names.length === 0 ? {} : { serviceTools: { kit, names } }
}

/** Returns the owner of the key that a call needs. */
export function keyOwnerOf({ source, service, address }: ModelChoice): string | undefined {
  if (source === 'scripted') return undefined
  if (source === 'direct') return service
  // A token is only for the server that it was entered for.
  return `${source} ${originOf(address)}`
}

function originOf(address: string): string {
  return URL.canParse(address) ? new URL(address).origin : ''
}

/** Usual rates of cached tokens: a tenth of the price for reads, and a quarter more for writes. */
function costOf(inputPerMillion: number, outputPerMillion: number): CostConfig {
  return { inputPerMillion, outputPerMillion, cacheReadPerMillion: inputPerMillion / 10, cacheWritePerMillion: inputPerMillion * 1.25 }
}
