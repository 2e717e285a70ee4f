import { describe, expect, it } from 'vitest'
import { Agent, type AgentRun, defineTool } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'

const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  parameters: { type: 'object', properties: { euros: { type: 'number' } } },
  needsApproval: true,
  execute: (_, ctx) => ctx.requestInput?.({ message: 'Sure?' }) ?? 'nobody',
})

/** A run whose call waits, and the request. */
async function waiting() {
  const model = scripted([{ toolCalls: [{ name: 'pay', arguments: { euros: 5 } }] }, { text: 'Done.' }])
  const agent = new Agent({ model, tools: [pay], logger: false })
  const run = agent.prompt('Pay.')
  for await (const event of run) if (event.type === 'approvalRequested') return { agent, run, request: event }
  throw new Error('nothing waits')
}

/** Calls a method as JavaScript can. */
function call(of: object, name: string, ...given: unknown[]): unknown {
  return Reflect.apply(Reflect.get(of, name), of, given)
}

describe('a run refuses arguments that it does not know, by name', () => {
  it.each<[string, unknown[], string]>([
    ['approve', [{ arguments: { euros: 1 } }], 'approve does not take arguments (an object). It takes the request alone'],
    ['approve', [{ reason: 'ok', remember: true }], 'approve does not take reason ("ok"), remember (true).'],
    ['approve', ['yes'], 'approve does not take "yes".'],
    ['deny', [{ reason: 'no' }], 'reason is an object; it must be a text.'],
    ['deny', ['no', { forever: true }], 'deny does not take forever (true).'],
  ])('%s%j', async (name, more, sentence) => {
    const { run, request } = await waiting()
    expect(() => call(run, name, request, ...more)).toThrow(
      expect.objectContaining({ code: 'invalidOption', message: expect.stringContaining(sentence) }),
    )
    expect(run.pendingApprovals()).toHaveLength(1)
    run.deny(request)
    expect((await run.result).status).toBe('completed')
  })

  it('takes arguments that are undefined as left out', async () => {
    const { run, request } = await waiting()
    call(run, 'deny', request, undefined, undefined)
    expect((await run.result).status).toBe('completed')
  })

  it('does not guess an answer with unknown keys', async () => {
    const { run, request } = await waiting()
    run.approve(request)
    const asked = await inputOf(run)
    expect(() => call(run, 'answer', asked, { action: 'accept', values: { a: 1 } })).toThrow('values (an object) is no option of answer.')
    expect(() => call(run, 'answer', asked, { action: 'yes' })).toThrow(
      'answer.action is "yes"; it must be "accept" or "decline" or "cancel".',
    )
    expect(() => call(run, 'answer', asked, { content: {} })).toThrow('answer.action')
    expect(() => call(run, 'answer', asked, 'yes')).toThrow('That is no answer to a request for input.')
    run.answer(asked, { action: 'decline' })
    expect((await run.result).status).toBe('completed')
  })

  it.each(['steer', 'followUp'])('%s takes no settings, at a run and at an agent', async (name) => {
    const { agent, run, request } = await waiting()
    for (const of of [run, agent]) expect(() => call(of, name, 'Wait.', { maxTokens: 3 })).toThrow(`${name} does not take maxTokens (3).`)
    expect(() => call(run, 'events', { from: 3 })).toThrow('from (3) is no option.')
    run.deny(request)
    expect((await run.result).returned).toEqual([])
    expect(() => call(agent, 'regenerate', 'some-id')).toThrow('options is "some-id"; it must be an object.')
    expect(() => call(agent, 'fork', 'some-id')).toThrow('overrides is "some-id"; it must be an object.')
  })
})

async function inputOf(run: AgentRun) {
  for await (const event of run) if (event.type === 'inputRequested') return event
  throw new Error('nobody asks')
}
