import { setTimeout as wait } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { createAgentApp } from '../../../adapters/http/index.ts'
import type { SqlPool } from '../../../adapters/postgres/index.ts'
import { postgresLiveSessions } from '../../../adapters/postgres/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { onPostgres } from './on-postgres.ts'
import type { Database } from './server.ts'

const json = { 'content-type': 'application/json' }
/** How statements begin with which processes talk through the database, which process makes them, and after how many others one breaks. */
const statements = [
  { name: 'sending', which: /^WITH sent AS/, of: 'other', after: [0] },
  { name: 'taking', which: /^UPDATE phi\.calls SET is_taken/, of: 'holder', after: [0] },
  { name: 'answering', which: /^WITH open AS/, of: 'holder', after: [0, 3] },
  { name: 'reading', which: /^WITH came AS/, of: 'other', after: [0, 3] },
] as const

/** A pool that loses its connection in the middle of statements, before or after the database has done what they say. */
function breakingPool(database: Database) {
  let doomed: { which: RegExp; when: 'before' | 'after'; after: number } | undefined
  let broken = 0
  /** Milliseconds that the reply to a statement takes. */
  let slow = (_text: string): number => 0
  let [onTheirWay, atOnce] = [0, 0]
  const pool: SqlPool = {
    query: async (text, values) => {
      const lateMs = slow(text.trim())
      if (lateMs > 0) {
        atOnce = Math.max(atOnce, ++onTheirWay)
        const done = await database.pool.query(text, values)
        await wait(lateMs)
        onTheirWay -= 1
        return done
      }
      const isNext = doomed?.which.test(text.trim()) === true
      if (!isNext || doomed === undefined) return database.pool.query(text, values)
      const { when } = doomed
      if (when === 'after') {
        const done = await database.pool.query(text, values)
        // One that found nothing would be no loss.
        if (done.rows.length === 0 || doomed === undefined || doomed.after-- > 0) return done
      } else if (doomed.after-- > 0) return database.pool.query(text, values)
      doomed = undefined
      broken += 1
      throw new Error('Connection terminated unexpectedly')
    },
  }
  return {
    pool,
    set slow(next: typeof slow) {
      slow = next
    },
    /** Slow ones that were on their way at the same time. */
    get atOnce() {
      return atOnce
    },
    get broken() {
      return broken
    },
    /** The statement of this kind that comes after so many others of it. */
    breakAt: (which: RegExp, when: 'before' | 'after', after = 0) => {
      doomed = { which, when, after }
    },
  }
}

onPostgres('a database connection that breaks during a forwarded command', (database) => {
  let tenants = 0

  async function two({ text = Array.from({ length: 40 }, (_, at) => `${at} `), delayMs = 2 } = {}) {
    const tenant = `broken-${++tenants}`
    let free = (): void => undefined
    const isFree = new Promise<void>((resolve) => {
      free = resolve
    })
    const make = () => {
      const breaking = breakingPool(database)
      const sessions = postgresLiveSessions({
        ...{ pool: breaking.pool, tenant, pollMs: 5, logger: false },
        agent: async ({ sessionId }) => {
          if (sessionId === 'hangs') await isFree
          return { model: scripted(() => ({ text }), { delayMs }) }
        },
      })
      const app = createAgentApp({ sessions, authorize: () => true })
      onTestFinished(() => sessions.close({ abort: true }))
      const ask = async (path: string, body?: object, headers: Record<string, string> = {}) =>
        app.request(`/sessions/${path}`, {
          headers: { ...json, ...headers },
          ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
        })
      return { ask, breaking }
    }
    const [holder, other] = [make(), make()]
    await (await holder.ask('s/runs', { prompt: 'Begin.' })).text()
    return { holder, other, tenant, free }
  }

  /** Which events came, by their numbers, and whether the answer ended as it should. */
  async function read(answer: Response): Promise<{ numbers: number[]; isWhole: boolean }> {
    const reader = answer.body?.getReader()
    let text = ''
    let isWhole = true
    try {
      for (let next = await reader?.read(); next?.done === false; next = await reader?.read()) text += new TextDecoder().decode(next.value)
    } catch {
      isWhole = false
    }
    return { numbers: Array.from(text.matchAll(/^id: ?(\d+)/gm), ([, id]) => Number(id)), isWhole }
  }

  for (const { name, which, of, after } of statements) {
    for (const [when, at] of after.flatMap((each) => [['before', each] as const, ['after', each] as const])) {
      it(`loses no event if the connection breaks ${when} ${name}, statement ${at}`, async () => {
        const processes = await two()
        const { holder, other } = processes
        const { breaking } = processes[of]
        breaking.breakAt(which, when, at)
        const answer = await other.ask('s/runs', { prompt: 'Go.' }, { 'idempotency-key': 'the-same-key' })
        const { numbers, isWhole } = await read(answer)
        await expect.poll(() => breaking.broken).toBe(1)
        expect(numbers).toEqual(numbers.map((_, place) => (numbers[0] ?? 0) + place))
        const again = await read(await other.ask('s/runs', { prompt: 'Go.' }, { 'idempotency-key': 'the-same-key' }))
        expect(again.isWhole).toBe(true)
        if (isWhole && answer.ok) expect(numbers).toEqual(again.numbers)
        const { messages } = await (await holder.ask('s/history')).json()
        expect(messages.filter(({ role }: { role: string }) => role === 'user')).toHaveLength(2)
      })
    }
  }

  it('keeps the message order despite slow replies', async () => {
    const { other } = await two({ text: Array.from({ length: 300 }, () => 'x'.repeat(16 * 1024)), delayMs: 0 })
    other.breaking.slow = (text) => (text.startsWith('WITH came AS') ? 5 : 0)
    const { numbers, isWhole } = await read(await other.ask('s/runs', { prompt: 'Go.' }))
    expect(isWhole).toBe(true)
    expect(numbers.length).toBeGreaterThan(100)
    // Deltas that a reader is late for come together.
    expect(numbers).toEqual(numbers.toSorted((one, next) => one - next))
    expect(other.breaking.atOnce).toBe(1)
  })

  it('aborts a response only if another process wrote in between', async () => {
    const { holder, other, tenant, free } = await two()
    void holder.ask('hangs/runs', { prompt: 'Go.' })
    // Else the other one may have it first.
    const held = async () =>
      (await database.pool.query(`SELECT 1 FROM phi.leases WHERE tenant = $1 AND session_id = 'hangs'`, [tenant])).rows.length
    await expect.poll(held).toBe(1)
    const callsOf = async () =>
      (await database.pool.query(`SELECT call_id FROM phi.calls WHERE tenant = $1 AND request LIKE '%"hangs"%'`, [tenant])).rows
    for (const head of ['{', 'null', '{"status":99}', '{"headers":[["\\n","x"]]}', null]) {
      const [whole, garbled] = [other.ask('s/runs', { prompt: 'Go.' }), other.ask('hangs/runs', { prompt: 'Go.' })]
      await expect.poll(async () => (await callsOf()).length).toBe(1)
      const [call] = await callsOf()
      await database.pool.query(`INSERT INTO phi.answers VALUES ($1, $2, 0, $3, 'x', NULL)`, [tenant, call?.call_id, head])
      const answer = await garbled
      expect([head, answer.status, (await answer.json()).code]).toEqual([head, 503, 'unavailable'])
      expect((await read(await whole)).isWhole).toBe(true)
      await expect.poll(async () => (await callsOf()).length).toBe(0)
    }
    free()
  })
})
