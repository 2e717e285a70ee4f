import { describe, expect, it } from 'vitest'
import { Agent, type AgentOptions } from '../../../src/index.ts'
import { type ScriptedStep, scripted } from '../../../src/providers/scripted/index.ts'
import { grammarFaults } from '../../support/grammar.ts'
import { add, play, tool } from '../../support/play.ts'

const call = (name: string, args: Record<string, string | number> = {}): ScriptedStep => ({ toolCalls: [{ name, arguments: args }] })
const forever = (step: ScriptedStep) => () => step
const guarded = tool('guarded', () => 'ran')

/** Ways to refuse the same call again and again. */
const refusals: [string, ScriptedStep, Partial<AgentOptions>][] = [
  ['an unknown tool', call('nope'), {}],
  ['arguments that the schema rejects', call('add', { a: 'one' }), { tools: [add] }],
  ['a hook', call('guarded'), { tools: [guarded], hooks: { beforeToolExecution: () => ({ allow: false, reason: 'never' }) } }],
  ['a response cut off', { ...call('guarded'), stopReason: 'length' }, { tools: [guarded] }],
]

describe('limits.maxSameRefusals', () => {
  it.each(refusals)('ends the run after three identical refusals: %s', async (_name, step, options) => {
    const { result, model, events } = await play(forever(step), options)
    expect(model.provider.requests).toHaveLength(3)
    expect(result).toMatchObject({ status: 'limit', limit: { name: 'maxSameRefusals', max: 3, used: 3 } })
    expect(result.limit?.reason).toContain(step.toolCalls?.[0]?.name)
    expect(grammarFaults(events)).toEqual([])
  })

  it('counts denials by the user as refusals', async () => {
    const model = scripted(forever(call('guarded')))
    const run = new Agent({ model, tools: [{ ...guarded, needsApproval: true }] }).prompt('go')
    run.subscribe((event) => event.type === 'approvalRequested' && run.deny(event, 'no'))
    expect([(await run.result).limit?.name, model.provider.requests.length]).toEqual(['maxSameRefusals', 3])
  })

  it.each([
    [{ maxSameRefusals: 5 }, 5],
    [{ maxSameRefusals: 1 }, 1],
  ])('applies %j and ends the run after %d refusals', async (limits, times) => {
    const { result, model } = await play(forever(call('nope')), { limits })
    expect(result.limit).toMatchObject({ name: 'maxSameRefusals', max: times, used: times })
    expect(model.provider.requests).toHaveLength(times)
  })

  it('does not end a run without limits', async () => {
    const script = (_request: unknown, turn: number) => (turn < 9 ? call('nope') : { text: 'ok' })
    expect((await play(script, { limits: false })).result.status).toBe('completed')
  })
})

describe('a run without repeated refusals', () => {
  const times = 8
  it.each<[string, (turn: number) => ScriptedStep]>([
    ['other arguments', (turn) => call('nope', { turn })],
    ['another tool in between', (turn) => (turn % 3 === 2 ? call('add', { a: 1, b: turn }) : call('nope'))],
    [
      'a successful call in between',
      (turn) => ({
        toolCalls: [
          { name: 'nope', arguments: {} },
          { name: 'add', arguments: { a: turn, b: 1 } },
        ],
      }),
    ],
    ['alternating calls', (turn) => call(turn % 2 === 0 ? 'nope' : 'neither')],
  ])('completes despite refusals: %s', async (_name, step) => {
    const { result, model } = await play((_request, turn) => (turn < times ? step(turn) : { text: 'ok' }), { tools: [add] })
    expect(result).toMatchObject({ status: 'completed', text: 'ok' })
    expect(model.provider.requests).toHaveLength(times + 1)
  })

  it('does not count a failing tool as a refusal', async () => {
    let calls = 0
    const poll = tool('poll', () => {
      calls += 1
      if (calls < 6) throw new Error('not yet')
      return 'done'
    })
    const script = (_request: unknown, turn: number) => (turn < 6 ? call('poll') : { text: 'ok' })
    expect((await play(script, { tools: [poll] })).result.status).toBe('completed')
  })
})
