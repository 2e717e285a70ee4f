import { describe, expect, it } from 'vitest'
import { withId } from '../../src/contract/message/message.ts'
import { Agent, type AgentEvent, type AgentOptions, type PromptInput, textOf, userMessage } from '../../src/index.ts'
import { type AgentContext, agentLoop, type InputFilter, type MessageSupplier } from '../../src/loop.ts'
import { type Script, scripted } from '../../src/providers/scripted/index.ts'
import type { FilterVerdict } from '../../src/types/run/question.ts'
import { grammarFaults, unansweredCalls } from '../support/grammar.ts'
import { gate, ofType, play, tool } from '../support/play.ts'

const pass: InputFilter = () => ({ type: 'pass' })
const warn =
  (warning: string): InputFilter =>
  () => ({ type: 'warn', warning })
const reject =
  (reason: string): InputFilter =>
  () => ({ type: 'reject', reason })
/** Judges by a word of the text. */
const words: InputFilter = async (said) => {
  await undefined
  if (said.includes('bad')) return { type: 'reject', reason: `refused: ${said}` }
  return said.includes('odd') ? { type: 'warn', warning: `careful: ${said}` } : { type: 'pass' }
}

async function filtered(
  inputFilters: InputFilter[],
  options: Partial<AgentOptions> = {},
  prompt: PromptInput = 'go',
  script: Script = [{ text: 'ok' }],
) {
  const played = await play(script, { inputFilters, ...options }, prompt)
  expect(grammarFaults(played.events)).toEqual([])
  const asked = played.model.provider.requests
  const userTexts = (at: number) =>
    asked[at]?.messages.flatMap((m) =>
      m.role === 'user' ? [m.content.flatMap((block) => (block.type === 'text' ? [block.text] : []))] : [],
    )
  return { ...played, asked, userTexts, types: played.events.map(({ type }) => type) }
}

describe('input filters on a prompt', () => {
  it('passes a prompt unchanged (filter_pass_message_goes_through)', async () => {
    const { result, userTexts } = await filtered([pass])
    expect(result.status).toBe('completed')
    expect(userTexts(0)).toEqual([['go']])
  })

  it('appends a warning as a second block (filter_warn_injects_warning_message)', async () => {
    const { agent, userTexts } = await filtered([warn('danger')])
    expect(userTexts(0)).toEqual([['go', '[Warning: danger]']])
    expect(agent.messages[0]).toMatchObject({ content: [{ text: 'go' }, { text: '[Warning: danger]' }] })
  })

  it('rejects a prompt before request and history (filter_reject_returns_empty)', async () => {
    const { agent, asked, result, types, events } = await filtered([reject('no')])
    expect(types).toEqual(['agentStart', 'inputRejected', 'agentEnd'])
    expect(ofType(events, 'inputRejected')).toMatchObject([{ reason: 'no' }])
    expect(result).toMatchObject({ status: 'rejected', rejection: 'no', messages: [], text: '' })
    expect(agent.messages).toEqual([])
    expect(asked).toEqual([])
    expect((await agent.prompt('again').result).status).toBe('rejected')
  })

  it('runs in order until the first rejection (filter_chain_first_reject_wins)', async () => {
    const seenBy: string[] = []
    const noting =
      (name: string, verdict: FilterVerdict): InputFilter =>
      async () => {
        await undefined
        seenBy.push(name)
        return verdict
      }
    const { result } = await filtered([
      noting('a', { type: 'warn', warning: 'w' }),
      noting('b', { type: 'reject', reason: 'first' }),
      noting('c', { type: 'reject', reason: 'second' }),
    ])
    expect(result.rejection).toBe('first')
    expect(seenBy).toEqual(['a', 'b'])
  })

  it('collects warnings in order (filter_multiple_warns_accumulate)', async () => {
    const { userTexts } = await filtered([warn('one'), pass, warn('two')])
    expect(userTexts(0)).toEqual([['go', '[Warning: one]\n[Warning: two]']])
  })

  it('receives several messages as one text without images (filter_non_text_content_only_text_extracted)', async () => {
    const seenBy: unknown[] = []
    const picture = { type: 'image' as const, data: 'AAAA', mimeType: 'image/png' }
    const input = [userMessage('look at this'), { ...userMessage('and this'), content: [...userMessage('and this').content, picture] }]
    const looking: InputFilter = (said, { messages, signal }) => {
      seenBy.push(said, messages.length, signal.aborted)
      return { type: 'warn', warning: 'w' }
    }
    const { agent } = await filtered([looking], {}, input)
    expect(seenBy).toEqual(['look at this\nand this', 2, false])
    expect(agent.messages[0]).toMatchObject({ content: [{ text: 'look at this' }] })
    expect(agent.messages[1]).toMatchObject({ content: [{ text: 'and this' }, picture, { text: '[Warning: w]' }] })
  })

  it('keeps the message id even when a warning is added', async () => {
    const given = withId(userMessage('mine'))
    const { agent } = await filtered([warn('w')], {}, given)
    expect(agent.messages[0]?.id).toBe(given.id)
    expect(given).toMatchObject({ content: [{ text: 'mine' }] })
    expect('content' in given && given.content).toHaveLength(1)
  })

  it('runs once per prompt, not once per turn', async () => {
    let looks = 0
    const counting: InputFilter = () => {
      looks += 1
      return { type: 'pass' }
    }
    const call = { toolCalls: [{ name: 'step', arguments: {} }] }
    await filtered([counting], { tools: [tool('step', () => 'ok')] }, 'go', [call, call, { text: 'done' }])
    expect(looks).toBe(1)
  })
})

