import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { postgresSessionStore } from '../../../adapters/postgres/index.ts'
import { remoteSession } from '../../../src/client.ts'
import type { AgentEvent, RunResult } from '../../../src/index.ts'
import { seededRandom } from '../../../testing/fault-fetch.ts'
import { patient } from '../../support/patience.ts'
import { quickProgram } from '../../support/quick-program.ts'
import { runs } from '../../support/runs.ts'
import type { Database } from './server.ts'
import { ServerProcess } from './server-process.ts'

let prefixes = 0

/** For tests over processes of `shared-host.ts` that are killed. Call it where hooks may be set. */
export function killedClusters(database: Database) {
  const program = quickProgram(resolve('test/adapters/postgres/shared-host.ts'))
  return {
    cluster: (size: number, env: Record<string, string> = {}) => Cluster.of(size, { database, program: program.path, env }),
    /** How the runs of a session have ended, as the database has it. */
    endsOf: async (sessionId: string) => {
      const { records } = await postgresSessionStore({ pool: database.pool }).tail(sessionId)
      return records.flatMap(({ entry }) => (entry.type === 'loopEnd' ? [entry.status] : []))
    },
  }
}

type KilledClusters = ReturnType<typeof killedClusters>

/** Only ends what hangs, on a machine that does ten other things. */
export const killTimeout = 3 * patient.timeout

export const wait = (ms: number) => new Promise((done) => setTimeout(done, ms))

/** In soak, 3 ways times 334 times 5 are 5,010. */
const rounds = runs(1, 334)
const size = 5

/** States that processes which find each other in this way lose nothing when they are killed. */
export function losesNothing({ cluster, endsOf }: KilledClusters, way: string, env: Record<string, string>): void {
  const timeout = killTimeout * Math.ceil(rounds / 14)
  it(`keeps every run and event when ${rounds * size} processes are killed (${way})`, { timeout }, async () => {
    const random = seededRandom(7)
    // So long that those which live keep theirs on a busy machine: who is cut off a fourth time is not taken up again.
    const five = await cluster(size, { LEASE_MS: '4000', ...env })
    let fresh = five.hosts.map(() => five.start())
    for (let round = 0; round < rounds; round++) {
      // A busy machine starts them seconds apart. Kills that far apart miss the runs, or cut one off until its fourth attempt is refused.
      await Promise.all(fresh.map(({ url }) => url))
      const begun = Array.from({ length: size }, (_, number) => five.begin(round * size + number))
      await Promise.all(begun.map(({ isOn }) => isOn))
      const killed = fresh.map(async (next, at) => {
        await wait(random() * 200)
        await five.replace(at, 'SIGKILL', next)
      })
      await Promise.all(killed)
      // While the leases of the others run out.
      fresh = round + 1 < rounds ? five.hosts.map(() => five.start()) : []
      const results = await Promise.all(begun.map(({ result }) => result))
      expect(results.map(shown)).toEqual(Array(size).fill('completed all done'))
      for (const { sessionId, seen, said } of begun) {
        await expect.poll(async () => (await endsOf(sessionId)).at(-1)).toBe('completed')
        expectCompleted(await endsOf(sessionId), said)
        expectWhole(seen, await five.history(sessionId))
      }
    }
    expect(new Set(five.paid()).size).toBe(five.paid().length)
  })
}

/** How a run has ended, for people. */
export const shown = ({ error, status, text }: RunResult) => `${error?.message ?? status} ${text}`

interface ClusterOptions {
  database: Database
  program: string
  env: Record<string, string>
}

/** Processes behind a balancer, which sends each request to another one, and what was paid by them. */
class Cluster {
  readonly hosts: ServerProcess[] = []
  /** How the ids of its sessions begin. */
  readonly prefix = `t${++prefixes}`
  readonly #options: ClusterOptions
  readonly #folder = mkdtempSync(join(tmpdir(), 'phi-paid-'))
  readonly #all: ServerProcess[] = []
  #next = 0

  static async of(size: number, options: ClusterOptions): Promise<Cluster> {
    const cluster = new Cluster(options)
    onTestFinished(() => cluster.end())
    cluster.hosts.push(...Array.from({ length: size }, () => cluster.start()))
    await Promise.all(cluster.hosts.map(({ url }) => url))
    return cluster
  }

  private constructor(options: ClusterOptions) {
    this.#options = options
  }

