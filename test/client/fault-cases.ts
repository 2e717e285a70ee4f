import { describe, expect, it } from 'vitest'
import { eventDecoder, type RemoteSession, remoteSession } from '../../src/client.ts'
import type { AgentEvent } from '../../src/index.ts'
import { seededRandom } from '../../testing/fault-fetch.ts'
import { type Fault, faultProxy } from '../support/fault-proxy.ts'

const authorization = 'Bearer ada-secret'
const slowText = Array.from({ length: 150 }, (_, at) => `${at} `).join('')

/** What a session on a server does behind a proxy that does everything wrong. `cuts` is how many connections are cut in all. */
export function faultCases(name: string, upstream: () => URL, cuts: number): void {
  const open = (url: string, sessionId: string): RemoteSession =>
    remoteSession({
      url,
      sessionId,
      headers: { authorization },
      // So many in a row are rare, and a stall is to be found soon.
      reconnect: { maxRetries: 500, initialDelayMs: 1, maxDelayMs: 5, idleTimeoutMs: 400 },
    })

  async function logOf(sessionId: string, loopId: string): Promise<AgentEvent[]> {
    const path = `/sessions/${sessionId}/runs/${encodeURIComponent(loopId)}/events`
    const response = await fetch(new URL(path, upstream()), { headers: { authorization } })
    const text = await response.text()
    if (!response.ok) throw new Error(`${path} answers ${response.status}: ${text}`)
    const decoder = eventDecoder()
    return text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [decoder.decode(line.slice('data: '.length))] : []))
  }

  /** One run through the proxy; compares what was seen with the log of the run. */
  async function runThrough(url: string, kind: string): Promise<void> {
    const sessionId = `${kind}-${crypto.randomUUID()}`
    const session = open(url, sessionId)
    const run = session.prompt('Go.')
    const seen: AgentEvent[] = []
    run.subscribe((event) => {
      seen.push(structuredClone(event))
      if (event.type === 'approvalRequested') run.approve(event)
    })
    expect(await run.text()).toBe(kind === 'slow' ? slowText : kind === 'ask' ? 'Sent.' : 'one two three four')
    session.close()
    expect(seen).toEqual(await logOf(sessionId, run.loopId))
    const said = session.messages.filter(({ role }) => role === 'user')
    expect(said).toHaveLength(1)
  }

  describe(`a session behind a faulty proxy: ${name}`, () => {
    it(`delivers each event once despite ${cuts} random disconnects`, async () => {
      const random = seededRandom(11)
      await using proxy = await faultProxy(upstream(), () => {
        // Now and then enough for the longest event, which is the last.
        const limit = random() < 0.75 ? 500 : 6000
        return { type: 'cut', afterBytes: Math.floor(random() * limit) }
      })
      let runs = 0
      while ((proxy.counts.cut ?? 0) < cuts) {
        runs += 8
        await Promise.all(['slow', 'slow', 'slow', 'slow', 'slow', 'slow', 'talk', 'ask'].map((kind) => runThrough(proxy.url, kind)))
      }
      console.log(`${name}: ${proxy.counts.cut} cuts over ${runs} runs`)
    })

    it('delivers a complete run despite any proxy fault', async () => {
      const random = seededRandom(12)
      const faults = (): Fault[] => [
        { type: 'stall', afterBytes: Math.floor(random() * 8000) },
        { type: 'cut', afterBytes: 0 },
        { type: 'cut', afterBytes: Math.floor(random() * 8000) },
        { type: 'collect', bytes: 4000 },
        { type: 'refuse' },
        { type: 'html' },
        { type: 'badGateway' },
        { type: 'duplicateFrames' },
        { type: 'duplicateRequest' },
        { type: 'none' },
      ]
      await using proxy = await faultProxy(upstream(), () => {
        const all = faults()
        return all[Math.floor(random() * all.length)] ?? { type: 'none' }
      })
      for (let round = 0; round < 5; round++) {
        await Promise.all(['slow', 'talk', 'talk', 'ask', 'ask', 'slow'].map((kind) => runThrough(proxy.url, kind)))
      }
      console.log(`${name}: ${JSON.stringify(proxy.counts)}`)
      expect(Object.keys(proxy.counts).length).toBe(9)
    })

    it('follows runs of another client across disconnects', async () => {
      const random = seededRandom(13)
      // What is not a stream can only be had whole.
      const limitOf = (url = '') => (url.includes('/events') || url.endsWith('/runs') ? 6000 : 60_000)
      await using proxy = await faultProxy(upstream(), ({ url }) => ({ type: 'cut', afterBytes: Math.floor(random() * limitOf(url)) }))
      const sessionId = `talk-${crypto.randomUUID()}`
      const watcher = open(proxy.url, sessionId)
      const ended: string[] = []
      let wake: () => void = () => undefined
      const endOf = () =>
        new Promise<void>((resolve) => {
          wake = resolve
        })
      watcher.subscribe((event: AgentEvent) => {
        if (event.type === 'messageEnd') ended.push(event.messageId)
        if (event.type === 'agentEnd') wake()
      })
      await watcher.prompt('Zero.').result
      const speaker = open(upstream().href, sessionId)
      for (const said of ['First.', 'Second.', 'Third.']) {
        const end = endOf()
        await speaker.prompt(said).result
        await end
      }
      const all = await speaker.load()
      expect(ended).toEqual(all.map(({ id }) => id))
      expect(watcher.messages).toEqual(all)
      watcher.close()
      speaker.close()
    })
  })
}