describe('a failing input filter', () => {
  it.each<[string, unknown]>([
    [
      'throws',
      () => {
        throw new Error('secret')
      },
    ],
    ['rejects', () => Promise.reject(new Error('secret'))],
    ['returns undefined', () => undefined],
    ['resolves to null', async () => null],
    ['returns a string', () => 'pass'],
    ['returns a misspelled type', () => ({ type: 'Reject', reason: 'x' })],
  ])('rejects the input if it %s and hides the cause from events', async (_, filter) => {
    const warnings: string[] = []
    // Programs without types answer all sorts of things.
    const { events, result, asked } = await filtered([filter as InputFilter, warn('never')], {
      logger: { warn: (event) => void warnings.push(event) },
    })
    expect(result).toMatchObject({ status: 'rejected', rejection: 'The input was refused because an input filter failed.' })
    expect(asked).toEqual([])
    expect(warnings).toEqual(['filterFailed'])
    expect(JSON.stringify(events)).not.toContain('secret')
  })

  it('receives the abort signal and does not delay an abort when it hangs', async () => {
    const { opened, open } = gate()
    let told: AbortSignal | undefined
    const hangs: InputFilter = (_, { signal }) => {
      told = signal
      open()
      return new Promise<never>(() => undefined)
    }
    const agent = new Agent({ model: scripted([]), inputFilters: [hangs] })
    const events: AgentEvent[] = []
    agent.subscribe((event) => events.push(event))
    const idle = agent.followUp('later')
    const run = agent.prompt('go')
    const owned = run.steer('now')
    await opened
    run.abort()
    expect(await run.result).toMatchObject({ status: 'aborted', messages: [] })
    expect(told?.aborted).toBe(true)
    expect([idle.status, owned.status]).toEqual(['queued', 'returned'])
    expect(ofType(events, 'inputRejected')).toEqual([])
    expect(grammarFaults(events)).toEqual([])
  })
})

