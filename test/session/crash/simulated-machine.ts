import type { FileOperations } from '../../../adapters/node/session/file-operations.ts'
import { seededRandom } from '../../../testing/fault-fetch.ts'
import { SimulatedDisk, type SimulatedFile, systemError } from './simulated-disk.ts'

/** One step of a process that waits for its turn. */
interface Step {
  process: SimulatedProcess
  run: () => void
  fail: (error: Error) => void
}

/** How often, per step, what goes wrong. */
const killed = 0.02
const failed = 0.01
const halfWritten = 0.3

/** Processes on one disk, whose steps come in an order that a seed decides; any of them may be the last of its process. */
export class SimulatedMachine {
  readonly random: () => number
  readonly disk: SimulatedDisk
  /** How often it was started again. */
  boots = 0
  #waiting: Step[] = []
  #processes: SimulatedProcess[] = []

  constructor(seed: number) {
    this.random = seededRandom(seed)
    this.disk = new SimulatedDisk(this.random)
    for (const [directory, parent] of [['/home', '/']] as const) {
      this.disk.makeDirectory(directory)
      this.disk.directory(parent).sync()
    }
  }

  /** A number from 0 to below `limit`. */
  pick(limit: number): number {
    return Math.floor(this.random() * limit)
  }

  process(): SimulatedProcess {
    const process = new SimulatedProcess(this)
    this.#processes.push(process)
    return process
  }

  wait(step: Step): void {
    this.#waiting.push(step)
  }

  /** Lets processes take at most `steps` steps, or as many as they want when nothing may go wrong. */
  async run(steps: number, { calm = false } = {}): Promise<void> {
    for (let count = 0; count < steps; count++) {
      await idle()
      if (this.#waiting.length === 0) return
      const step = this.#waiting[this.pick(this.#waiting.length)]
      if (step === undefined) return
      const luck = calm ? 1 : this.random()
      if (luck < killed) {
        this.#kill(step.process)
        continue
      }
      this.#waiting.splice(this.#waiting.indexOf(step), 1)
      if (luck < killed + failed) step.fail(systemError(this.random() < 0.5 ? 'EIO' : 'ENOSPC'))
      else step.run()
    }
  }

  /** Lets nothing go wrong until `promise` has settled: what is no step, such as a digest, takes its time. */
  async calmUntil<T>(promise: Promise<T>): Promise<T> {
    let isOver = false
    const over = () => {
      isOver = true
    }
    promise.then(over, over)
    while (!isOver) await this.run(100_000, { calm: true })
    return promise
  }

  /** Ends all processes and forgets what was not synced. */
  async cutPower(): Promise<void> {
    this.boots++
    for (const process of this.#processes) this.#kill(process)
    this.#processes = []
    await idle()
    this.disk.cutPower()
  }

  #kill(process: SimulatedProcess): void {
    process.isAlive = false
    const ended = this.#waiting.filter((step) => step.process === process)
    this.#waiting = this.#waiting.filter((step) => step.process !== process)
    for (const step of ended) step.fail(new Error('The process was killed.'))
  }
}

/** When all that is under way waits for a step. */
function idle(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

/** A process: what it does with files takes effect when the machine gives it a turn, and no more after it was killed. */
export class SimulatedProcess {
  isAlive = true
  readonly operations: FileOperations
  readonly #machine: SimulatedMachine
  readonly #held = new Map<string, SimulatedFile>()

  constructor(machine: SimulatedMachine) {
    this.#machine = machine
    const { disk } = machine
    const held = this.#held
    const open = (path: string) => held.get(path) ?? disk.file(path)
    this.operations = {
      createExclusive: (path) => this.#step(() => void held.set(path, disk.create(path))),
      // A byte of a file that is no text is one character.
      append: (path, data) => this.#append(() => open(path), typeof data === 'string' ? data : String.fromCharCode(...data)),
      sync: (path) =>
        this.#step(() => {
          const file = open(path)
          file.syncedLength = file.text.length
        }),
      syncDirectory: (path) => this.#step(() => disk.directory(path).sync()),
      read: (path, { from = 0, bytes = Number.POSITIVE_INFINITY } = {}) => this.#step(() => disk.file(path).text.slice(from, from + bytes)),
      readBytes: (path) => this.#step(() => Uint8Array.from(disk.file(path).text, (char) => char.charCodeAt(0))),
      readLines: (path, { from, to }) => this.#step(() => ({ lines: disk.file(path).text.slice(from, to).split('\n'), next: to })),
      list: (path) => this.#step(() => [...disk.directory(path).names.keys()]),
      rename: (from, to) =>
        this.#step(() => {
          held.delete(from)
          disk.rename(from, to)
        }),
      remove: (path) =>
        this.#step(() => {
          held.delete(path)
          disk.remove(path)
        }),
      removeDirectory: (path) => this.#step(() => disk.removeDirectory(path)),
      makeDirectory: (path) => this.#step(() => disk.makeDirectory(path)),
      stat: (path) =>
        this.#step(() => {
          const { modified, text } = disk.file(path)
          return { modified, size: text.length }
        }),
      close: async (path) => void held.delete(path),
    }
  }

  /** Sometimes in two steps: others see the first half, and the second may never come. */
  async #append(open: () => SimulatedFile, text: string): Promise<void> {
    const { disk, random, pick } = this.#machine
    const half = random() < halfWritten ? pick.call(this.#machine, text.length) : 0
    const file = await this.#step(open)
    if (half > 0) await this.#step(() => disk.append(file, text.slice(0, half)))
    await this.#step(() => disk.append(file, text.slice(half)))
  }

  #step<T>(effect: () => T): Promise<T> {
    if (!this.isAlive) return Promise.reject(new Error('The process was killed.'))
    return new Promise((resolve, reject) => {
      const run = () => {
        try {
          resolve(effect())
        } catch (error) {
          reject(error)
        }
      }
      this.#machine.wait({ process: this, run, fail: reject })
    })
  }
}
