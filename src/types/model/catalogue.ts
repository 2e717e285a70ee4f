import type { CostConfig } from '../../contract/model/usage.ts'

/** What a catalogue knows of a model. */
export interface CatalogueEntry {
  /** As factories and messages name the service. */
  provider: string
  id: string
  /** Tokens. */
  contextWindow: number
  /** Tokens of its longest answer. */
  maxOutputTokens: number
  /** USD per million tokens. */
  cost: CostConfig
  /** Whether it can think. */
  reasoning: boolean
  /** Whether it takes pictures. */
  takesPictures: boolean
}

/** Facts of models: `catalogue` of `phi-core/models`, or one of your own. */
export interface ModelCatalogue {
  /** What is known of a model; `undefined` where nothing is. */
  find(provider: string, id: string): CatalogueEntry | undefined
}
