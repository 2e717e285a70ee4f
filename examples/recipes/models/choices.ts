import { Agent, ConfigError } from 'phi-core'
import { scripted } from 'phi-core/testing'

const fast = scripted(() => ({ text: 'Quick and short.' }), { id: 'fast-1' })
const deep = scripted(() => ({ text: 'A long thought, then an answer.' }), { id: 'deep-1' })

/** Picks a model and a thinking level for one prompt. */
export async function choose(write: (line: string) => void): Promise<void> {
  const agent = new Agent({ model: fast, choices: { models: { deep }, thinking: ['off', 'high'] } })
  write(await agent.prompt('Hello.').text())
  const run = agent.prompt('And now think.', { model: 'deep', thinking: 'high' })
  write(await run.text())
  try {
    agent.prompt('Once more.', { model: 'huge' })
  } catch (error) {
    if (ConfigError.isInstance(error)) write(`${error.code}: ${error.message}`)
  }
}
