import { describe, expect, it } from 'vitest'
import { Agent, type AgentTool } from '../../src/index.ts'
import type { LoopHooks } from '../../src/loop.ts'
import { type ScriptedStep, scripted } from '../../src/providers/scripted/index.ts'
import { tool } from '../support/play.ts'

async function hooked(script: ScriptedStep[], hooks: LoopHooks, { tools = [] }: { tools?: AgentTool[] } = {}) {
  const agent = new Agent({ model: scripted(script), hooks, tools })
  const run = agent.prompt('go')
  const types: string[] = []
  run.subscribe(({ type }) => types.push(type))
  return { agent, types, result: await run.result }
}

describe('hook rejection with a reason', () => {
  const no = { allow: false, reason: 'closed today' } as const

  it('ends the run with the reason', async () => {
    expect((await hooked([], { beforeLoop: () => no })).result).toMatchObject({
      status: 'rejected',
      rejection: 'The beforeLoop hook returned false: closed today',
    })
    expect((await hooked([], { beforeTurn: async () => no })).result).toMatchObject({
      status: 'rejected',
      rejection: 'The beforeTurn hook returned false: closed today',
    })
    expect((await hooked([], { beforeTurn: () => ({ allow: false }) })).result.rejection).toBe('The beforeTurn hook returned false.')
  })

  it('sends the reason to the model when a call is skipped', async () => {
    const ran: string[] = []
    const work = tool('work', () => `ran ${ran.push('x')}`)
    const script = () => [{ toolCalls: [{ name: 'work', arguments: {} }] }, { text: 'done' }]
    for (const answer of [no, { ...no, arguments: {} }]) {
      const { agent } = await hooked(script(), { beforeToolExecution: () => answer }, { tools: [work] })
      expect(JSON.stringify(agent.messages)).toContain('Tool execution skipped by before_tool_execution hook: closed today')
    }
    const odd = [
      { allow: false, reason: 7 },
      { allow: false, reason: '' },
    ]
    for (const answer of odd) {
      const { agent } = await hooked(script(), { beforeToolExecution: () => answer as typeof no }, { tools: [work] })
      expect(JSON.stringify(agent.messages)).toContain('Tool execution skipped by before_tool_execution hook."')
    }
    expect(ran).toEqual([])
    await hooked(script(), { beforeToolExecution: () => ({ allow: true }) as never }, { tools: [work] })
    expect(ran).toEqual(['x'])
  })

  it("suppresses a tool's updates", async () => {
    const work = tool('work', (_, { update }) => {
      update({ content: [{ type: 'text', text: 'half' }] })
      return 'done'
    })
    const script = [{ toolCalls: [{ name: 'work', arguments: {} }] }, { text: 'done' }]
    const { types } = await hooked(script, { beforeToolExecutionUpdate: () => no }, { tools: [work] })
    expect(types).not.toContain('toolExecutionUpdate')
  })
})

it('aborts the signals of all tool hooks when the run stops', async () => {
  const signals: AbortSignal[] = []
  const keep = ({ signal }: { signal: AbortSignal }) => {
    signals.push(signal)
  }
  const hooks: LoopHooks = {
    beforeToolExecution: keep,
    afterToolExecution: keep,
    beforeToolExecutionUpdate: keep,
    afterToolExecutionUpdate: keep,
  }
  const controller = new AbortController()
  const work = tool('work', (_, { update }) => {
    update({ content: [{ type: 'text', text: 'half' }] })
    return 'done'
  })
  const stop = tool('stop', () => {
    controller.abort()
    return 'stopped'
  })
  const script = [{ toolCalls: [{ name: 'work', arguments: {} }] }, { toolCalls: [{ name: 'stop', arguments: {} }] }]
  const agent = new Agent({ model: scripted(script), tools: [work, stop], hooks })
  await agent.prompt('go', { signal: controller.signal }).result
  expect(signals.length).toBeGreaterThanOrEqual(5)
  expect(signals.every(({ aborted }) => aborted)).toBe(true)
})
