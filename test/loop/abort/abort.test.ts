import { describe, expect, it } from 'vitest'
import { isLlmMessage } from '../../../src/context.ts'
import { Agent, type AgentEvent, type AgentTool } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { grammarFaults, unansweredCalls } from '../../support/grammar.ts'
import { add, gate, ofType, tool } from '../../support/play.ts'

const script = [
  { thinking: 'hm', text: 'I will add.', toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }] },
  { text: 'Three.' },
  { text: 'Again.' },
]

/** Runs until `when` says so, then aborts; returns what was seen. */
async function abortWhen(when: (event: AgentEvent) => boolean, tools: readonly AgentTool[] = [add]) {
  const agent = new Agent({ model: scripted(script), tools })
  const run = agent.prompt('go')
  const events: AgentEvent[] = []
  run.subscribe((event) => {
    events.push(event)
    if (when(event)) run.abort()
  })
  return { agent, events, result: await run.result }
}

/** `signal`, whose listeners are kept in `listening`. */
function counted(signal: AbortSignal, listening: Set<unknown>): AbortSignal {
  const { addEventListener, removeEventListener } = signal
  signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
    listening.add(args[1])
    addEventListener.apply(signal, args)
  }
  signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
    listening.delete(args[1])
    removeEventListener.apply(signal, args)
  }
  return signal
}

const nextTask = () => new Promise<void>((resolve) => setImmediate(resolve))

