import { isDeepStrictEqual } from 'node:util'
import { fileDriver } from '../../../adapters/node/session/file-driver.ts'
import type { FileOperations } from '../../../adapters/node/session/file-operations.ts'
import { type LogLimits, logLimits } from '../../../adapters/node/session/log/segments.ts'
import { mediaIn } from '../../../src/base/json/media-blocks.ts'
import type { JournalEntry } from '../../../src/contract/session/journal-entry.ts'
import type { Session } from '../../../src/contract/session/session.ts'
import { logSessionStore } from '../../../src/session.ts'
import type { NewSessionRecord, ResumePoint, SessionStore, SessionWriter } from '../../../src/types/session/session-store.ts'
import { note, notesIn, sampleSession } from '../../../testing/session-store/session-samples.ts'
import type { Flaw } from './seeded-flaws.ts'
import { SimulatedMachine, type SimulatedProcess } from './simulated-machine.ts'

const root = '/home/sessions'
const enough = 100_000

/** So small that most records begin a file, and most logs are read as they are asked for. */
const small: LogLimits = { segmentBytes: 400, atOnceBytes: 300 }
const limitsOf = (seed: number): LogLimits => (seed % 4 === 0 ? small : logLimits)

function storeIn({ operations }: SimulatedProcess, flaw: Flaw, limits: LogLimits): SessionStore {
  const flawed: FileOperations = flaw(operations)
  return logSessionStore(fileDriver(root, flawed, limits))
}

/** Several processes that write to one session, through up to three power cuts. */
class CrashRun {
  readonly #machine: SimulatedMachine
  readonly #flaw: Flaw
  /** Per writer, in the order in which they were acknowledged. */
  readonly #acknowledged: string[][] = []
  readonly #padding: string
  readonly #journals: boolean
  readonly #limits: LogLimits
  /** Whether records bring bytes that are kept beside the log; several the same. */
  readonly #media: boolean
  readonly #lostBytes: string[] = []
  #records = 0

  constructor(seed: number, flaw: Flaw, { journals = false, media = false } = {}) {
    this.#media = media
    this.#machine = new SimulatedMachine(seed)
    this.#flaw = flaw
    this.#journals = journals
    this.#limits = limitsOf(seed)
    // Long records make snapshots come soon.
    this.#padding = this.#machine.random() < 0.15 ? 'x'.repeat(24_000) : ''
  }

  /** What went wrong; nothing when every record that was acknowledged is there after every power cut. */
  async losses(): Promise<string[]> {
    const crashes = 1 + this.#machine.pick(3)
    for (let crash = 0; crash < crashes; crash++) {
      const writers = 1 + this.#machine.pick(3)
      for (let index = 0; index < writers; index++) void this.#keepWriting()
      // A round ends where nobody wants a step: while a digest is made.
      const rounds = this.#media ? 10 : 1
      for (let round = 0; round < rounds; round++) await this.#machine.run(10 + this.#machine.pick(150))
      await this.#machine.cutPower()
      const found = await this.#read()
      const problems = this.#problems(found)
      if (problems.length > 0) return problems
    }
    return []
  }

  /** One process after the other, until the power is cut. */
  async #keepWriting(): Promise<void> {
    const { boots } = this.#machine
    while (this.#machine.boots === boots) {
      const process = this.#machine.process()
      const store = storeIn(process, this.#flaw, this.#limits)
      for (let round = 0; round < 3 && process.isAlive; round++) await this.#write(store).catch(() => undefined)
    }
  }