describe('input filters on steering', () => {
  it('rejects steering queued before the start and returns it (filter_rejects_steering_message)', async () => {
    const agent = new Agent({ model: scripted([{ text: 'a' }]), inputFilters: [words] })
    const types: string[] = []
    agent.subscribe(({ type }) => types.push(type))
    const [bad, good] = [agent.steer('bad'), agent.steer('good')]
    expect((await agent.prompt('go').result).status).toBe('rejected')
    expect(types).toEqual(['agentStart', 'inputRejected', 'agentEnd'])
    expect(agent.messages).toEqual([])
    expect([bad.status, good.status]).toEqual(['returned', 'queued'])
    expect((await agent.prompt('go').result).status).toBe('completed')
    expect(good.status).toBe('delivered')
  })

  it('appends a warning to steering (filter_warns_steering_message)', async () => {
    const model = scripted([{ text: 'a' }])
    const agent = new Agent({ model, inputFilters: [words] })
    const receipt = agent.steer('odd')
    await agent.prompt('go').result
    expect(receipt.status).toBe('delivered')
    expect(model.provider.requests[0]?.messages[1]).toMatchObject({ content: [{ text: 'odd' }, { text: '[Warning: careful: odd]' }] })
    expect(agent.messages.map(({ id }) => id)).toContain(receipt.message.id)
  })

  it('ends the run as rejected after adding results for the skipped calls', async () => {
    const model = scripted([{ toolCalls: [1, 2].map((n) => ({ name: 'step', arguments: { n } })) }, { text: 'again' }])
    const agent = new Agent({ model, tools: [tool('step', () => 'ok')], toolExecution: { type: 'sequential' }, inputFilters: [words] })
    const events: AgentEvent[] = []
    let steered = false
    agent.subscribe((event) => {
      events.push(event)
      if (event.type !== 'toolExecutionEnd' || steered) return
      steered = true
      agent.steer('bad')
    })
    const { status, messages } = await agent.prompt('go').result
    expect(status).toBe('rejected')
    expect(messages.flatMap((m) => (m.role === 'toolResult' ? [textOf(m.content)] : []))).toEqual([
      'ok',
      'Skipped due to queued user message.',
    ])
    expect(grammarFaults(events)).toEqual([])
    expect(unansweredCalls(agent.messages)).toEqual([])
    expect((await agent.prompt('sorry').result).text).toBe('again')
  })

  it('defers steering that arrives during a filter to the next turn', async () => {
    const model = scripted([{ text: 'a' }, { text: 'b' }])
    const seenBy: string[] = []
    const agent: Agent = new Agent({
      model,
      steeringMode: 'all',
      inputFilters: [
        (said) => {
          if (seenBy.push(said) === 1) agent.steer('meanwhile')
          return { type: 'pass' }
        },
      ],
      hooks: { beforeTurn: ({ turnIndex }) => void (turnIndex === 0 && agent.steer('in the hook')) },
    })
    await agent.prompt('go').result
    const userTexts = model.provider.requests.map(({ messages }) => messages.flatMap((m) => (m.role === 'user' ? [textOf(m.content)] : [])))
    // Steering is looked at after the prompt: what came meanwhile was there by then.
    expect(seenBy).toEqual(['go', 'meanwhile', 'in the hook'])
    expect(userTexts[0]).toEqual(['go', 'meanwhile'])
    expect(userTexts[1]).toEqual(['go', 'meanwhile', 'in the hook'])
  })

  it('receives steering messages singly or joined, depending on steeringMode', async () => {
    for (const steeringMode of ['oneAtATime', 'all'] as const) {
      const seenBy: string[] = []
      const agent = new Agent({
        model: scripted([{ text: 'a' }, { text: 'b' }]),
        steeringMode,
        inputFilters: [
          (said) => {
            seenBy.push(said)
            return { type: 'pass' }
          },
        ],
      })
      agent.steer('one')
      agent.steer('two')
      await agent.prompt('go').result
      expect(seenBy).toEqual(steeringMode === 'all' ? ['go', 'one\ntwo'] : ['go', 'one', 'two'])
    }
  })

  it('does not deliver steering withdrawn while a filter runs', async () => {
    const agent: Agent = new Agent({
      model: scripted([{ text: 'a' }]),
      inputFilters: [
        (said) => {
          if (said === 'oops') agent.clearQueues()
          return { type: 'pass' }
        },
      ],
    })
    const receipt = agent.steer('oops')
    await agent.prompt('go').result
    expect(receipt.status).toBe('returned')
    expect(agent.messages.map(({ id }) => id)).not.toContain(receipt.message.id)
  })

  it('skips the model call if all input is withdrawn during a filter or hook', async () => {
    for (const [how, filters] of [
      ['steer', [pass]],
      ['followUp', [pass]],
      ['followUp', []],
    ] as const) {
      const model = scripted([{ text: 'a' }, { text: 'never' }])
      const agent: Agent = new Agent({
        model,
        inputFilters: filters,
        hooks: { beforeTurn: ({ turnIndex }) => void (turnIndex === 1 && agent.clearQueues()) },
      })
      const events: AgentEvent[] = []
      agent.subscribe((event) => {
        if (events.push(event) > 0 && event.type === 'turnEnd') agent[how]('oops')
      })
      expect(await agent.prompt('go').result).toMatchObject({ status: 'completed', text: 'a' })
      expect(model.provider.requests).toHaveLength(1)
      expect(grammarFaults(events)).toEqual([])
    }
  })
})

