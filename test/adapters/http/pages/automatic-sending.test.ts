import { describe, expect, it } from 'vitest'
import type { AgentOptions } from '../../../../src/index.ts'
import { type Script, scripted } from '../../../../src/providers/scripted/index.ts'
import { clientTool } from '../../../../src/tools.ts'
import { fastRetry, tool } from '../../../support/play.ts'
import { atRest, pageWorld, shown, versions } from './page-world.ts'

const ask = clientTool({ name: 'ask', description: 'Asks the person', parameters: { type: 'object' } })
const save = tool('save', () => ({ content: [{ type: 'text', text: 'saved' }], endRun: true }))
const plain = tool('plain', () => 'ok')

const calls =
  (...names: string[]): Script =>
  () => ({ toolCalls: names.map((name) => ({ name, arguments: {} })) })
const failing: Script = ({ messages }) =>
  messages.at(-1)?.role === 'toolResult' ? { fail: { code: 'auth', message: 'no key' } } : { toolCalls: [{ name: 'ask', arguments: {} }] }

interface Ending {
  script: Script
  options?: Partial<AgentOptions>
  posts: number
  status?: string
}

const endings: Record<string, Ending> = {
  'at maxTurns after a client tool result': { script: calls('ask'), options: { limits: { maxTurns: 1 } }, posts: 2 },
  'at maxTurns after the third client tool result': { script: calls('ask'), options: { limits: { maxTurns: 3 } }, posts: 4 },
  'at a token limit': {
    script: () => ({ toolCalls: [{ name: 'ask', arguments: {} }], usage: { input: 500, output: 500 } }),
    options: { limits: { maxTotalTokens: 600 } },
    posts: 2,
  },
  'with a sibling call that ends the run': { script: calls('ask', 'save'), posts: 2 },
  'with a model failure': { script: failing, posts: 2, status: 'error' },
  'with a server tool that ends the run': { script: calls('save'), posts: 1 },
  'at maxTurns after a server tool': { script: calls('plain'), options: { limits: { maxTurns: 1 } }, posts: 1 },
}

describe.each(versions)('automatic sending in an AI SDK %d chat', (version) => {
  it.each(Object.entries(endings))(
    'stops sending after a run that ends %s',
    async (_name, { script, options, posts, status = 'ready' }) => {
      const world = await pageWorld(() => ({ model: scripted(script), tools: [ask, save, plain], retry: fastRetry, ...options }))
      const chat = world.chat(version, { tools: ['ask'], run: () => 'yes' })
      await chat.sendMessage({ text: 'go' })
      await atRest(world, chat)
      expect([world.posts, chat.status, new Set(world.statuses)]).toEqual([posts, status, new Set([200])])
      const [, answer] = chat.messages
      if (status === 'ready') expect((await world.stored()).at(-1)?.parts.at(-1)?.type).toBe(answer?.parts.at(-1)?.type)
    },
  )

  it('stops after resending the same results and shows each message once', async () => {
    const world = await pageWorld(() => ({ model: scripted(calls('ask')), tools: [ask], limits: { maxTurns: 1 } }))
    const chat = world.chat(version, { tools: ['ask'], run: () => 'yes' })
    await chat.sendMessage({ text: 'go' })
    await atRest(world, chat)
    const before = chat.messages.map(shown)
    // What a page of an older version holds: its message ends with the calls.
    const last = chat.messages.at(-1)
    chat.messages = [...chat.messages.slice(0, -1), ...(last === undefined ? [] : [{ ...last, parts: last.parts.slice(0, 2) }])]
    void chat.addToolResult({ tool: 'ask', toolCallId: last?.parts[1]?.toolCallId ?? '', output: 'yes' })
    await atRest(world, chat)
    expect([world.posts, chat.status, chat.messages.map(shown)]).toEqual([3, 'ready', before])
  })
})
