import { describe, expect, it } from 'vitest'
import { createAgentApp, memoryLiveSessions } from '../../adapters/http/index.ts'
import { remoteSession } from '../../src/client.ts'
import { type AgentEvent, type AgentRun, defineTool, type Model, memorySessionStore, type SessionStore, textOf } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { type SessionEntry, sessionJournal } from '../../src/session.ts'
import { allMessages, initialState, reduce, restoredState } from '../../src/store.ts'
import { toAgUiMessages } from '../../src/ui/ag-ui.ts'
import { toUiMessages } from '../../src/ui/ai-sdk.ts'
import { gate } from '../support/play.ts'

/** A host that can be killed in the middle of a run, and started again with another model over the same store. */
function killableHost(model: Model, store: SessionStore = memorySessionStore()) {
  const lookUp = defineTool({
    name: 'look_up',
    label: 'Look up',
    description: 'Looks up.',
    parameters: { type: 'object', properties: {} },
    idempotent: true,
    execute: () => 'found',
  })
  const pay = defineTool({ name: 'pay', description: 'Pays.', parameters: { type: 'object', properties: {} }, execute: () => never })
  const start = (its: Model, kept = store) => {
    const sessions = memoryLiveSessions({ store: kept, agent: () => ({ model: its, tools: [lookUp, pay] }) })
    return { sessions, app: createAgentApp({ sessions, authorize: () => true }) }
  }
  let host = start(model)
  let cut = new AbortController()
  return {
    async fetch(request: Request): Promise<Response> {
      const { signal } = cut
      const response = await host.app.fetch(request)
      // Whoever reads from a process that is killed gets an error, and nothing more.
      const body = response.body?.pipeThrough(new TransformStream(), { signal })
      return new Response(body ?? null, response)
    },
    /** The old process says nothing more; that of `model` begins. */
    restart(its: Model, { recover = true, store: other = store } = {}) {
      host = start(its, other)
      if (recover) void host.sessions.recover()
      cut.abort(new Error('killed'))
      cut = new AbortController()
    },
    close: () => host.sessions.close(),
  }
}

/** `store`, where entries of `type` are not stored before `until`. */
function heldUp(store: SessionStore, type: SessionEntry['type'], until: Promise<unknown>): SessionStore {
  const slow: SessionStore = {
    ...store,
    journal: (options) => sessionJournal(slow, options),
    open: async (id, options) => {
      const writer = await store.open(id, options)
      const append: typeof writer.append = async (records) => {
        if (records.some(({ entry }) => entry.type === type)) await until
        await writer.append(records)
      }
      const { sessionId, epoch, records } = writer
      return { sessionId, epoch, records, append, replace: (all) => writer.replace(all), close: () => writer.close() }
    },
  }
  return slow
}

const never = new Promise<string>(() => undefined)
/** Says `saidFirst` pieces of its answers, and then nothing. */
const hanging = (script: Parameters<typeof scripted>[0], saidFirst: number): Model => {
  let pieces = 0
  return scripted(script, { gate: () => (pieces++ < saidFirst ? Promise.resolve() : never.then(() => undefined)) })
}

async function untilText(run: AsyncIterable<AgentEvent>): Promise<void> {
  for await (const event of run) if (event.type === 'messageUpdate' && event.delta.type === 'text') return
}

/** How a run has ended, and the texts that it returned. */
async function returnedBy(run: AgentRun) {
  const { status, error, returned } = await run.result
  return [status, error?.code, ...returned.map((message) => message.role === 'user' && textOf(message.content))]
}

const open = (fetch: (request: Request) => Promise<Response>) =>
  remoteSession({ url: 'http://localhost', sessionId: 's', fetch, reconnect: { initialDelayMs: 1, maxDelayMs: 2 } })

