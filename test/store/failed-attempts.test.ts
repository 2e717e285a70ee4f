import { describe, expect, it } from 'vitest'
import type { TurnId } from '../../src/contract/message/message.ts'
import { emptyUsage } from '../../src/contract/model/usage.ts'
import { Agent, type AgentEvent, type AssistantMessage } from '../../src/index.ts'
import { type ScriptedStep, scripted } from '../../src/providers/scripted/index.ts'
import { initialState, type RunState, reduce, restoredState } from '../../src/store.ts'
import { asRun, start, textDelta } from './events.ts'

const cut = (text: string): ScriptedStep => ({ text, fail: { code: 'network', message: 'cut', afterText: true } })
const refused: ScriptedStep = { fail: { code: 'network', message: 'away' } }

/** What a page shows while an agent answers, and when it is opened again. */
async function shown(...steps: ScriptedStep[]) {
  const retry = { maxRetries: 3, initialDelayMs: 1, maxDelayMs: 1 }
  const agent = new Agent({ model: scripted(steps), retry })
  const states: RunState[] = []
  agent.subscribe((event: AgentEvent) => states.push(reduce(states.at(-1) ?? initialState(), event)))
  await agent.prompt('Go').result
  const textsOf = ({ messages, live }: RunState) =>
    [...messages, ...(live ? [live] : [])].flatMap(({ role, blocks }) =>
      role === 'assistant' ? blocks.map((block) => (block.type === 'text' ? block.text : block.type)) : [],
    )
  const last = states.at(-1) ?? initialState()
  return {
    agent,
    last,
    most: Math.max(...states.map((state) => textsOf(state).length)),
    texts: textsOf(last),
    reopened: textsOf(restoredState(agent.messages)),
  }
}

describe('responses that failed and were retried', () => {
  it('shows one response of a stream interrupted at each attempt', async () => {
    const { agent, last, most, texts, reopened } = await shown(cut('One'), cut('Two'), cut('Three'), cut('Four'))
    expect(agent.messages.filter(({ role }) => role === 'assistant')).toHaveLength(4)
    expect({ most, texts, reopened }).toEqual({ most: 1, texts: ['Four'], reopened: ['Four'] })
    expect(last).toMatchObject({ status: 'error', retries: 3 })
  })

  it('replaces the interrupted response with the whole one', async () => {
    expect(await shown(cut('Half a'), { text: 'Whole' })).toMatchObject({ most: 1, texts: ['Whole'], reopened: ['Whole'] })
  })

  it('keeps the last visible content if no later attempt has any', async () => {
    expect(await shown(cut('Half a'), refused, refused, refused)).toMatchObject({ texts: ['Half a'], reopened: ['Half a'] })
  })

  it('keeps the failed response of an earlier run', async () => {
    const { agent } = await shown(cut('One'), cut('Two'), cut('Three'), cut('Four'), { text: 'Five' })
    await agent.continueLoop().result
    const views = restoredState(agent.messages).messages
    expect(views.map(({ blocks }) => blocks.map((block) => 'text' in block && block.text))).toEqual([['Go'], ['Four'], ['Five']])
  })
})

it('keeps a compaction note in place when the response before it is replaced', () => {
  const failed: AssistantMessage & { id: string; turnId: TurnId } = {
    ...{ role: 'assistant', id: 'a', model: 'demo', provider: 'scripted', usage: emptyUsage(), timestamp: 1 },
    content: [{ type: 'text', text: 'Half' }],
    stopReason: 'error',
    turnId: { loopId: 's.demo.1', turnIndex: 0 },
  }
  const said = { role: 'user' as const, id: 'u', content: [{ type: 'text' as const, text: 'Go' }], timestamp: 1 }
  const events = asRun([
    { type: 'messageEnd', messageId: 'u', message: said },
    { type: 'messageEnd', messageId: 'a', message: failed },
    { type: 'compactionStarted', estimatedTokens: 900, messageCount: 12 },
    start('b'),
    textDelta('b', 'Whole'),
  ])
  const state = events.reduce(reduce, initialState())
  expect(state.messages.map(({ id }) => id)).toEqual(['u'])
  expect(state.notes).toMatchObject([{ type: 'compaction', afterMessageId: 'u' }])
})
