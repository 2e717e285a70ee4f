import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ModelProxyOptions } from '../../../../adapters/http/index.ts'
import { sse, utf8 } from '../../../providers/bytes.ts'
import { type Play, playing } from '../../../support/playing.ts'
import { chat, proxyTo } from './fake-upstream.ts'

const minute = 60_000
const part = sse({ choices: [{ index: 0, delta: { content: 'A' } }] })

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** The first bytes of an answer through the proxy, or how it ended without them, and after how many ms. */
async function passed(play: Play, options: Partial<ModelProxyOptions> = {}, pieces = 1) {
  const { app, reports } = proxyTo({ api: 'openAiCompletions', baseUrl: 'http://127.0.0.1:9/v1' }, { fetch: playing(play), ...options })
  const began = Date.now()
  const take = async () => {
    const response = await app.request('/up/chat/completions', chat())
    if (!response.ok || response.body === null) return response.status
    const reader = response.body.getReader()
    try {
      for (let at = 0; at < pieces; at++) await reader.read()
      return 'read'
    } catch {
      return 'broken'
    } finally {
      await reader.cancel().catch(() => undefined)
    }
  }
  let tookMs: number | undefined
  const taken = take().finally(() => {
    tookMs = Date.now() - began
  })
  for (let at = 0; tookMs === undefined && at < 300; at++) await vi.advanceTimersByTimeAsync(minute / 4)
  return { outcome: await taken, tookMs: tookMs ?? 0, ending: reports[0]?.ending }
}

describe('proxy timeouts', () => {
  it.each<[string, Play]>([
    [
      'its headers',
      [
        [9 * minute, 'headers'],
        [1000, part],
      ],
    ],
    [
      'its first byte after the headers',
      [
        [1000, 'headers'],
        [9 * minute, part],
      ],
    ],
  ])('waits nine minutes for %s', async (_what, play) => {
    expect((await passed(play)).outcome).toBe('read')
  })

  it('waits four minutes for the next byte', async () => {
    expect(
      (
        await passed(
          [
            [0, 'headers'],
            [0, part],
            [4 * minute, utf8(': ping\n\n')],
          ],
          {},
          2,
        )
      ).outcome,
    ).toBe('read')
  })

  it.each<[string, Play, number | string, number, number]>([
    ['without headers', [], 504, 10, 1],
    ['without a byte', [[minute, 'headers']], 'broken', 10, 1],
    [
      'between two bytes',
      [
        [0, 'headers'],
        [0, part],
      ],
      'broken',
      5,
      2,
    ],
  ])('ends the call after a timeout %s', async (_what, play, outcome, minutes, pieces) => {
    const given = await passed(play, {}, pieces)
    expect(given).toMatchObject({ outcome, ending: 'broken' })
    expect(given.tookMs).toBeGreaterThanOrEqual(minutes * minute)
    expect(given.tookMs).toBeLessThanOrEqual((minutes + 1.5) * minute)
  })

  it('waits without a limit if both timeouts are false', async () => {
    const forEver = { firstByteTimeoutMs: false, idleTimeoutMs: false } as const
    expect(
      (
        await passed(
          [
            [0, 'headers'],
            [25 * minute, part],
          ],
          forEver,
        )
      ).outcome,
    ).toBe('read')
    const { outcome, tookMs } = await passed([[0, 'headers']], forEver)
    expect([outcome, Math.round(tookMs / minute)]).toEqual(['broken', 30])
  })
})
