import { defineTool, type InferTools, memorySessionStore, textOf } from 'phi-core'
import { createAgentApp, memoryLiveSessions } from 'phi-core/http'
import { type ScriptedStep, scripted } from 'phi-core/testing'
import { clientTool } from 'phi-core/tools'
import { z } from 'zod'

const weather = defineTool({
  name: 'weather',
  description: 'Current weather in a city.',
  parameters: z.object({ city: z.string() }),
  needsApproval: true,
  execute: ({ city }) => ({ city, rain: 0.8 }),
})

/** A client tool, which the page runs. */
const setTheme = clientTool({
  name: 'set_theme',
  description: 'Sets the colours of the page.',
  parameters: z.object({ theme: z.enum(['light', 'dark']) }),
  output: z.object({ applied: z.string() }),
  timeoutMs: 60_000,
})

/** The types of the tools, for the pages. Importing them adds no code to a page. */
export type Tools = InferTools<readonly [typeof weather, typeof setTheme]>

const picture = {
  type: 'image',
  mimeType: 'image/png',
  data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
} as const

/** A scripted model that calls both tools. A story streams slowly enough to be stopped. */
const fast = scripted(
  ({ messages }): ScriptedStep => {
    const last = messages.at(-1)
    if (last?.role === 'toolResult')
      return { text: last.toolName === 'weather' ? 'Take an umbrella, says a scripted model.' : 'It is dark now.' }
    const prompt = last === undefined ? '' : textOf(last.content)
    if (last?.content.some(({ type }) => type === 'image')) return { text: 'A picture! Here is another one.', blocks: [picture] }
    if (prompt.includes('dark')) return { toolCalls: [{ name: 'set_theme', arguments: { theme: 'dark' } }] }
    if (prompt.includes('story')) return { text: `Once upon a time${' and then'.repeat(5000)} it ended.`, delayMs: 100 }
    return { text: 'Let me see.', toolCalls: [{ name: 'weather', arguments: { city: 'Oslo' } }] }
  },
  { delayMs: 10 },
)
const deep = scripted(() => ({ text: 'That takes a deep thought.' }), { id: 'deep' })

/** The endpoint of all pages, on this machine only. A run continues when its page is closed. */
export function weatherApp() {
  const agent = () => ({ model: fast, tools: [weather, setTheme], choices: { models: { deep } } })
  return createAgentApp({ sessions: memoryLiveSessions({ store: memorySessionStore(), agent }), authorize: 'loopbackOnly' })
}
