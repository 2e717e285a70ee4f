import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { postgresSessionStore } from '../../../adapters/postgres/index.ts'
import { remoteSession } from '../../../src/client/index.ts'
import type { AgentEvent, RunResult } from '../../../src/index.ts'
import { seededRandom } from '../../../src/testing/seeded-random.ts'
import { patient } from '../../support/patience.ts'
import { runs } from '../../support/runs.ts'
import { onPostgres } from './on-postgres.ts'
import { ServerProcess } from './server-process.ts'

const { timeout } = patient
const wait = (ms: number) => new Promise((done) => setTimeout(done, ms))

onPostgres('processes over PostgreSQL that are killed', (database) => {
  let prefixes = 0

  /** Three processes behind a balancer, which sends each request to another one, and what was paid by them. */
  async function three(env: Record<string, string> = {}) {
    const folder = mkdtempSync(join(tmpdir(), 'phi-paid-'))
    const file = join(folder, 'paid')
    const prefix = `t${++prefixes}`
    const start = () =>
      new ServerProcess(resolve('test/adapters/postgres/shared-host.ts'), { ...env, DATABASE_URL: database.url, PAID: file })
    const hosts = [start(), start(), start()]
    onTestFinished(async () => {
      await Promise.all(hosts.map((host) => host.signal('SIGKILL')))
      rmSync(folder, { recursive: true })
    })
    await Promise.all(hosts.map(({ url }) => url))
    let next = 0
    const send = async (request: Request): Promise<Response> => {
      const base = await hosts[next++ % hosts.length]?.url
      const { pathname, search } = new URL(request.url)
      return fetch(new Request(`${base}${pathname}${search}`, request))
    }
    /** Begins a run; its client connects again as often as it has to. */
    const begin = (number: number) => {
      const reconnect = { initialDelayMs: 5, maxDelayMs: 50, maxRetries: 10_000 }
      const session = remoteSession({ url: 'http://localhost', sessionId: `${prefix}-${number}`, fetch: send, reconnect })
      const run = session.prompt('Pay.')
      const seen: AgentEvent[] = []
      const isOn = new Promise<void>((done) => {
        run.subscribe((event) => {
          seen.push(event)
          if (event.type === 'messageUpdate') done()
        })
      })
      return { result: run.result.finally(() => session.close()), isOn, ends: () => seen.filter(({ type }) => type === 'agentEnd').length }
    }
    const replace = async (at: number, signal: 'SIGTERM' | 'SIGKILL') => {
      const old = hosts[at]
      const fresh = start()
      await fresh.url
      hosts[at] = fresh
      await old?.signal(signal)
    }
    const paid = () => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [])
    return { hosts, begin, replace, paid, prefix, send }
  }

  const shown = ({ error, status, text }: RunResult) => `${error?.message ?? status} ${text}`
  const endsOf = async (sessionId: string) => {
    const { records } = await postgresSessionStore({ pool: database.pool }).tail(sessionId)
    return records.flatMap(({ entry }) => (entry.type === 'loopEnd' ? [entry.status] : []))
  }

  it('restarts three of them one after the other under a load of 50 runs: none is lost, and nothing is paid twice', {
    timeout,
  }, async () => {
    const { begin, replace, paid, prefix } = await three()
    const begun = Array.from({ length: 20 }, (_, number) => begin(number))
    for (const at of [0, 1, 2]) {
      const more = Array.from({ length: 10 }, (_, number) => begin(20 + 10 * at + number))
      begun.push(...more)
      await Promise.all(more.map(({ isOn }) => isOn))
      await replace(at, 'SIGTERM')
    }
    const results = await Promise.all(begun.map(({ result }) => result))
    expect(results.map(shown)).toEqual(Array(50).fill('completed all done'))
    expect(begun.map(({ ends }) => ends())).toEqual(Array(50).fill(1))
    for (let number = 0; number < 50; number++) await expect.poll(() => endsOf(`${prefix}-${number}`), patient).toEqual(['completed'])
    expect([paid().length, new Set(paid()).size]).toEqual([300, 300])
  })

  const kills = runs(20, 2500)

  it.each([
    ['notifications', { LISTEN: 'yes' }],
    ['polling', { LISTEN: 'no' }],
    ['HTTP', { LISTEN: 'yes', PEERS: 'yes' }],
  ])(`loses no run when one of them is killed ${kills} times (%s)`, { timeout: timeout * Math.ceil(kills / 20) }, async (_, env) => {
    const random = seededRandom(7)
    const { begin, replace, paid, prefix } = await three(env)
    for (let round = 0; round < kills; round++) {
      const begun = Array.from({ length: 4 }, (_, number) => begin(round * 4 + number))
      await Promise.all(begun.map(({ isOn }) => isOn))
      await wait(random() * 100)
      await replace(Math.floor(random() * 3), 'SIGKILL')
      const results = await Promise.all(begun.map(({ result }) => result))
      expect(results.map(shown)).toEqual(Array(4).fill('completed all done'))
      expect(begun.map(({ ends }) => ends())).toEqual(Array(4).fill(1))
      for (let number = 0; number < 4; number++)
        await expect.poll(() => endsOf(`${prefix}-${round * 4 + number}`), patient).toEqual(['completed'])
    }
    expect(new Set(paid()).size).toBe(paid().length)
  })

  it('one that stood still past its lease has lost its sessions: what it goes on with is refused', { timeout }, async () => {
    const { hosts, begin, paid, prefix, send } = await three()
    const begun = Array.from({ length: 6 }, (_, number) => begin(number))
    await Promise.all(begun.map(({ isOn }) => isOn))
    await hosts[0]?.signal('SIGSTOP')
    const stopped = hosts.splice(0, 1)
    await Promise.all(
      Array.from({ length: 6 }, (_, number) => expect.poll(() => endsOf(`${prefix}-${number}`), patient).toEqual(['completed'])),
    )
    hosts.push(...stopped)
    await hosts[2]?.signal('SIGCONT')
    const results = await Promise.all(begun.map(({ result }) => result))
    expect(results.map(shown)).toEqual(Array(6).fill('completed all done'))
    for (let number = 0; number < 6; number++) {
      const answers = await Promise.all([0, 1, 2].map(() => send(new Request(`http://localhost/sessions/${prefix}-${number}/history`))))
      const told = await Promise.all(answers.map(async (answer) => JSON.stringify((await answer.json()).messages)))
      expect(new Set(told).size).toBe(1)
      expect(await endsOf(`${prefix}-${number}`)).toEqual(['completed'])
    }
    expect(new Set(paid()).size).toBe(paid().length)
  })

  const crashes = runs(5, 200)

  it(`goes on when the database crashes ${crashes} times in the middle of runs`, {
    timeout: timeout * Math.ceil(crashes / 5),
  }, async () => {
    const random = seededRandom(9)
    const { begin, paid, prefix } = await three()
    for (let round = 0; round < crashes; round++) {
      const begun = Array.from({ length: 4 }, (_, number) => begin(round * 4 + number))
      await Promise.all(begun.map(({ isOn }) => isOn))
      await wait(random() * 100)
      await database.crash()
      for (let number = 0; number < 4; number++)
        await expect.poll(async () => (await endsOf(`${prefix}-${round * 4 + number}`)).at(-1), patient).toBe('completed')
      await Promise.all(begun.map(({ result }) => result))
    }
    expect(new Set(paid()).size).toBe(paid().length)
  })
})
