import { describe, expect, it } from 'vitest'
import { fileDriver } from '../../../../adapters/node/session/file-driver.ts'
import type { FileOperations } from '../../../../adapters/node/session/file-operations.ts'
import { logLimits } from '../../../../adapters/node/session/log/segments.ts'
import type { SessionStore } from '../../../../src/index.ts'
import { logSessionStore } from '../../../../src/session.ts'
import { note } from '../../../../testing/session-store/session-samples.ts'
import { SimulatedMachine } from '../../../session/crash/simulated-machine.ts'
import { runs } from '../../../support/runs.ts'

const root = '/home/sessions'
const enough = 1_000_000
/** Every list that looks into a folder makes an index. */
const eager = { ...logLimits, looks: 0, ageMs: -1 }
/** Not the first page: what it shows has the place that the index gives it. */
const unmended = { cursor: '99999999999999/z', limit: 100 }

type Flaw = (operations: FileOperations) => FileOperations

/** As on a disk where nobody has ever made an index. */
const withoutIndex: Flaw = (operations) => ({
  ...operations,
  list: (directory) => operations.list(directory.includes('/.lists') ? `${directory}/nothing` : directory),
})

/** One machine on which processes write, delete and list sessions, through kills and a power cut. */
class ListRun {
  readonly #machine: SimulatedMachine
  readonly #flaw: Flaw
  /** Per session, how many writes have begun and not been acknowledged: its end may be another than anybody was told. */
  readonly #unsure = new Map<string, number>()
  /** How many sessions were compared. */
  compared = 0

  constructor(seed: number, flaw: Flaw) {
    this.#machine = new SimulatedMachine(seed)
    this.#flaw = flaw
  }

  #store(flaw = this.#flaw): SessionStore {
    return logSessionStore(fileDriver(root, flaw(this.#machine.process().operations), eager))
  }

  async #calm<T>(work: Promise<T>): Promise<T> {
    work.catch(() => {})
    await this.#machine.run(enough, { calm: true })
    return work
  }

  async #write(store: SessionStore, id: string): Promise<void> {
    const writer = await store.open(id, { agentId: 'a' })
    for (let records = 1 + this.#machine.pick(3); records > 0; records--) {
      this.#unsure.set(id, (this.#unsure.get(id) ?? 0) + 1)
      await writer.append([note('x')])
      this.#unsure.set(id, (this.#unsure.get(id) ?? 0) - 1)
    }
    if (this.#machine.random() < 0.5) await writer.close()
  }

  async #keepGoing(step: (store: SessionStore) => Promise<unknown>): Promise<void> {
    const { boots } = this.#machine
    while (this.#machine.boots === boots) {
      const store = this.#store()
      for (let round = 0; round < 4 && this.#machine.boots === boots; round++) await step(store).catch(() => {})
    }
  }

  /** What went wrong: sessions whose last acknowledged record a list does not know of. */
  async problems(): Promise<string[]> {
    const id = () => `s${this.#machine.pick(8)}`
    for (let boot = 0; boot < 2; boot++) {
      for (let writers = 0; writers < 2; writers++) void this.#keepGoing((store) => this.#write(store, id()))
      for (let readers = 0; readers < 2; readers++) void this.#keepGoing((store) => store.list())
      void this.#keepGoing((store) => (this.#machine.random() < 0.2 ? store.delete(id()) : this.#write(store, id())))
      await this.#machine.run(100 + this.#machine.pick(900))
      await this.#machine.cutPower()
      const [{ sessions }, truth] = [await this.#calm(this.#store().list(unmended)), await this.#calm(this.#store(withoutIndex).list())]
      const told = new Map(sessions.map((each) => [each.sessionId, each.lastActiveAt]))
      const sure = truth.sessions.filter(({ sessionId }) => (this.#unsure.get(sessionId) ?? 0) === 0)
      this.compared += sure.length
      const missing = truth.sessions.filter(({ sessionId }) => !told.has(sessionId)).map(({ sessionId }) => `${sessionId} is missing`)
      const old = sure.filter(({ sessionId, lastActiveAt }) => told.get(sessionId) !== lastActiveAt)
      const tooMany = sessions.length > truth.sessions.length ? ['a session is listed that is not there'] : []
      const problems = [...missing, ...tooMany, ...old.map(({ sessionId }) => `the place of ${sessionId} is an old one`)]
      if (problems.length > 0) return problems
    }
    return []
  }
}

/** The first seed whose run goes wrong, and what went wrong. */
async function firstProblem(seeds: number, flaw: Flaw = (operations) => operations): Promise<{ problem?: string; compared: number }> {
  let compared = 0
  for (let seed = 1; seed <= seeds; seed++) {
    const run = new ListRun(seed, flaw)
    const problems = await run.problems()
    compared += run.compared
    if (problems.length > 0) return { problem: `seed ${seed}: ${problems.join(', ')}`, compared }
  }
  return { compared }
}

const isMark = (path: string) => /\/marks\.\d+\/[^/]+$/.test(path)

/** What a driver could get wrong, each of which must show an old place sooner or later. */
const flaws: Record<string, Flaw> = {
  'sessions are not marked': (operations) => ({
    ...operations,
    createExclusive: (path) => (isMark(path) ? Promise.resolve() : operations.createExclusive(path)),
  }),
  'marks are not synced': (operations) => ({
    ...operations,
    syncDirectory: (path) => (path.includes('/.lists/marks.') ? Promise.resolve() : operations.syncDirectory(path)),
  }),
  'a generation is not synced': (operations) => ({
    ...operations,
    syncDirectory: (path) => (path.endsWith('/.lists') ? Promise.resolve() : operations.syncDirectory(path)),
  }),
}

describe('the session index under concurrent writers, crashes and power loss', () => {
  it('includes every acknowledged record or marks its session', async () => {
    const seeds = runs(40, 3000)
    const { problem, compared } = await firstProblem(seeds)
    expect(problem).toBeUndefined()
    expect(compared).toBeGreaterThan(seeds * 2)
  })

  it.each(Object.entries(flaws))('detects an invalid index if %s', async (_name, flaw) => {
    expect((await firstProblem(3000, flaw)).problem).toContain('is an old one')
  })
})