  async #write(store: SessionStore): Promise<void> {
    return this.#journals ? this.#writeLoop(store) : this.#writeRecords(store)
  }

  async #writeRecords(store: SessionStore): Promise<void> {
    const writer = await store.open('s', { agentId: 'a' })
    const acknowledged: string[] = []
    this.#acknowledged.push(acknowledged)
    for (let count = 0; count < 3; count++) {
      const appends = Array.from({ length: 1 + this.#machine.pick(2) }, () => this.#append(writer, acknowledged))
      await Promise.all(appends)
    }
    if (this.#machine.random() < 0.5) await writer.close()
  }

  async #append(writer: SessionWriter, acknowledged: string[]): Promise<void> {
    const texts = Array.from({ length: 1 + this.#machine.pick(2) }, () => `${this.#records++}${this.#padding}`)
    await writer.append([...texts.map(note), ...(this.#media ? [picture(this.#machine.pick(6))] : [])])
    acknowledged.push(...texts)
  }

  /** As an agent does: goes on from what is there, and writes turns whose answer and intent are acknowledged together. */
  async #writeLoop(store: SessionStore): Promise<void> {
    const cursor = await store.tail('s').then(
      (tail) => tail.cursor,
      () => 0,
    )
    const resume: ResumePoint = { sessionId: 's', cursor, loopId: undefined, messages: [], state: undefined, recovered: [] }
    const journal = store.journal(cursor === 0 ? {} : { resume })
    const acknowledged: string[] = []
    this.#acknowledged.push(acknowledged)
    const loopId = `s.m.${this.#records++}`
    const conversation = { messages: [] }
    const append = async (...entries: JournalEntry[]): Promise<void> => {
      const place = { agentId: 'a', sessionId: 's', loopId, runId: 'r', turnIndex: 0, at: 1 }
      await Promise.all(entries.map((entry) => journal.append({ ...place, entry }, conversation)))
      for (const entry of entries) if (entry.type === 'input') acknowledged.push(...notesIn([{ entry }]).map(String))
    }
    const said = (): JournalEntry => ({
      type: 'input',
      message: { role: 'extension', id: 'm', kind: 'note', data: `${this.#records++}${this.#padding}` },
    })
    for (let turn = 0; turn < 3; turn++) {
      void append({ type: 'turnStart', triggeredBy: 'user' }).catch(() => undefined)
      await append(said(), said())
      await append(said())
    }
    if (this.#machine.random() < 0.5) await journal.close()
  }

  async #read(): Promise<string[]> {
    const store = storeIn(this.#machine.process(), (operations) => operations, this.#limits)
    const found = store.tail('s').then(
      async ({ records }) => {
        for (const { blob } of mediaIn(records)) await store.blob('s', blob?.hash ?? '').catch(() => this.#lostBytes.push(blob?.hash ?? ''))
        return notesIn(records.filter(({ entry }) => entry.type === 'input' && entry.message.role === 'extension')).map(String)
      },
      () => [],
    )
    return this.#machine.calmUntil(found)
  }

  #problems(found: readonly string[]): string[] {
    const places = new Map(found.map((text, index) => [text, index]))
    const problems = places.size < found.length ? ['a record is there twice'] : []
    for (const hash of this.#lostBytes) problems.push(`bytes ${hash.slice(0, 8)} are lost`)
    for (const texts of this.#acknowledged) {
      const lost = texts.filter((text) => !places.has(text)).map((text) => `${text.slice(0, 9)} is lost`)
      const inOrder = texts.every((text, index) => index === 0 || (places.get(texts[index - 1] ?? '') ?? 0) < (places.get(text) ?? enough))
      problems.push(...lost, ...(inOrder ? [] : ['records are out of order']))
    }
    return problems
  }
}

/** What one run of processes that append loses of what it acknowledged. The same seed gives the same run. */
export function lossesOf(seed: number, flaw: Flaw = (operations) => operations): Promise<string[]> {
  return new CrashRun(seed, flaw).losses()
}

/** The same for processes that write by way of a journal, several records at once. */
export async function lossesOfJournals(seed: number, flaw: Flaw = (operations) => operations): Promise<string[]> {
  return new CrashRun(seed, flaw, { journals: true }).losses()
}

/** The same where records name bytes beside the log: of a record that counts they are there. */
export function lossesOfMedia(seed: number, flaw: Flaw = (operations) => operations): Promise<string[]> {
  return new CrashRun(seed, flaw, { media: true }).losses()
}

/** One of a few files that are kept beside the log. */
function picture(which: number): NewSessionRecord {
  const file = { type: 'file' as const, mimeType: 'application/octet-stream', data: String.fromCharCode(65 + which).repeat(66_000) }
  return { loopId: 'l', entry: { type: 'input', message: { role: 'user', id: 'm', content: [file], timestamp: 1 } } }
}

/** The same for whole sessions: after each power cut it is there as some save has left it, none older than the last acknowledged one. */
export async function lossesOfSaves(seed: number, flaw: Flaw = (operations) => operations): Promise<string[]> {
  const machine = new SimulatedMachine(seed)
  const versions = { tried: 0, acknowledged: 0 }
  for (let crash = 0; crash < 3; crash++) {
    void keepSaving(machine, (process) => storeIn(process, flaw, limitsOf(seed)), versions)
    await machine.run(10 + machine.pick(100))
    await machine.cutPower()
    const loading = storeIn(machine.process(), (operations) => operations, limitsOf(seed)).load('s')
    const loaded = loading.catch(() => undefined)
    const session = await machine.calmUntil(loaded)
    if (!possible(versions).some((each) => isDeepStrictEqual(each, session))) return [`version ${versions.acknowledged} is lost`]
  }
  return []
}

async function keepSaving(
  machine: SimulatedMachine,
  storeOf: (process: SimulatedProcess) => SessionStore,
  versions: { tried: number; acknowledged: number },
): Promise<void> {
  const { boots } = machine
  while (machine.boots === boots) {
    const process = machine.process()
    const store = storeOf(process)
    while (process.isAlive) {
      const version = ++versions.tried
      const isSaved = await store.save(versionOf(version)).then(
        () => true,
        () => false,
      )
      if (isSaved) versions.acknowledged = version
    }
  }
}

/** Every session that may be there: all of one, or none where none was acknowledged. */
function possible({ tried, acknowledged }: { tried: number; acknowledged: number }): (Session | undefined)[] {
  const versions = Array.from({ length: tried - acknowledged + 1 }, (_, index) => versionOf(acknowledged + index))
  return acknowledged > 0 ? versions : [undefined, ...versions]
}

/** Every third one has a file, which is that of another. */
function versionOf(version: number): Session {
  const session = sampleSession('s', `version ${version}`)
  const { entry } = picture(version % 2)
  if (version % 3 === 0 && entry.type === 'input') session.loops[0]?.messages.push(entry.message)
  return session
}
