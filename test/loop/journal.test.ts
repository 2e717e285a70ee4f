import { describe, expect, it } from 'vitest'
import { Agent, type AgentEvent } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { type Journal, type JournalRecord, SessionError } from '../../src/session.ts'
import { grammarFaults } from '../support/grammar.ts'
import { add, fastRetry, gate, play, tool } from '../support/play.ts'

const script = [{ toolCalls: [{ id: 'c1', name: 'add', arguments: { a: 1, b: 2 } }] }, { text: 'three' }]

/** A journal that remembers, and refuses the record number `refuseAt`. */
function memoryJournal(
  refuseAt = Number.POSITIVE_INFINITY,
  refusal: Error = new Error('disk full'),
): Journal & { records: JournalRecord[] } {
  const records: JournalRecord[] = []
  return {
    records,
    append: async (record) => {
      if (records.length >= refuseAt) throw refusal
      records.push(record)
    },
  }
}

const kinds = (records: JournalRecord[]) => records.map((record) => record.entry.type)

describe('journal', () => {
  it('records loop and turn boundaries, inputs, responses, tool intents and tool results', async () => {
    const journal = memoryJournal()
    const { agent, result } = await play(script, { tools: [add], journal })
    expect(kinds(journal.records)).toEqual([
      ...['loopStart', 'turnStart', 'input', 'assistant', 'toolIntent', 'toolResult'],
      ...['turnStart', 'assistant', 'loopEnd'],
    ])
    expect(journal.records.at(-1)?.entry).toMatchObject({
      type: 'loopEnd',
      status: 'completed',
      usage: result.usage,
      costUsd: result.costUsd,
    })
    const ids = new Set(journal.records.map(({ agentId, sessionId, loopId }) => `${agentId} ${sessionId} ${loopId}`))
    expect(ids).toEqual(new Set([`${agent.agentId} ${agent.sessionId} ${result.loopId}`]))
    expect(journal.records.map((record) => record.turnIndex)).toEqual([0, 0, 0, 0, 0, 0, 1, 1, 2])
  })

  it('records the tool intent durably before the tool runs', async () => {
    const order: string[] = []
    const journal: Journal = {
      append: async ({ entry }) => {
        for (let n = 0; n < 20; n += 1) await undefined
        order.push(entry.type)
      },
    }
    const spy = tool('add', () => `ok ${order.push('run')}`)
    await play(script, { tools: [spy], journal })
    expect(order.filter((what) => !/loop|turn/.test(what))).toEqual(['input', 'assistant', 'toolIntent', 'run', 'toolResult', 'assistant'])
  })

  it.each([0, 1, 2, 3, 4, 5, 6, 7])('ends the run before the next side effect if writing record %i fails', async (refuseAt) => {
    const ran: string[] = []
    const spy = tool('add', () => `ok ${ran.push('run')}`)
    const { events, model, result } = await play(script, { tools: [spy], journal: memoryJournal(refuseAt) })
    expect(result.status).toBe('error')
    expect(result.error).toMatchObject({ code: 'journal', message: expect.stringContaining('disk full') })
    expect(grammarFaults(events)).toEqual([])
    // Record 6 is the start of the second turn, which nothing waits for: a refusal that comes at once still comes before the request.
    expect(model.provider.requests).toHaveLength([0, 0, 0, 1, 1, 1, 1, 2][refuseAt] ?? 0)
    expect(ran).toHaveLength([0, 0, 0, 0, 0, 1, 1, 1][refuseAt] ?? 0)
  })

  it('keeps the result and logs a failure to record the loop end', async () => {
    const logged: string[] = []
    const logger = { warn: (event: string) => logged.push(event) }
    const { agent, result } = await play(script, { tools: [add], journal: memoryJournal(8), logger })
    expect(result.status).toBe('completed')
    expect(agent.messages).toHaveLength(4)
    expect(logged).toEqual(['loopEndNotRecorded'])
  })

  const halfway = [{ text: 'half', fail: { code: 'network' as const, message: 'cut', afterText: true } }, { text: 'whole' }]

  it('records every message of the history, including failed and retried responses', async () => {
    const journal = memoryJournal()
    const { agent } = await play(halfway, { journal })
    expect(agent.messages).toHaveLength(3)
    const stored = journal.records.flatMap(({ entry }) => ('message' in entry ? [entry.message] : []))
    expect(stored).toEqual(agent.messages)
  })

  it('ends the run without a retry if recording a partial response fails', async () => {
    const { events, model, result } = await play(halfway, { journal: memoryJournal(3) })
    expect(result.error?.code).toBe('journal')
    expect(model.provider.requests).toHaveLength(1)
    expect(events.map((event) => event.type)).not.toContain('providerRetry')
    expect(grammarFaults(events)).toEqual([])
  })

  it('records a message before its messageEnd is emitted', async () => {
    const stored = new Set<string>()
    const journal: Journal = {
      append: async ({ entry }) => {
        await undefined
        if ('message' in entry) stored.add(entry.message.id)
      },
    }
    const agent = new Agent({ model: scripted([...halfway, ...script]), tools: [add], journal, retry: fastRetry })
    const early: string[] = []
    agent.subscribe((event) => event.type === 'messageEnd' && !stored.has(event.messageId) && early.push(event.message.role))
    await agent.prompt('one').result
    await agent.prompt('two').result
    expect(early).toEqual([])
    expect(stored.size).toBe(agent.messages.length)
  })

  it('leaves a history that can continue after a failed write', async () => {
    for (const refuseAt of [0, 1, 2, 3, 4, 5, 6, 7]) {
      const { agent } = await play([...script, { text: 'fine' }, { text: 'fine' }, { text: 'fine' }], {
        tools: [add],
        journal: memoryJournal(refuseAt),
      })
      agent.configure({ journal: memoryJournal() })
      expect((await agent.prompt('again').result).status).toBe('completed')
    }
  })

  it('returns the prompt for a retry when the store is full', async () => {
    const model = scripted([{ text: 'fine' }])
    const full = new SessionError('quota', 'No room.')
    for (const refuseAt of [0, 1, 2, 3]) {
      const agent = new Agent({ model, journal: memoryJournal(refuseAt, full) })
      const events: AgentEvent[] = []
      agent.subscribe((event) => events.push(event))
      const { status, returned } = await agent.prompt('go').result
      const said = agent.messages.filter(({ role }) => role === 'user')
      const heard = events.filter((event) => event.type === 'messageEnd' && event.message.role === 'user')
      expect([status, said.length + returned.length, heard.length]).toEqual(['error', 1, said.length])
      expect(returned.length === 1).toBe(refuseAt < 3)
      expect(grammarFaults(events)).toEqual([])
    }
  })

  it('keeps the prompt in the history if the outcome of the write is unknown', async () => {
    const agent = new Agent({ model: scripted([]), journal: memoryJournal(2) })
    const { status, returned } = await agent.prompt('go').result
    expect([status, returned, agent.messages.map(({ role }) => role)]).toEqual(['error', [], ['user', 'assistant']])
  })

  it('does not delay an abort when a write hangs', async () => {
    const asked = gate()
    const journal: Journal = {
      append: () => {
        asked.open()
        return new Promise(() => undefined)
      },
    }
    const agent = new Agent({ model: scripted(script), journal })
    const run = agent.prompt('go')
    const events: AgentEvent[] = []
    run.subscribe((event) => events.push(event))
    await asked.opened
    run.abort()
    expect((await run.result).status).toBe('error')
    expect(grammarFaults(events)).toEqual([])
  })
})
