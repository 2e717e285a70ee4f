import { Agent, type InferTools } from 'phi-core'
import { runClientTools } from 'phi-core/client'
import { scripted } from 'phi-core/testing'
import { clientTool } from 'phi-core/tools'

// Declared with the agent. It has no `execute`, because the web app runs it.
const setTheme = clientTool<{ theme: string }, 'set_theme', { applied: string }>({
  name: 'set_theme',
  description: 'Sets the colours of the page.',
  parameters: { type: 'object', properties: { theme: { enum: ['light', 'dark'] } }, required: ['theme'] },
  output: { type: 'object', properties: { applied: { type: 'string' } }, required: ['applied'] },
  timeoutMs: 60_000,
})

/** In this example, the agent also runs in the web app. If it runs on a server, call `session.tools({ … })` instead. */
export async function paint(write: (line: string) => void): Promise<void> {
  const model = scripted([{ toolCalls: [{ name: 'set_theme', arguments: { theme: 'dark' } }] }, { text: 'It is dark now.' }])
  const agent = new Agent({ model, tools: [setTheme] })
  const stop = runClientTools<InferTools<[typeof setTheme]>>(agent, {
    set_theme: ({ theme }) => {
      write(`theme: ${theme}`)
      return { applied: theme }
    },
  })
  write(await agent.prompt('Make it dark.').text())
  stop()
}
