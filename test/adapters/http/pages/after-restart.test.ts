import { describe, expect, it } from 'vitest'
import { textOf } from '../../../../src/index.ts'
import { scripted } from '../../../../src/providers/scripted/index.ts'
import { clientTool } from '../../../../src/tools.ts'
import { atRest, pageWorld, shown, versions } from './page-world.ts'

const locate = clientTool({ name: 'locate', description: 'Says where the page is', parameters: { type: 'object' } })
const model = () =>
  scripted(({ messages }) => {
    const last = messages.at(-1)
    return last?.role === 'toolResult' ? { text: `in ${textOf(last.content)}` } : { toolCalls: [{ name: 'locate', arguments: {} }] }
  })

describe.each(versions)('an AI SDK %d page loaded after a server restart', (version) => {
  it.each([false, true])('receives its pending tool call again (recover(): %s)', async (recover) => {
    const world = await pageWorld(() => ({ model: model(), tools: [locate] }))
    await world.chat(version).sendMessage({ text: 'where?' })
    await world.restart({ recover })
    const asked: string[] = []
    const run = (_input: unknown, { toolName }: { toolName: string }): string => {
      asked.push(toolName)
      return 'Oslo'
    }
    const again = world.chat(version, { tools: ['locate'], run })
    again.messages = await world.stored()
    await again.resumeStream()
    await atRest(world, again)
    expect([asked, again.error, again.messages.map(shown).at(-1)]).toEqual([['locate'], undefined, 'assistant: <output-available>in Oslo'])
  })
})

it('restores the pending call of an AG-UI client after a server restart', async () => {
  const world = await pageWorld(() => ({ model: model(), tools: [locate] }))
  const first = world.agent()
  first.addMessage({ id: 'm1', role: 'user', content: 'where?' })
  await first.runAgent()
  await world.restart()
  const again = world.agent()
  await again.runAgent()
  const call = again.messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : [])).at(-1)
  again.addMessage({ id: 't1', role: 'tool', toolCallId: call?.id ?? '', content: 'Oslo' })
  await again.runAgent()
  expect(again.messages.at(-1)).toMatchObject({ role: 'assistant', content: 'in Oslo' })
})
