import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createAgentApp, memoryLiveSessions, readWebhook, type SessionNotice, webhook } from '../../../adapters/http/index.ts'
import { memorySessionStore } from '../../../src/index.ts'
import { endpointAgent } from '../../../testing/index.ts'
import { frames } from './read-sse.ts'

const key = 'k'.repeat(32)
const ended: SessionNotice = { type: 'end', id: 'l:end', at: 1, sessionId: 's', loopId: 'l', status: 'completed' }
const waiting: SessionNotice = {
  ...{ type: 'waiting', id: 'l:waiting:c', at: 1, sessionId: 's', loopId: 'l' },
  approvals: [{ toolCallId: 'c', toolName: 'pay', args: { iban: 'private' }, argumentsHash: 'h' }],
  inputs: [{ inputId: 'i', toolCallId: 'c', toolName: 'pay', message: 'your private question' }],
  clientCalls: [{ toolCallId: 'd', toolName: 'fill_in', args: { iban: 'private' }, argumentsHash: 'h2' }],
}

/** A receiver that answers with these, the last one again and again. */
function receiver(...answers: (number | Error | Response)[]) {
  const got: Request[] = []
  const fetch = async (request: Request): Promise<Response> => {
    const answer = answers[Math.min(got.length, answers.length - 1)] ?? 200
    got.push(request)
    if (answer instanceof Error) throw answer
    return answer instanceof Response ? answer : new Response(null, { status: answer })
  }
  const warnings: unknown[] = []
  const send = webhook({ url: 'https://hooks.example/x', key, fetch, logger: { warn: (code, details) => warnings.push([code, details]) } })
  return { got, warnings, send }
}

/** Lets time pass until `work` is done. */
async function played(work: Promise<void>): Promise<void> {
  let isDone = false
  void work.finally(() => {
    isDone = true
  })
  while (!isDone) await vi.advanceTimersByTimeAsync(1000)
}

describe('webhook', () => {
  afterEach(() => vi.useRealTimers())

  it('signs its requests and omits arguments and conversation text', async () => {
    const { got, send } = receiver(204)
    await send(ended)
    await send(waiting)
    const text = await got[1]?.clone().text()
    expect(text).not.toContain('private')
    const read = await Promise.all(got.map((request) => readWebhook(request, { key })))
    expect(read[0]).toEqual({ notice: ended })
    expect(read[1]?.notice).toMatchObject({
      type: 'waiting',
      approvals: [{ toolCallId: 'c', argumentsHash: 'h' }],
      inputs: [{ inputId: 'i' }],
    })
  })

  it('fails verification for a wrong key, body, time or signature', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_700_000_000_000 })
    const { got, send } = receiver(200)
    await send(ended)
    const [sent] = got
    if (sent === undefined) throw new Error('Nothing was sent.')
    const [body, signature = ''] = [await sent.clone().text(), sent.headers.get('phi-signature') ?? '']
    const again = (text: string, header: string) =>
      readWebhook(new Request('https://me.example', { method: 'POST', body: text, headers: { 'phi-signature': header } }), { key })
    expect((await readWebhook(sent.clone(), { key: 'o'.repeat(32) })).problem).toContain('does not match this body')
    expect((await readWebhook(sent.clone(), { key: ['o'.repeat(32), key] })).notice).toEqual(ended)
    for (const wrong of ['', undefined, [], [key, 'short']])
      await expect(readWebhook(sent.clone(), { key: wrong as string })).rejects.toMatchObject({ code: 'invalidOption' })
    expect((await again(body.replace('completed', 'aborted'), signature)).problem).toContain('does not match this body')
    expect((await again(body, signature.replace('1700000000', '1700000001'))).problem).toContain('does not match this body')
    expect((await again(body, '')).problem).toContain('has no signature')
    expect((await again(body, signature)).notice).toEqual(ended)
    vi.setSystemTime(1_700_000_301_000)
    expect((await again(body, signature)).problem).toContain('too old')
    vi.setSystemTime(1_699_999_699_000)
    expect((await again(body, signature)).problem).toContain('too old')
  })

  it('retries with a new signature and the same id if the receiver fails or is busy', async () => {
    vi.useFakeTimers()
    const { got, warnings, send } = receiver(
      new Error('connection refused'),
      503,
      new Response(null, { status: 429, headers: { 'retry-after': '2' } }),
      200,
    )
    await played(send(ended))
    expect([got.length, warnings]).toEqual([4, []])
    const bodies = await Promise.all(got.map((request) => request.text()))
    expect(new Set(bodies).size).toBe(1)
  })

  it.each([
    ['does not retry a rejected notice', [403], 1, 'HTTP status 403'],
    ['follows no redirect', [new Response(null, { status: 307, headers: { location: 'https://evil.example' } })], 1, 'HTTP status 307'],
    ['gives up after five retries', [500], 6, 'HTTP status 500'],
  ])('%s and logs without the key', async (_, answers, tries, reason) => {
    vi.useFakeTimers()
    const { got, warnings, send } = receiver(...answers)
    await played(send(ended))
    await send.settled()
    expect([got.length, warnings]).toEqual([
      tries,
      [['webhookFailed', { host: 'hooks.example', type: 'end', id: 'l:end', sessionId: 's', reason }]],
    ])
    expect(JSON.stringify(warnings)).not.toContain(key)
  })

  it.each([0.5, 1e12, Number.POSITIVE_INFINITY])('waits up to %s ms for a response', async (timeoutMs) => {
    let asked = 0
    const fetch = async () => {
      asked += 1
      return new Response(null)
    }
    const send = webhook({ url: 'https://hooks.example', key, fetch, timeoutMs, maxRetries: 0, logger: false })
    await send(ended)
    await send.settled()
    expect(asked).toBe(1)
  })

  it('limits its concurrent requests to 100', async () => {
    const warnings: unknown[] = []
    let answer = (_: Response): void => undefined
    const held = new Promise<Response>((resolve) => {
      answer = resolve
    })
    const send = webhook({
      url: 'https://hooks.example',
      key,
      fetch: () => held,
      logger: { warn: (_code, details) => warnings.push(details) },
    })
    for (let at = 0; at < 101; at++) void send(ended)
    expect(warnings).toHaveLength(1)
    answer(new Response(null))
    await send.settled()
  })

  it.each(['http://hooks.example', 'https://me:secret@hooks.example', 'file:///etc', 'no address'])('rejects the webhook URL %s', (url) => {
    expect(() => webhook({ url, key })).toThrow('an https URL')
  })

  it('accepts a local http URL and rejects a short key', () => {
    expect(() => webhook({ url: 'http://127.0.0.1:1/x', key })).not.toThrow()
    expect(() => webhook({ url: 'https://hooks.example', key: 'short' })).toThrow('at least 32')
  })
})

