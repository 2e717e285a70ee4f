import { Agent, type Model } from 'phi-core'
import { parallel } from 'phi-core/agents'

/** Sends a question to two models in parallel. The second one is also the judge. */
export async function bestOf(fast: Model, deep: Model, question: string): Promise<string> {
  const agent = new Agent({ model: fast, systemPrompt: 'Answer in one sentence.' })
  const { result, reason } = await parallel(agent, question, { models: [fast, deep], judge: deep })
  return `${result.text} (${reason ?? 'not judged'})`
}