describe('a run across a server restart', () => {
  it('continues a run if the next process is killed during the handover', async () => {
    const host = killableHost(hanging([{ text: ['one ', 'two'] }], 1))
    let broken = 0
    const fetch = async (request: Request): Promise<Response> => {
      const response = await host.fetch(request)
      if (response.status !== 410 || broken++ > 0) return response
      const half = (await response.arrayBuffer()).slice(0, 20)
      const pieces = [() => new Uint8Array(half), () => Promise.reject(new TypeError('terminated'))]
      const body = new ReadableStream({ pull: async (controller) => controller.enqueue(await pieces.shift()?.()) }, { highWaterMark: 0 })
      return new Response(body, response)
    }
    const session = open(fetch)
    const run = session.prompt('Count.')
    await untilText(run)
    host.restart(scripted([{ text: ['one ', 'two ', 'three'] }]))
    const { status, text } = await run.result
    expect([status, text, broken > 1]).toEqual(['completed', 'one two three', true])
    session.close()
    await host.close()
  })

  it('continues an interrupted response as one run', async () => {
    const host = killableHost(hanging([{ text: ['one ', 'two'] }], 1))
    const session = open(host.fetch)
    const run = session.prompt('Count.')
    const seen: AgentEvent[] = []
    run.subscribe((event) => seen.push(structuredClone(event)))
    await untilText(run)
    host.restart(scripted([{ text: ['one ', 'two ', 'three'] }]))
    const result = await run.result
    expect([result.status, result.text, result.messages.map(({ role }) => role)]).toEqual([
      'completed',
      'one two three',
      ['user', 'assistant'],
    ])
    expect(new Set(seen.map(({ runId }) => runId)).size).toBe(1)
    expect(seen.every(({ seq }, at) => seq > (seen[at - 1]?.seq ?? 0))).toBe(true)
    const types = seen.map(({ type }) => type)
    expect([types.filter((type) => type === 'agentStart').length, types.filter((type) => type === 'agentEnd').length]).toEqual([2, 1])
    const ends = seen.flatMap((event) =>
      event.type === 'messageEnd' && event.message.role === 'assistant' ? [event.message.stopReason] : [],
    )
    expect(ends).toEqual(['error', 'stop'])
    expect(starts(types)).toEqual([])
    const shown = allMessages(seen.reduce(reduce, initialState()))
    expect(shown.map(({ status, role }) => [role, status])).toEqual([
      ['user', 'done'],
      ['assistant', 'done'],
      ['assistant', 'done'],
    ])
    expect(await open(host.fetch).load()).toEqual(result.messages)
    session.close()
    await host.close()
  })

  it('reports an unknown outcome of an interrupted call once, also later', async () => {
    const host = killableHost(scripted([{ toolCalls: [{ id: 'c1', name: 'pay', arguments: {} }] }]))
    const session = open(host.fetch)
    const run = session.prompt('Pay.')
    const seen: AgentEvent[] = []
    run.subscribe((event) => seen.push(structuredClone(event)))
    for await (const event of run) if (event.type === 'toolExecutionStart') break
    host.restart(scripted([{ text: 'I shall look whether it was paid.' }]))
    expect((await run.result).status).toBe('completed')
    const ends = seen.flatMap((event) => (event.type === 'toolExecutionEnd' ? [[event.toolCallId, event.isError, event.outcome]] : []))
    expect(ends).toEqual([['c1', true, 'unknown']])
    expect(starts(seen.map(({ type }) => type))).toEqual([])
    expect(seen.reduce(reduce, initialState()).tools.c1?.status).toBe('unknown')
    const later = open(host.fetch)
    expect(restoredState(await later.load()).tools.c1?.status).toBe('unknown')
    const messages = [...later.messages]
    expect(JSON.stringify(toUiMessages(messages))).toContain('The outcome is unknown')
    expect(JSON.stringify(toAgUiMessages(messages))).toContain('"outcome":"unknown"')
    const loop = (await run.result).loopId
    const stream = await (await host.fetch(new Request(`http://localhost/sessions/s/runs/${loop}/events`))).text()
    expect(stream).toContain('"outcome":"unknown"')
    session.close()
    later.close()
    await host.close()
  })

  it('receives events of the next process once after a late reconnect', async () => {
    const host = killableHost(hanging([{ text: ['one ', 'two'] }], 1))
    const { opened: mayCome, open: come } = gate()
    let isKilled = false
    const session = open(async (request) => {
      if (isKilled) await mayCome
      return host.fetch(request)
    })
    const run = session.prompt('Look.')
    const seen: AgentEvent[] = []
    run.subscribe((event) => seen.push(event))
    await untilText(run)
    isKilled = true
    host.restart(scripted([{ toolCalls: [{ id: 'c1', name: 'look_up', arguments: {} }] }, { text: 'found' }]))
    const history = async () => (await host.fetch(new Request('http://localhost/sessions/s/history'))).text()
    await expect.poll(history).toContain('"toolResult"')
    come()
    expect((await run.result).text).toBe('found')
    const ended = seen.flatMap((event) => (event.type === 'messageEnd' ? [event.message.id] : []))
    expect(new Set(ended).size).toBe(ended.length)
    session.close()
    await host.close()
  })

  it('receives a recovered tool result before it is stored', async () => {
    const store = memorySessionStore()
    const { opened: isRead, open: read } = gate()
    const host = killableHost(scripted([{ toolCalls: [{ id: 'c1', name: 'pay', arguments: {} }] }]), heldUp(store, 'recovered', isRead))
    const session = open(async (request) => {
      const response = await host.fetch(request)
      if (request.url.endsWith('?events=false')) read()
      return response
    })
    const run = session.prompt('Pay.')
    const seen: AgentEvent[] = []
    run.subscribe((event) => seen.push(event))
    for await (const event of run) if (event.type === 'toolExecutionStart') break
    host.restart(scripted([{ text: 'I shall look.' }]))
    expect((await run.result).text).toBe('I shall look.')
    const results = seen.flatMap((event) =>
      event.type === 'messageEnd' && event.message.role === 'toolResult' ? [event.message.outcome] : [],
    )
    expect(results).toEqual(['unknown'])
    session.close()
    await host.close()
  })

  it('reports an unknown outcome for a run aborted before recovery', async () => {
    const host = killableHost(scripted([{ toolCalls: [{ id: 'c1', name: 'pay', arguments: {} }] }]))
    const session = open(host.fetch)
    const run = session.prompt('Pay.')
    for await (const event of run) if (event.type === 'toolExecutionStart') break
    session.close()
    host.restart(scripted([]), { recover: false })
    const stopped = await host.fetch(new Request('http://localhost/sessions/s/stop', { method: 'POST' }))
    expect(stopped.status).toBe(204)
    const later = open(host.fetch)
    expect(restoredState(await later.load()).tools.c1?.status).toBe('unknown')
    later.close()
    await host.close()
  })

  it('completes a run from the record if the end event was lost', async () => {
    const host = killableHost(scripted(() => ({ text: ['one ', 'two'] })))
    let isDead = false
    const session = open((request) => (isDead ? Promise.reject(new TypeError('no way')) : host.fetch(request)))
    const run = session.prompt('Count.')
    const types: string[] = []
    run.subscribe(({ type }) => {
      types.push(type)
      if (type !== 'turnStart') return
      isDead = true
      host.restart(scripted([]))
      isDead = false
    })
    const result = await run.result
    expect([result.status, result.text]).toEqual(['completed', 'one two'])
    expect([starts(types), types.filter((type) => type === 'agentEnd').length]).toEqual([[], 1])
    session.close()
    await host.close()
  })

  it('returns input that the server lost, whatever events were seen', async () => {
    const host = killableHost(hanging([{ text: ['one ', 'two'] }], 1))
    const session = open(host.fetch)
    const run = session.prompt('Count.')
    await untilText(run)
    host.restart(scripted([]), { store: memorySessionStore() })
    expect(await returnedBy(run)).toEqual(['error', 'interrupted', 'Count.'])
    session.close()
    await host.close()
  })

  it('returns input if the process ended before storing it', async () => {
    const store = memorySessionStore()
    const host = killableHost(scripted([]), heldUp(store, 'input', never))
    const session = open(host.fetch)
    const run = session.prompt('Count.')
    for await (const event of run) if (event.type === 'agentStart') break
    host.restart(scripted([]), { store })
    expect(await returnedBy(run)).toEqual(['error', 'interrupted', 'Count.'])
    session.close()
    await host.close()
  })

  it('continues a run after a tool call', async () => {
    const script = [{ toolCalls: [{ name: 'look_up', arguments: {} }] }, { text: ['It is ', 'found.'] }]
    const host = killableHost(hanging(script, 2))
    const session = open(host.fetch)
    const run = session.prompt('Look it up.')
    const types: string[] = []
    run.subscribe(({ type }) => types.push(type))
    await untilText(run)
    host.restart(scripted([{ text: ['It was ', 'found.'] }]))
    const result = await run.result
    expect([result.text, result.messages.map(({ role }) => role)]).toEqual([
      'It was found.',
      ['user', 'assistant', 'toolResult', 'assistant'],
    ])
    expect(starts(types)).toEqual([])
    session.close()
    await host.close()
  })
})

/** What began and did not end. Another `agentStart` goes on with the same run. */
function starts(types: readonly string[]): string[] {
  const count = (type: string) => types.filter((each) => each === type).length
  return ['turn', 'message', 'toolExecution'].filter((kind) => count(`${kind}Start`) !== count(`${kind}End`))
}
