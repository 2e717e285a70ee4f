import { type Script, scripted } from '../../../testing/index.ts'
import { pace } from './pace.ts'

/** Made-up prices. Scripted responses cost nothing. */
export const demoCost = { inputPerMillion: 3, outputPerMillion: 15, cacheReadPerMillion: 0.3, cacheWritePerMillion: 3.75 }

const config = { contextWindow: 12_000, maxTokens: 2000, cost: demoCost }

/** Computes each response from the prompt. */
export type DemoScript = Exclude<Script, readonly unknown[]>

/** A model for the demo. Everything around it is real. */
export function demoModel(script: DemoScript, id: string, name: string) {
  const paced: DemoScript = async (request, turn) => {
    const step = await script(request, turn)
    return { ...step, delayMs: (step.delayMs ?? 24) * pace }
  }
  return scripted(paced, { id, name, chunkSize: 6, config })
}