describe('abort', () => {
  it('emits one agentEnd and a result per call after an abort at any event', async () => {
    const whole = await abortWhen(() => false)
    for (const { seq } of whole.events.slice(0, -1)) {
      const { agent, events, result } = await abortWhen((event) => event.seq === seq)
      expect(grammarFaults(events), `abort at ${seq}`).toEqual([])
      expect(result.status, `abort at ${seq}`).toBe(seq < whole.events.length - 2 ? 'aborted' : result.status)
      expect(unansweredCalls(agent.messages), `abort at ${seq}`).toEqual([])
      expect(agent.isStreaming).toBe(false)
      expect((await agent.prompt('again').result).status).toBe('completed')
    }
  })

  it('loses no message or listener after an abort at any microtask', async () => {
    const asks = tool('asks', () => 'yes', { needsApproval: async () => true })
    const slow = { append: async () => undefined }
    const key = { current: async () => 'key', invalidate: () => undefined }
    const halfway = { text: 'half', fail: { code: 'network' as const, message: 'cut', retryAfterMs: 0, afterText: true } }
    const calls = { toolCalls: ['add', 'asks'].map((name) => ({ name, arguments: { a: 1, b: 2 } })) }
    for (let steps = 0, isWhole = false; !isWhole; steps += 1) {
      const listening = new Set<unknown>()
      const model = {
        ...scripted([halfway, { thinking: 'hm', ...calls }, { text: 'done' }, { text: 'steered' }, { text: 'followed' }]),
        credentials: key,
      }
      const transformContext = async <T>(messages: readonly T[]) => messages
      const agent = new Agent({
        model,
        tools: [add, asks],
        journal: slow,
        transformContext,
        convertToLlm: async (all) => all.filter(isLlmMessage),
      })
      const controller = new AbortController()
      const run = agent.prompt('go', { signal: counted(controller.signal, listening) })
      const receipts = [run.steer('steer'), run.followUp('follow-up')]
      const events: AgentEvent[] = []
      run.subscribe((event) => {
        events.push(event)
        if (event.type === 'approvalRequested') run.approve(event)
      })
      for (let step = 0; step < steps && agent.isStreaming; step += 1) await (step % 8 === 7 ? nextTask() : undefined)
      isWhole = !agent.isStreaming
      // Any reason will do.
      controller.abort([undefined, 'stop', null, new Error('stop')][steps % 4])
      expect((await run.result).status, `${steps} steps`).toBe(isWhole ? 'completed' : 'aborted')
      expect(grammarFaults(events), `${steps} steps`).toEqual([])
      expect(unansweredCalls(agent.messages), `${steps} steps`).toEqual([])
      for (const receipt of receipts) {
        const isInHistory = agent.messages.some((message) => message.id === receipt.message.id)
        expect(receipt.status, `${steps} steps`).toBe(isInHistory ? 'delivered' : 'returned')
      }
      expect(listening.size, `${steps} steps`).toBe(0)
    }
  })

  it('returns the prompt without a request if aborted before the start', async () => {
    const model = scripted(script)
    const agent = new Agent({ model })
    const result = await agent.prompt('go', { signal: AbortSignal.abort() }).result
    expect(result).toMatchObject({ status: 'aborted', messages: [] })
    expect(model.provider.requests).toEqual([])
  })

  it('stores the partial response with stop reason aborted', async () => {
    const { result } = await abortWhen((event) => event.type === 'messageUpdate' && event.delta.type === 'text')
    expect(result.messages.at(-1)).toMatchObject({ role: 'assistant', stopReason: 'aborted', errorMessage: 'Cancelled' })
    expect(JSON.stringify(result.messages.at(-1))).toContain('I will')
  })

  it('aborts the signal of a running tool without waiting for it', async () => {
    const aborted = gate()
    const stubborn = tool('add', (_, ctx) => {
      ctx.signal.addEventListener('abort', aborted.open)
      ctx.progress('running')
      return new Promise<string>(() => undefined)
    })
    const { result } = await abortWhen((event) => event.type === 'progressMessage', [stubborn])
    await aborted.opened
    expect(result.status).toBe('aborted')
    expect(result.messages.at(-1)).toMatchObject({ role: 'toolResult', isError: true, content: [{ type: 'text', text: 'Cancelled' }] })
  })

  it("aborts with the caller's signal and removes its listener afterwards", async () => {
    const controller = new AbortController()
    const listening = new Set<unknown>()
    const signal = counted(controller.signal, listening)
    const agent = new Agent({ model: scripted([{ text: 'one' }, { text: 'two' }]) })
    await agent.prompt('go', { signal }).result
    expect(listening.size).toBe(0)
    const run = agent.prompt('go', { signal })
    controller.abort()
    expect((await run.result).status).toBe('aborted')
  })

  it('ignores aborts after the run has ended', async () => {
    const agent = new Agent({ model: scripted([{ text: 'one' }]) })
    const run = agent.prompt('go')
    const { status } = await run.result
    run.abort()
    run.abort()
    expect(status).toBe('completed')
    expect(await run.text()).toBe('one')
  })

  it('aborts the run at the end of an `await using` scope', async () => {
    const agent = new Agent({ model: scripted([{ text: 'never' }], { gate: () => new Promise(() => undefined) }) })
    let run: ReturnType<Agent['prompt']>
    {
      await using scoped = agent.prompt('go')
      run = scoped
    }
    expect((await run.result).status).toBe('aborted')
  })

  it('continues the run after a reader stops reading', async () => {
    const agent = new Agent({ model: scripted(script), tools: [add] })
    const run = agent.prompt('go')
    for await (const event of run) if (event.type === 'turnStart') break
    expect(await run.text()).toBe('Three.')
  })

  it('settles a run whose provider ignores the signal', async () => {
    const model = scripted([])
    const deaf = {
      ...model,
      provider: { api: 'scripted' as const, encode: model.provider.encode, stream: () => new Promise<never>(() => undefined) },
    }
    const run = new Agent({ model: deaf }).prompt('go')
    const events: AgentEvent[] = []
    run.subscribe((event) => {
      events.push(event)
      if (event.type === 'messageEnd') run.abort()
    })
    expect((await run.result).status).toBe('aborted')
    expect(grammarFaults(events)).toEqual([])
    expect(ofType(events, 'agentEnd')).toHaveLength(1)
  })
})