/** A host with a run that asks for an approval, and what it tells. */
function asking() {
  const told: SessionNotice[] = []
  const tell = (notice: SessionNotice) => void told.push(notice)
  const sessions = memoryLiveSessions({
    store: memorySessionStore(),
    agent: ({ sessionId }) => endpointAgent(sessionId),
    onWaiting: tell,
    onEnd: tell,
  })
  onTestFinished(() => sessions.close())
  const app = createAgentApp({ sessions, authorize: () => true })
  const begin = async () =>
    app.request('/sessions/ask-1/runs', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"prompt":"Go."}' })
  const untilAsked = async () => {
    const stream = frames(await begin())
    for (;;) {
      const { value } = await stream.next()
      if (value?.event === 'approvalRequested') return { stream, loopId: value.data.loopId as string }
    }
  }
  return { told, sessions, app, untilAsked }
}

describe('onWaiting', () => {
  afterEach(() => vi.useRealTimers())

  it('ignores a page reload and fires once for a client that stays away', async () => {
    const { told, app, untilAsked } = asking()
    const { stream, loopId } = await untilAsked()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    await stream.return(undefined)
    await vi.advanceTimersByTimeAsync(2000)
    const reloaded = frames(await app.request(`/sessions/ask-1/runs/${loopId}/events`))
    await reloaded.next()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(told).toEqual([])
    await reloaded.return(undefined)
    await vi.advanceTimersByTimeAsync(3000)
    expect(told.map(({ type }) => type)).toEqual(['waiting'])
    const later = frames(await app.request(`/sessions/ask-1/runs/${loopId}/events`))
    await later.next()
    await later.return(undefined)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(told).toHaveLength(1)
  })

  it('leaves no timer after close and ignores handed-over runs', async () => {
    const { told, sessions, untilAsked } = asking()
    const { stream } = await untilAsked()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    await stream.return(undefined)
    await played(sessions.close())
    expect(vi.getTimerCount()).toBe(0)
    expect(told.filter(({ type }) => type === 'end')).toEqual([])
  })
})
