import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { argumentsHash } from '../../../src/base/hash.ts'
import { Agent, type AgentEvent, defineTool, type JsonObject, toolCallsOf } from '../../../src/index.ts'
import { Approvals, agentLoop } from '../../../src/loop.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { approve, asked, changed, editedBy, followed, note, parameters, shown, told } from '../../support/approval-edits.ts'
import { ofType } from '../../support/play.ts'

describe('run.approve with arguments', () => {
  it('runs the call with the edited arguments and reports the edit to the model', async () => {
    const { ran, events, agent, model, failures } = await asked({ onAsk: approve({ arguments: changed, by: 'ada' }) })
    expect(failures).toEqual([])
    expect(ran).toEqual([changed])
    const edited = editedBy(changed, { by: 'ada' })
    expect(ofType(events, 'approvalResolved')).toMatchObject([{ approved: true, by: 'ada', edited }])
    expect(ofType(events, 'toolExecutionStart').map(({ args }) => args)).toEqual([changed])
    expect(told(events)).toEqual([`sent 1${note(changed)}`])
    const result = agent.messages.find((message) => message.role === 'toolResult')
    expect(result).toMatchObject({ edited, content: [{ text: 'sent 1' }, { text: note(changed) }] })
    expect(model.provider.requests[1]?.messages.at(-1)).toMatchObject({
      role: 'toolResult',
      content: [{ text: 'sent 1' }, { text: note(changed) }],
    })
  })

  it("keeps the model's arguments in the call", async () => {
    const { agent, model } = await asked({ onAsk: approve({ arguments: changed }) })
    const calls = agent.messages.flatMap((message) => (message.role === 'assistant' ? toolCallsOf(message.content) : []))
    expect(calls.map((call) => call.arguments)).toEqual([shown])
    expect(JSON.stringify(model.provider.requests[1]?.messages)).toContain('ada@example.org')
  })

  it('hides the edit from the model with tellModel: false', async () => {
    const { ran, events, agent } = await asked({ onAsk: approve({ arguments: changed, tellModel: false }) })
    expect([ran, told(events)]).toEqual([[changed], ['sent 1']])
    expect(agent.messages).toContainEqual(expect.objectContaining({ edited: editedBy(changed, { tellModel: false }) }))
  })

  it('treats equal arguments in any key order as unedited', async () => {
    for (const options of [{ arguments: { copies: 1, to: shown.to } }, { by: 'ada' }, {}, { arguments: undefined }]) {
      const { ran, events, agent } = await asked({ onAsk: (event, run) => Reflect.apply(run.approve, run, [event, options]) })
      expect([ran, told(events)]).toEqual([[shown], ['sent 1']])
      const [resolved] = ofType(events, 'approvalResolved')
      expect(resolved).not.toHaveProperty('edited')
      expect(resolved?.by).toBe('by' in options ? 'ada' : undefined)
      expect(JSON.stringify(agent.messages)).not.toContain('edited')
    }
  })

  it('does not evaluate needsApproval again', async () => {
    const judged: JsonObject[] = []
    const needsApproval = (args: JsonObject) => judged.push(args) > 0
    const { ran, events } = await asked({ needsApproval, onAsk: approve({ arguments: changed }) })
    expect([ran, judged, ofType(events, 'approvalRequested').length]).toEqual([[changed], [shown], 1])
  })

  it('copies the edited arguments', async () => {
    const mine: JsonObject = { ...changed }
    const { ran, events } = await asked({
      onAsk: (event, run) => {
        const done = run.approve(event, { arguments: mine })
        mine.to = 'eve@example.org'
        run.subscribe((later) => {
          if (later.type === 'approvalResolved' && later.edited !== undefined) later.edited.arguments.to = 'eve@example.org'
        })
        return done
      },
    })
    expect(ran).toEqual([changed])
    expect(ofType(events, 'toolExecutionStart')[0]?.args).toEqual(changed)
  })

  it.each<[string, unknown, string]>([
    ['a missing property', { copies: 2 }, 'Invalid arguments: '],
    ['a wrong type', { to: 5 }, 'Invalid arguments: '],
    ['a number beyond the range', { to: 'a', copies: Number.POSITIVE_INFINITY }, 'arguments'],
    ['-0', { to: 'a', copies: -0 }, '-0'],
    ['a date', { to: new Date() }, ''],
    ['a function', { to: 'a', copies: () => 1 }, ''],
    ['a list', [], 'arguments is'],
    ['a text', 'yes', 'arguments is'],
    ['null', null, 'arguments is'],
    ['half of a surrogate pair', { to: '\ud800' }, ''],
    [
      'a class',
      new (class Mail {
        to = 'a'
      })(),
      '',
    ],
  ])('rejects %s, and the call stays pending', async (_, given, sentence) => {
    const { ran, failures, events } = await asked({
      onAsk: async (event, run) => {
        const failure = await Reflect.apply(run.approve, run, [event, { arguments: given }]).catch((error: unknown) => error)
        expect(run.pendingApprovals()).toHaveLength(1)
        expect(failure).toMatchObject({ name: 'ConfigError', code: 'invalidOption', message: expect.stringContaining(sentence) })
        return run.approve(event)
      },
    })
    expect([ran, failures, ofType(events, 'approvalResolved').length]).toEqual([[shown], [], 1])
  })

  it('rejects circular and deeply nested arguments', async () => {
    const cycle: JsonObject = { to: 'a' }
    cycle.self = cycle
    let deep: JsonObject = {}
    for (let level = 0; level < 300; level += 1) deep = { deep }
    for (const given of [cycle, { to: 'a', deep }]) {
      const { ran, failures } = await asked({ onAsk: approve({ arguments: given }) })
      expect([ran, failures]).toMatchObject([[], [{ code: 'invalidOption' }]])
    }
  })

  it('keeps an argument named __proto__', async () => {
    const given: JsonObject = JSON.parse('{"to":"a","__proto__":{"copies":9}}')
    const { ran } = await asked({ onAsk: approve({ arguments: given }) })
    expect(JSON.stringify(ran)).toBe(JSON.stringify([given]))
    expect([ran[0]?.copies, Object.getPrototypeOf(ran[0])]).toEqual([undefined, Object.prototype])
    expect(Reflect.get({}, 'copies')).toBeUndefined()
  })

  it('accepts a megabyte of arguments', async () => {
    const given = { to: 'x'.repeat(1_000_000) }
    const { ran } = await asked({ onAsk: approve({ arguments: given, tellModel: false }) })
    expect(ran).toEqual([given])
  })

  it.each<[string, JsonObject, string]>([
    ['an unknown option', { remember: true }, 'remember'],
    ['a wrong by', { by: 5 }, 'by is 5'],
    ['a wrong tellModel', { tellModel: 'no' }, 'tellModel is "no"'],
  ])('rejects %s by name', async (_, options, sentence) => {
    const { failures, ran } = await asked({ onAsk: (event, run) => Reflect.apply(run.approve, run, [event, options]) })
    expect(failures).toMatchObject([{ code: 'invalidOption', message: expect.stringContaining(sentence) }])
    expect(ran).toEqual([])
  })

  it('rejects an edit with the hash or id of another request', async () => {
    const { failures } = await asked({
      onAsk: ({ toolCallId }, run) => run.approve({ toolCallId, argumentsHash: argumentsHash(changed) }, { arguments: changed }),
    })
    expect(failures).toMatchObject([{ code: 'argumentsChanged' }])
    const other = await asked({ onAsk: (event, run) => run.approve({ ...event, toolCallId: 'c2' }, { arguments: changed }) })
    expect(other.failures).toMatchObject([{ code: 'unknownCall' }])
  })

  it('denies the call if a denial arrives during validation of the edit', async () => {
    const { ran, failures, events } = await asked({
      onAsk: async (event, run) => {
        const late = run.approve(event, { arguments: changed })
        run.deny(event, 'no')
        await expect(late).rejects.toMatchObject({ code: 'unknownCall' })
        await expect(run.approve(event, { arguments: changed })).rejects.toMatchObject({ code: 'unknownCall' })
      },
    })
    expect([ran, failures]).toEqual([[], []])
    expect(ofType(events, 'approvalResolved')).toMatchObject([{ approved: false, reason: 'no' }])
  })

  it('validates the edited arguments with an asynchronous schema', async () => {
    const seen: unknown[] = []
    const parse = defineTool({
      name: 'book',
      description: 'Books.',
      parameters: z.object({
        day: z
          .string()
          .refine(async (day) => day !== 'never')
          .transform((day) => new Date(day)),
      }),
      jsonSchema: { type: 'object' },
      needsApproval: true,
      execute: ({ day }) => `booked ${seen.push(day)}`,
    })
    const agent = new Agent({
      model: scripted([{ toolCalls: [{ id: 'c1', name: 'book', arguments: { day: '2026-01-01' } }] }, { text: 'done' }]),
      tools: [parse],
    })
    const { events } = await followed(agent.prompt('go'), async (event, run) => {
      await expect(run.approve(event, { arguments: { day: 'never' } })).rejects.toMatchObject({ code: 'invalidOption' })
      return run.approve(event, { arguments: { day: '2026-02-02' } })
    })
    expect(seen).toEqual([new Date('2026-02-02')])
    expect(ofType(events, 'toolExecutionStart')[0]?.args).toEqual({ day: '2026-02-02' })
  })

  it('rejects edits of a provider-executed call', async () => {
    const providerState = { api: 'scripted', model: scripted([]).config.id, payload: {} }
    const block = {
      type: 'serviceTool',
      id: 'mcpr_1',
      name: 'delete_page',
      input: { id: 'p1' },
      status: 'running',
      needsApproval: true,
    } as const
    const agent = new Agent({ model: scripted([{ blocks: [{ ...block, providerState }], stopReason: 'toolUse' }, { text: 'done' }]) })
    const { failures } = await followed(agent.prompt('go'), approve({ arguments: { id: 'p2' } }))
    expect(failures).toMatchObject([{ code: 'invalidOption', message: expect.stringContaining('runs at the provider') }])
  })

  it('does not run the call if a handler approves invalid arguments', async () => {
    const ran: JsonObject[] = []
    class Careless extends Approvals {
      override wait(...[request, decide]: Parameters<Approvals['wait']>) {
        return super.wait({ ...request, checkEdit: async (given) => given }, decide)
      }
    }
    const approvals = new Careless()
    const send = defineTool({
      name: 'send',
      description: 'Sends.',
      parameters,
      needsApproval: true,
      execute: (args) => `${ran.push(args)}`,
    })
    const model = scripted([{ toolCalls: [{ id: 'c1', name: 'send', arguments: shown }] }, { text: 'done' }])
    const events: AgentEvent[] = []
    const emit = (event: AgentEvent) => {
      events.push(event)
      if (event.type === 'approvalRequested') void approvals.approve(event, { arguments: { to: 5 } })
    }
    await agentLoop(
      [{ role: 'user', content: 'go' }],
      { systemPrompt: '', messages: [], tools: [send] },
      { model },
      { emit, approvals, signal: new AbortController().signal },
    )
    expect(ran).toEqual([])
    expect(told(events)).toEqual([expect.stringContaining('Invalid arguments')])
  })
})
