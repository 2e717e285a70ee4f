import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { SessionStore } from '../../../../src/index.ts'
import { SessionError, type SessionTail } from '../../../../src/session.ts'
import { type KilledStore, killedStore } from '../../../support/killed-store.ts'
import { bundledProgram } from '../../../support/quick-program.ts'
import { redisProgram, startRedis } from '../../redis/server.ts'

/** What writers were told, held against what is stored. */
export interface Outcome {
  /** Processes that were killed. */
  kills: number
  acknowledged: number
  /** Kills after which the end of the log was incomplete. */
  torn: number
  /** What is wrong; empty is the promise. */
  faults: string[]
}

/** A directory for sessions, and the writer as one file, which starts several times as fast. */
interface Prepared {
  directory: string
  program: string
  store: SessionStore
  end(): Promise<void>
}

async function prepare(kind: KilledStore): Promise<Prepared> {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'phi-kill-')))
  const server = kind === 'redis' ? await startRedis(redisProgram() ?? '', directory) : undefined
  const { store, close } = killedStore(kind, directory)
  return {
    directory,
    store,
    program: await bundledProgram(fileURLToPath(new URL('kill-writer.ts', import.meta.url))),
    end: async () => {
      close()
      await server?.stop()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** A writer that runs, and what it was told so far. */
class Writer {
  readonly acknowledged: string[] = []
  readonly #child: ChildProcess
  readonly #closed: Promise<unknown>
  #rest = ''
  #changed = () => {}
  #isReady = false
  #isOver = false
  errors = ''

  constructor(program: string, args: readonly string[]) {
    this.#child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => this.#hear(text))
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.errors += text
    })
    this.#closed = once(this.#child, 'close').then(() => {
      this.#isOver = true
      this.#changed()
    })
  }

  #hear(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line === 'ready') this.#isReady = true
      else this.acknowledged.push(line)
    }
    this.#changed()
  }

  /** Resolves when it has been told of `count` records, 0 meaning that it runs, or when it has ended. */
  async until(count: number): Promise<void> {
    while (!this.#isOver && !(this.#isReady && this.acknowledged.length >= count)) {
      await new Promise<void>((resolve) => {
        this.#changed = resolve
      })
    }
  }

  /** Resolves when nothing more can come from it. */
  async end(signal?: 'SIGKILL'): Promise<void> {
    if (signal !== undefined) this.#child.kill(signal)
    await this.#closed
  }
}

/** Faults of one session: records that are missing, out of order or there twice, of all that `acknowledged` names in the order of one writer. */
async function check(
  store: SessionStore,
  sessionId: string,
  acknowledged: readonly string[],
): Promise<{ faults: string[]; tail?: SessionTail }> {
  let tail: SessionTail
  try {
    tail = await store.tail(sessionId)
  } catch (error) {
    const isFine = acknowledged.length === 0 && SessionError.isInstance(error) && error.code === 'notFound'
    return { faults: isFine ? [] : [`${sessionId}: ${String(error)}`] }
  }
  const places = new Map<string, number>()
  const faults: string[] = []
  for (const [index, { seq, entry }] of tail.records.entries()) {
    if (seq !== index + 1) faults.push(`${sessionId}: record ${index + 1} has seq ${seq}`)
    if (entry.type !== 'input') continue
    if (places.has(entry.message.id)) faults.push(`${sessionId}: ${entry.message.id} is there twice`)
    places.set(entry.message.id, seq)
  }
  let last = 0
  for (const text of acknowledged) {
    const place = places.get(text)
    if (place === undefined) faults.push(`${sessionId}: ${text} was acknowledged and is lost`)
    else if (place < last) faults.push(`${sessionId}: ${text} is out of order`)
    last = place ?? last
  }
  return { faults, tail }
}

const killsPerSession = 20
const lanes = 3

/** Kills a writer at `points` random moments: before, during and after its claim, its appends and its snapshots. Checks after each. */
export async function killLoop(kind: KilledStore, points: number): Promise<Outcome> {
  const { directory, program, store, end } = await prepare(kind)
  const outcome: Outcome = { kills: 0, acknowledged: 0, torn: 0, faults: [] }
  let begun = 0

  async function kill(sessionId: string, name: string, acknowledged: string[]): Promise<void> {
    const writer = new Writer(program, [kind, directory, sessionId, name, '1000000'])
    await writer.until(Math.floor(Math.random() * 12))
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 12))
    await writer.end('SIGKILL')
    if (writer.errors !== '') outcome.faults.push(`${sessionId}: ${writer.errors}`)
    acknowledged.push(...writer.acknowledged)
    outcome.acknowledged += writer.acknowledged.length
    const { faults, tail } = await check(store, sessionId, acknowledged)
    outcome.faults.push(...faults)
    if (tail?.damage !== undefined) outcome.torn += 1
  }

  async function lane(): Promise<void> {
    while (begun < points) {
      const acknowledged: string[] = []
      const sessionId = `session-${begun}`
      for (let count = 0; count < killsPerSession && begun < points; count += 1) {
        begun += 1
        await kill(sessionId, `w${count}`, acknowledged)
        outcome.kills += 1
      }
    }
  }

  try {
    await Promise.all(Array.from({ length: lanes }, lane))
  } finally {
    await end()
  }
  return outcome
}

/** Lets processes take one session from each other until each was told of `records` records; as many again are killed while they do. */
export async function raceWriters(kind: KilledStore, processes: number, records: number): Promise<Outcome> {
  const { directory, program, store, end } = await prepare(kind)
  const start = (name: string) => new Writer(program, [kind, directory, 'contested', name, String(records)])
  const racing = Array.from({ length: processes }, (_, index) => start(`r${index}`))
  const outcome: Outcome = { kills: 0, acknowledged: 0, torn: 0, faults: [] }
  const victims: Writer[] = []
  try {
    for (; outcome.kills < processes; outcome.kills += 1) {
      const victim = start(`v${outcome.kills}`)
      victims.push(victim)
      await victim.until(outcome.kills % 3)
      await victim.end('SIGKILL')
    }
    for (const writer of racing) await writer.end()
    for (const writer of [...racing, ...victims]) {
      outcome.acknowledged += writer.acknowledged.length
      outcome.faults.push(...(await check(store, 'contested', writer.acknowledged)).faults)
      if (writer.errors !== '') outcome.faults.push(writer.errors)
    }
  } finally {
    for (const writer of [...racing, ...victims]) await writer.end('SIGKILL')
    await end()
  }
  return outcome
}
