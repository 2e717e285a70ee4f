import { Agent, type Model } from 'phi-core'
import { defaultContextTranslation } from 'phi-core/context'

/** Asks one model, asks another about the response and its thinking, then asks the first again. */
export async function askBoth(first: Model, second: Model, question: string): Promise<string> {
  const agent = new Agent({ model: first, contextTranslation: defaultContextTranslation })
  await agent.prompt(question).result
  agent.configure({ model: second })
  await agent.prompt('Is that right?').result
  agent.configure({ model: first })
  return agent.prompt('What do you say to that?').text()
}
