import type { ModelCapabilities, ModelConfig } from '../../types/model.ts'
import { type CapabilityRow, capabilitiesOf, plain } from '../shared/capabilities.ts'

const upToHigh = ['low', 'medium', 'high']
const upToMax = ['low', 'medium', 'high', 'xhigh', 'max']

/** Also what an unknown Claude id is taken for: nothing is sent that any current model refuses. */
const newest: ModelCapabilities = {
  thinking: 'adaptive',
  efforts: upToMax,
  sampling: false,
  forcedToolChoice: false,
  thinkingOff: false,
  boundReasoning: true,
  images: true,
  imagesInToolResults: true,
  jsonSchema: true,
}

/** The oldest generation still served; its tool results take images, its answers are not held to a schema. */
const old: ModelCapabilities = { ...plain, imagesInToolResults: true, jsonSchema: false }

const budget: ModelCapabilities = { ...old, thinking: 'budget' }

const switchable: ModelCapabilities = { ...newest, forcedToolChoice: true, thinkingOff: true }

/** Source: reference/providers.md §1 "Thinking by generation". Ids may carry a vendor prefix, dots and dates. */
const table: readonly CapabilityRow[] = [
  // Other models behind this protocol know the oldest form of thinking, if any.
  { ids: /^(?!.*claude)/i, capabilities: budget },
  { ids: /claude-(instant|2|3[-.]5|3-opus|3-sonnet|3-haiku)/, capabilities: old },
  { ids: /claude-(3[-.]7|(opus|sonnet|haiku)-4(?![-.][6-9](?!\d)))/, capabilities: budget },
  {
    ids: /claude-(opus|sonnet|haiku)-4[-.]6/,
    capabilities: { ...switchable, efforts: [...upToHigh, 'max'], sampling: true, boundReasoning: false },
  },
  { ids: /claude-((opus|sonnet|haiku)-4[-.][7-9]|(opus|sonnet)-5(?![-.]\d(?!\d))|haiku-5[-.]5)/, capabilities: switchable },
  { ids: /claude-(fable|mythos)-5(?![-.]\d(?!\d))/, capabilities: { ...newest, thinking: 'alwaysOn', forcedToolChoice: true } },
  { ids: /claude-(fable-5[-.][12]|opus-5[-.]5)/, capabilities: { ...newest, thinking: 'alwaysOn' } },
]

/** What the Anthropic Messages service accepts for `model`. */
export function anthropicCapabilities(model: ModelConfig): ModelCapabilities {
  const capabilities = capabilitiesOf(model, table, newest)
  const saysNone = !model.reasoning && model.capabilities?.thinking === undefined
  return saysNone ? { ...capabilities, thinking: 'none' } : capabilities
}
