import { afterEach, describe, expect, it, vi } from 'vitest'
import { createAgentApp, memoryLiveSessions } from '../../adapters/http/index.ts'
import { remoteSession } from '../../src/client.ts'
import { memorySessionStore } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { patient } from '../support/patience.ts'

afterEach(() => void vi.unstubAllGlobals())

/** What a browser says of its network and its page. */
function platform() {
  const [scope, page] = [new EventTarget(), new EventTarget()]
  const navigator = { onLine: true }
  vi.stubGlobal('addEventListener', scope.addEventListener.bind(scope))
  vi.stubGlobal('removeEventListener', scope.removeEventListener.bind(scope))
  vi.stubGlobal('document', Object.assign(page, { visibilityState: 'visible' }))
  vi.stubGlobal('navigator', navigator)
  return { scope, page, navigator }
}

/** A session whose first `failures` requests go nowhere; `onWait` is called before each wait, of an hour. */
function session(failures: number, initialDelayMs: number, onWait: () => void) {
  const sessions = memoryLiveSessions({ store: memorySessionStore(), agent: () => ({ model: scripted(() => ({ text: ['Hello.'] })) }) })
  const app = createAgentApp({ sessions, authorize: () => true })
  let left = failures
  return remoteSession({
    url: 'http://localhost',
    sessionId: 's',
    fetch: (request) => (left-- > 0 ? Promise.reject(new TypeError('offline')) : app.fetch(request)),
    reconnect: { initialDelayMs, maxDelayMs: 3_600_000 },
    logger: { warn: () => queueMicrotask(onWait) },
  })
}

describe('reconnect delay', () => {
  it('ends the reconnect delay when the platform is online again', async () => {
    const { scope } = platform()
    expect(
      await session(2, 3_600_000, () => scope.dispatchEvent(new Event('online')))
        .prompt('Hi.')
        .text(),
    ).toBe('Hello.')
  })

  it('ends the reconnect delay when the page becomes visible', async () => {
    const { page } = platform()
    expect(
      await session(1, 3_600_000, () => page.dispatchEvent(new Event('visibilitychange')))
        .prompt('Hi.')
        .text(),
    ).toBe('Hello.')
  })

  it('returns the prompt if aborted before the server received it', async () => {
    const { navigator } = platform()
    navigator.onLine = false
    const talk = session(1, 3_600_000, () => run.abort())
    const run = talk.prompt('Hi.')
    const { status, returned } = await run.result
    expect([status, returned.length, talk.isStreaming]).toEqual(['aborted', 1, false])
    expect(await talk.prompt('Hi again.').text()).toBe('Hello.')
  })

  it('shows a run that started despite an abort as a separate run', async () => {
    const sessions = memoryLiveSessions({ store: memorySessionStore(), agent: () => ({ model: scripted(() => ({ text: ['Hello.'] })) }) })
    const app = createAgentApp({ sessions, authorize: () => true })
    let isLost = true
    const talk = remoteSession({
      url: 'http://localhost',
      sessionId: 's',
      fetch: async (request) => {
        const answer = await app.fetch(request)
        if (!isLost || request.method === 'GET') return answer
        isLost = false
        await answer.body?.cancel()
        throw new TypeError('the answer was lost')
      },
      reconnect: { initialDelayMs: 3_600_000, maxDelayMs: 3_600_000 },
      logger: { warn: () => queueMicrotask(() => run.abort()) },
    })
    const heard: string[] = []
    talk.subscribe((event) => event.type === 'agentEnd' && heard.push(`${event.runId === run.id ? 'mine' : 'another'} ${event.status}`))
    const run = talk.prompt('Hi.')
    expect(await run.result).toMatchObject({ status: 'aborted', returned: [{ role: 'user' }] })
    await expect.poll(() => heard).toEqual(['mine aborted', 'another completed'])
    talk.close()
    await sessions.close()
  })

  it('waits without connection attempts while the platform is offline', async () => {
    const { scope, navigator } = platform()
    navigator.onLine = false
    const timer = vi.spyOn(globalThis, 'setTimeout')
    const run = session(1, 1, () => undefined).prompt('Hi.')
    await vi.waitUntil(() => timer.mock.calls.some(([, ms]) => ms === 0 || ms === 1), patient)
    timer.mockRestore()
    expect(run.loopId).toBe('')
    navigator.onLine = true
    scope.dispatchEvent(new Event('online'))
    expect(await run.text()).toBe('Hello.')
  })
})