describe('input filters on a follow-up', () => {
  it('ends the run as rejected after the complete first turn (filter_rejects_follow_up_message)', async () => {
    const agent = new Agent({ model: scripted([{ text: 'a' }, { text: 'b' }]), inputFilters: [words] })
    const events: AgentEvent[] = []
    agent.subscribe((event) => events.push(event))
    const [bad, good] = [agent.followUp('bad'), agent.followUp('good')]
    const result = await agent.prompt('go').result
    expect(result).toMatchObject({ status: 'rejected', text: 'a', rejection: 'refused: bad' })
    expect(ofType(events, 'turnStart')).toHaveLength(1)
    expect(events.slice(-2).map(({ type }) => type)).toEqual(['inputRejected', 'agentEnd'])
    expect(grammarFaults(events)).toEqual([])
    expect([bad.status, good.status]).toEqual(['returned', 'queued'])
  })

  it('appends a warning to a follow-up (filter_warns_follow_up_message)', async () => {
    const model = scripted([{ text: 'a' }, { text: 'b' }])
    const agent = new Agent({ model, inputFilters: [words] })
    agent.followUp('odd')
    await agent.prompt('go').result
    expect(model.provider.requests).toHaveLength(2)
    expect(model.provider.requests[1]?.messages.at(-1)).toMatchObject({ content: [{ text: 'odd' }, { text: '[Warning: careful: odd]' }] })
  })

  it('keeps a follow-up queued when beforeTurn stops the run', async () => {
    const model = scripted([{ text: 'a' }, { text: 'b' }, { text: 'c' }])
    let may = false
    const agent = new Agent({ model, inputFilters: [pass], hooks: { beforeTurn: ({ turnIndex }) => may || turnIndex === 0 } })
    const receipt = agent.followUp('later')
    expect((await agent.prompt('go').result).status).toBe('rejected')
    expect(receipt.status).toBe('queued')
    may = true
    await agent.prompt('go').result
    expect(receipt.status).toBe('delivered')
  })
})

describe('approved calls of an earlier run', () => {
  it('runs approved calls before it filters the new input once', async () => {
    const seenBy: string[] = []
    const looking: InputFilter = (said) => {
      seenBy.push(said)
      return { type: 'pass' }
    }
    const ran: string[] = []
    const asks = tool('asks', () => `ran ${ran.push('x')}`, { needsApproval: true })
    const model = scripted([{ toolCalls: [{ id: 'c1', name: 'asks', arguments: {} }] }, { text: 'done' }])
    const agent = new Agent({ model, tools: [asks], approvalTimeoutMs: 1, inputFilters: [looking] })
    expect((await agent.prompt('go').result).status).toBe('paused')
    const run = agent.send('and now')
    run.subscribe((event) => event.type === 'approvalRequested' && run.approve(event))
    expect((await run.result).status).toBe('completed')
    expect(seenBy).toEqual(['go', 'and now'])
    expect(model.provider.requests[1]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'toolResult', 'user'])
  })
})

describe('a message supplier without peek', () => {
  it('delivers all of its messages through the filters', async () => {
    const waiting = ['one', 'two'].map((said) => withId(userMessage(said)))
    const steering: MessageSupplier = { waiting: () => waiting.length > 0, take: () => waiting.splice(0, 1) }
    const model = scripted([{ text: 'a' }, { text: 'b' }])
    const context: AgentContext = { systemPrompt: '', messages: [], tools: [] }
    const options = { emit: () => undefined, signal: new AbortController().signal }
    const result = await agentLoop('go', context, { model, steering, inputFilters: [warn('w')] }, options)
    expect(result.status).toBe('completed')
    const said = context.messages.flatMap((m) =>
      m.role === 'user' ? [m.content.map((block) => (block.type === 'text' ? block.text : ''))] : [],
    )
    expect(said).toEqual([
      ['go', '[Warning: w]'],
      ['one', '[Warning: w]'],
      ['two', '[Warning: w]'],
    ])
  })

  it('ends the run with an error if one of its methods throws', async () => {
    for (const broken of ['waiting', 'take', 'peek'] as const) {
      const fail = () => {
        throw new Error('queue is broken')
      }
      const steering: MessageSupplier = { waiting: () => true, take: () => [], [broken]: fail }
      const context: AgentContext = { systemPrompt: '', messages: [], tools: [] }
      const events: AgentEvent[] = []
      const options = { emit: (event: AgentEvent) => void events.push(event), signal: new AbortController().signal }
      const result = await agentLoop('go', context, { model: scripted([{ text: 'a' }]), steering, inputFilters: [pass] }, options)
      expect(result).toMatchObject({ status: 'error', error: { message: 'queue is broken' } })
      expect(grammarFaults(events)).toEqual([])
    }
  })
})
