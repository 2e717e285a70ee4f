import { describe, expect, it } from 'vitest'
import { Agent, type AgentEvent, type AgentOptions, textOf } from '../../src/index.ts'
import { type Script, scripted } from '../../src/providers/scripted/index.ts'
import { grammarFaults, unansweredCalls } from '../support/grammar.ts'
import { ofType, tool } from '../support/play.ts'

const twoCalls = { toolCalls: [1, 2, 3].map((n) => ({ name: 'step', arguments: { n } })) }

/** Starts a run; `act` gets the agent and each event. */
async function steered(script: Script, act: (agent: Agent, event: AgentEvent) => void, options: Partial<AgentOptions> = {}) {
  const model = scripted(script)
  const agent = new Agent({ model, tools: [tool('step', () => 'ok')], ...options })
  const events: AgentEvent[] = []
  agent.subscribe((event) => {
    events.push(event)
    act(agent, event)
  })
  const result = await agent.prompt('go').result
  expect(grammarFaults(events)).toEqual([])
  return { agent, events, model, result }
}

/** Acts at the first event of a type. */
function once(type: AgentEvent['type'], act: (agent: Agent) => void) {
  let isDone = false
  return (agent: Agent, event: AgentEvent) => {
    if (event.type !== type || isDone) return
    isDone = true
    act(agent)
  }
}

const lastTexts = (model: ReturnType<typeof scripted>, request: number) =>
  model.provider.requests[request]?.messages.filter((m) => m.role === 'user').map((m) => textOf(m.content))

describe('steering', () => {
  it('sequential: skips what has not begun, with the documented text, and is in the next request', async () => {
    const { agent, model, result } = await steered(
      [twoCalls, { text: 'ok' }],
      once('toolExecutionEnd', (agent) => agent.steer('stop that')),
      { toolExecution: { type: 'sequential' } },
    )
    const texts = result.messages.flatMap((message) => (message.role === 'toolResult' ? [textOf(message.content)] : []))
    expect(texts[0]).toBe('ok')
    expect(texts.slice(1)).toEqual(['Skipped due to queued user message.', 'Skipped due to queued user message.'])
    expect(lastTexts(model, 1)?.[1]).toBe('stop that')
    expect(unansweredCalls(agent.messages)).toEqual([])
  })

  it('batched: is looked at between batches', async () => {
    const { result } = await steered(
      [twoCalls, { text: 'ok' }],
      once('toolExecutionEnd', (agent) => agent.steer('stop')),
      { toolExecution: { type: 'batched', size: 2 } },
    )
    const errors = result.messages.flatMap((message) => (message.role === 'toolResult' ? [message.isError] : []))
    expect(errors).toEqual([false, false, true])
  })

  it('parallel: comes after all tools', async () => {
    const { result, model } = await steered(
      [twoCalls, { text: 'ok' }],
      once('toolExecutionStart', (agent) => agent.steer('and now')),
    )
    const errors = result.messages.flatMap((message) => (message.role === 'toolResult' ? [message.isError] : []))
    expect(errors).toEqual([false, false, false])
    expect(lastTexts(model, 1)).toEqual(['go', 'and now'])
  })

  it('keeps a run going that would have stopped', async () => {
    const { events, result } = await steered(
      [{ text: 'one' }, { text: 'two' }],
      (agent, event) => event.type === 'messageUpdate' && event.delta.delta === 'one' && agent.steer('more'),
    )
    expect(ofType(events, 'turnStart').map((event) => event.triggeredBy)).toEqual(['user', 'continuation'])
    expect(result.text).toBe('two')
  })

  it('one at a time by default, all at once when told', async () => {
    const counts: number[] = []
    for (const steeringMode of ['oneAtATime', 'all'] as const) {
      const model = scripted([{ text: 'a' }, { text: 'b' }, { text: 'c' }])
      const agent = new Agent({ model, steeringMode })
      agent.steer('first')
      agent.steer('second')
      await agent.prompt('go').result
      counts.push(model.provider.requests.length)
      expect(lastTexts(model, 0)).toEqual(steeringMode === 'all' ? ['go', 'first', 'second'] : ['go', 'first'])
    }
    expect(counts).toEqual([2, 1])
  })
})

describe('follow-ups', () => {
  it('are answered when the agent would stop, in order, as the last message of the request', async () => {
    const model = scripted([{ text: 'a' }, { text: 'b' }, { text: 'c' }])
    const agent = new Agent({ model })
    agent.followUp('then this')
    agent.followUp('then that')
    await agent.prompt('go').result
    expect(lastTexts(model, 1)).toEqual(['go', 'then this'])
    expect(lastTexts(model, 2)).toEqual(['go', 'then this', 'then that'])
    expect(model.provider.requests[2]?.messages.at(-1)?.role).toBe('user')
  })

  it('stay queued when a limit stops the run, and open the next one', async () => {
    const model = scripted([{ text: 'a' }, { text: 'b' }, { text: 'c' }])
    const agent = new Agent({ model, limits: { maxTurns: 1, maxTotalTokens: 1e6, maxDurationMs: 1e6 } })
    const receipt = agent.followUp('later')
    expect((await agent.prompt('go').result).status).toBe('limit')
    expect(receipt.status).toBe('queued')
    agent.configure({ limits: false })
    await agent.prompt('on').result
    expect(receipt.status).toBe('delivered')
  })
})

describe('receipts', () => {
  it('say queued, then delivered', async () => {
    const agent = new Agent({ model: scripted([{ text: 'a' }]) })
    const receipt = agent.steer('hello')
    expect(receipt.status).toBe('queued')
    await agent.prompt('go').result
    expect(receipt.status).toBe('delivered')
    expect(await receipt.settled).toBe('delivered')
    expect(agent.messages.map((message) => message.id)).toContain(receipt.message.id)
  })

  it('return on abort what belonged to the run, and keep what was queued while idle', async () => {
    const agent = new Agent({ model: scripted([{ text: 'a' }, { text: 'b' }], { gate: () => new Promise(() => undefined) }) })
    const idle = agent.followUp('for the next run')
    const run = agent.prompt('go')
    const owned = [run.steer('one'), agent.followUp('two')]
    run.abort()
    await run.result
    expect(owned.map((receipt) => receipt.status)).toEqual(['returned', 'returned'])
    expect(idle.status).toBe('queued')
  })

  it('are returned at once after the end of the run', async () => {
    const agent = new Agent({ model: scripted([{ text: 'a' }]) })
    const run = agent.prompt('go')
    await run.result
    expect(run.steer('too late').status).toBe('returned')
    expect(run.followUp('too late').status).toBe('returned')
  })

  it('are returned when a queue is cleared', () => {
    const agent = new Agent({ model: scripted([]) })
    const receipts = [agent.steer('a'), agent.followUp('b')]
    agent.clearQueues()
    expect(receipts.map((receipt) => receipt.status)).toEqual(['returned', 'returned'])
  })
})
