import { expect, it } from 'vitest'
import { Agent, memorySessionStore } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { approveWaiting, seen, tool } from '../support/play.ts'

it('ends a resumed run and keeps its pending calls if the prepareTurn hook fails', async () => {
  const read = tool('read', () => 'done', { needsApproval: true })
  const model = scripted([{ toolCalls: [{ id: 'c1', name: 'read', arguments: {} }] }, { text: 'Done.' }])
  const agent = new Agent({ model, tools: [read], session: memorySessionStore() })
  const first = agent.prompt('Go.')
  await seen(first, 'approvalRequested')
  agent.stopAsking()
  await first.result
  agent.configure({ hooks: { prepareTurn: () => Promise.reject(new Error('Down.')) } })
  expect((await agent.continueLoop().result).error?.code).toBe('hookFailed')
  agent.configure({ hooks: undefined })
  const last = agent.continueLoop()
  await seen(last, 'approvalRequested')
  approveWaiting(last)
  expect((await last.result).text).toBe('Done.')
})
