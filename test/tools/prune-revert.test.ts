import { describe, expect, it } from 'vitest'
import { prunTools, revertTool } from '../../src/tools.ts'
import { grammarFaults } from '../support/grammar.ts'
import { brokenPairs, requestText } from '../support/long-history.ts'
import { ofType, play, tool } from '../support/play.ts'

const look = tool('look', (_, { toolCallId }) => `seen by ${toolCallId}`)
const looking = { toolCalls: [{ name: 'look', arguments: {} }] }

describe('the prun_with_memo tool', () => {
  it('removes calls and results from the next request and inserts the memo', async () => {
    const prune = { toolCalls: [{ name: 'prun_with_memo', arguments: { tokens: 1, memo: 'Nothing there.' } }] }
    const { agent, events, model } = await play([looking, looking, prune, { text: 'done' }], { tools: [look, ...prunTools()] })
    const last = model.provider.requests.at(-1)
    expect(requestText(last)).toContain('seen by mock-tool-0')
    expect(requestText(last)).not.toContain('seen by mock-tool-1')
    expect(requestText(last)).toContain('[Pruned context summary: Nothing there.]')
    expect(brokenPairs(last?.messages ?? [])).toEqual([])
    expect(ofType(events, 'prunApplied')).toMatchObject([{ messagesRemoved: 2, memo: 'Nothing there.' }])
    expect(agent.messages).toHaveLength(8)
    expect(grammarFaults(events)).toEqual([])
  })
})

describe('the revert_to_state tool', () => {
  it('labels messages with ids, reverts and adds a lesson', async () => {
    const back = { toolCalls: [{ name: 'revert_to_state', arguments: { category: 'failure', step: 'n2', summary: 'Wrong way.' } }] }
    const { agent, events, model } = await play([looking, looking, back, { text: 'done' }], { tools: [look, revertTool()] })
    const last = requestText(model.provider.requests.at(-1))
    for (const shown of ['[n0]', '[n2]', 'seen by mock-tool-0', '[lesson] Wrong way.']) expect(last).toContain(shown)
    expect(last).not.toContain('seen by mock-tool-1')
    expect(ofType(events, 'revertApplied')).toMatchObject([{ applied: true, target: 2 }])
    expect(agent.messages).toHaveLength(8)
    expect(grammarFaults(events)).toEqual([])
  })
})
