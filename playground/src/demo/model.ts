import { type Script, scripted } from '../../../src/providers/scripted/index.ts'

/** Made up: scripted answers cost nothing. */
export const demoCost = { inputPerMillion: 3, outputPerMillion: 15, cacheReadPerMillion: 0.3, cacheWritePerMillion: 3.75 }

/** A model of the demo; everything around it is real. */
export function demoModel(script: Script, id: string, name: string) {
  return scripted(script, { id, name, delayMs: 24, chunkSize: 6, config: { contextWindow: 12_000, maxTokens: 2000, cost: demoCost } })
}
