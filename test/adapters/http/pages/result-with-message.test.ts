import { describe, expect, it } from 'vitest'
import { textOf } from '../../../../src/index.ts'
import { scripted } from '../../../../src/providers/scripted/index.ts'
import { clientTool } from '../../../../src/tools/index.ts'
import { atRest, pageWorld, shown, versions } from './page-world.ts'

const theme = clientTool({ name: 'set_theme', description: 'Sets the theme', parameters: { type: 'object' } })

/** Calls the page once, then says what it has heard. */
const model = (calls = ['set_theme']) =>
  scripted(({ messages }) => {
    if (messages.length === 1) return { toolCalls: calls.map((name) => ({ name, arguments: {} })) }
    return {
      text: `heard ${messages
        .slice(2)
        .map(({ content }) => textOf(content))
        .join(', ')}`,
    }
  })

describe.each(versions)('a chat of AI SDK %d that does not send by itself', (version) => {
  it('has its result counted with the next message, which the model answers once', async () => {
    const world = await pageWorld(() => ({ model: model(), tools: [theme] }))
    const chat = world.chat(version, { sends: false, run: () => 'dark' })
    await chat.sendMessage({ text: 'make it dark' })
    await atRest(world, chat)
    await chat.sendMessage({ text: 'thanks' })
    await atRest(world, chat)
    await chat.sendMessage({ text: 'bye' })
    await atRest(world, chat)
    expect([chat.error, chat.messages.map(shown)]).toEqual([
      undefined,
      [
        ...['user: make it dark', 'assistant: <output-available>', 'user: thanks', 'assistant: heard dark, thanks'],
        ...['user: bye', 'assistant: heard dark, thanks, heard dark, thanks, bye'],
      ],
    ])
  })
})
