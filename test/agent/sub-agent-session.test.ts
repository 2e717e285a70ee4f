import { expect, it } from 'vitest'
import { SubAgentTool } from '../../src/agents.ts'
import { Agent, memorySessionStore } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'

it('links the sessions of parent and sub-agent', async () => {
  const store = memorySessionStore()
  const helper = new SubAgentTool({ name: 'helper', description: 'helps', model: scripted([{ text: 'found' }]), session: store })
  const script = [{ toolCalls: [{ id: 'c1', name: 'helper', arguments: { task: 'look' } }] }, { text: 'thanks' }]
  const agent = new Agent({ model: scripted(script), tools: [helper], session: store })
  const { loopId } = await agent.prompt('go').result
  const [ref] = (await store.load(agent.sessionId)).loops[0]?.childLoopRefs ?? []
  expect(ref).toMatchObject({ toolCallId: 'c1', toolName: 'helper' })
  const child = await store.load(ref?.childSessionId ?? '')
  expect(child.parentSpawnRef).toEqual({ parentSessionId: agent.sessionId, parentLoopId: loopId, toolCallId: 'c1', toolName: 'helper' })
  expect(child.loops.map((loop) => [loop.loopId, loop.parentLoopId, loop.status])).toEqual([[ref?.childLoopId, loopId, 'completed']])
})