  /** One more, which the balancer does not know yet. */
  start(env: Record<string, string> = {}): ServerProcess {
    const { database, program, env: shared } = this.#options
    const gate = shared.GATED === 'yes' ? { GATE: this.#gate } : {}
    const host = new ServerProcess(program, { ...shared, ...env, ...gate, DATABASE_URL: database.url, PAID: this.#file })
    this.#all.push(host)
    return host
  }

  async end(): Promise<void> {
    await Promise.all(this.#all.map((host) => host.signal('SIGKILL')))
    rmSync(this.#folder, { recursive: true })
  }

  /** Ends one, once another one is there in its place. */
  async replace(at: number, signal: 'SIGTERM' | 'SIGKILL', fresh = this.start()): Promise<void> {
    const old = this.hosts[at]
    await fresh.url
    this.hosts[at] = fresh
    await old?.signal(signal)
  }

  readonly send = async (request: Request): Promise<Response> => {
    const base = await this.hosts[this.#next++ % this.hosts.length]?.url
    const { pathname, search } = new URL(request.url)
    return fetch(new Request(`${base}${pathname}${search}`, request))
  }

  /** Begins a run; its client follows it by cursor, and connects again as often as it has to. */
  begin(number: number) {
    const reconnect = { initialDelayMs: 5, maxDelayMs: 50, maxRetries: 10_000 }
    const sessionId = `${this.prefix}-${number}`
    const session = remoteSession({ url: 'http://localhost', sessionId, fetch: this.send, reconnect })
    const seen: AgentEvent[] = []
    let heard = (): void => undefined
    const isOn = new Promise<void>((done) => {
      heard = done
    })
    const said = { again: 0 }
    const say = async (): Promise<RunResult> => {
      seen.length = 0
      const run = session.prompt('Pay.')
      run.subscribe((event) => {
        seen.push(event)
        // What has ended before its client was there again is told from the record: without the pieces of its messages.
        if (event.type === 'messageUpdate' || event.type === 'agentEnd') heard()
      })
      const result = await run.result
      // On a busy machine a process may lose its session before it has stored what was said: whoever said it has it again.
      if (result.returned.length === 0) return result
      said.again++
      return say()
    }
    return { sessionId, seen, said, isOn, result: say().finally(() => session.close()) }
  }

  /** Where the tool left its traces: one line for each time it was run. */
  paid(): string[] {
    return existsSync(this.#file) ? readFileSync(this.#file, 'utf8').trim().split('\n') : []
  }

  /** The process whose model has begun last, with `GATED`: models say one piece, and no more until the gate is open. */
  get speaker(): ServerProcess | undefined {
    const pid = Number(readFileSync(`${this.#gate}.pid`, 'utf8'))
    return this.#all.find((host) => host.pid === pid)
  }

  openGate(): void {
    writeFileSync(this.#gate, '')
  }

  /** What the server has of a session. */
  async history(sessionId: string): Promise<{ id: string; role: string }[]> {
    let body: { messages: { id: string; role: string }[] } = { messages: [] }
    // Until the lease of a killed process is over, a request may be passed on to that process, and is refused for now.
    const ask = async (): Promise<number> => {
      const answer = await this.send(new Request(`http://localhost/sessions/${sessionId}/history`))
      if (answer.ok) body = await answer.json()
      return answer.status
    }
    await expect.poll(ask).toBe(200)
    return body.messages
  }

  get #gate(): string {
    return join(this.#folder, 'gate')
  }

  get #file(): string {
    return join(this.#folder, 'paid')
  }
}

/** A run was completed, once. What its client had to say again may have been recorded as lost. */
function expectCompleted(ends: readonly string[], { again }: { again: number }): void {
  expect(ends.filter((status) => status !== 'error')).toEqual(['completed'])
  expect(ends.length).toBeLessThanOrEqual(1 + again)
}

/** A client has heard of everything that is recorded, once and in order, with one end. */
export function expectWhole(seen: readonly AgentEvent[], history: readonly { id: string; role: string }[]): void {
  let last = 0
  const gaps = seen.flatMap((event) => {
    const from = event.type === 'messageUpdate' ? (event.fromSeq ?? event.seq) : event.seq
    const isNext = from === last + 1
    last = event.seq
    return isNext ? [] : [`${event.type} ${from} to ${event.seq}`]
  })
  expect(gaps).toEqual([])
  const ended = seen.flatMap((event) => (event.type === 'messageEnd' ? [event.message.id] : []))
  expect(new Set(ended).size).toBe(ended.length)
  expect(history.map(({ id }) => id).filter((id) => !ended.includes(id))).toEqual([])
  const calls = seen.flatMap((event) => (event.type === 'toolExecutionEnd' ? [event.toolCallId] : []))
  expect(new Set(calls).size).toBe(calls.length)
  expect(seen.filter(({ type }) => type === 'agentEnd')).toHaveLength(1)
}
