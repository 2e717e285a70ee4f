import { basename, dirname } from 'node:path'
import type { FileOperations } from '../../../../adapters/node/session/file-operations.ts'

const failure = (code: string): Error => Object.assign(new Error(code), { code })

/**
 * A disk in memory that several processes use at once: every operation waits until `run` picks it, at random, and then happens at one
 * moment. It shows what depends on the order of operations, not what a power cut loses.
 */
export class InterleavedDisk {
  readonly files = new Map<string, string>()
  readonly #directories = new Set(['/'])
  readonly #random: () => number
  #waiting: { process: string; start: () => void; cut?: () => void }[] = []
  readonly #killed = new Set<string>()

  constructor(random: () => number) {
    this.#random = random
  }

  /** From now on nothing of this process happens; what it is just appending may be there in part. */
  kill(process: string): void {
    this.#killed.add(process)
    for (const each of this.#waiting) if (each.process === process) each.cut?.()
    this.#waiting = this.#waiting.filter((each) => each.process !== process)
  }

  /** Lets one waiting operation happen after the other, until `work` is over. */
  async run(work: Promise<unknown>): Promise<void> {
    let isOver = false
    const finished = work.finally(() => {
      isOver = true
    })
    finished.catch(() => {})
    while (!isOver) {
      await new Promise((resolve) => setImmediate(resolve))
      const [next] = this.#waiting.splice(Math.floor(this.#random() * this.#waiting.length), 1)
      next?.start()
    }
    await finished
  }

  /** The operations of one process. */
  operations(process: string): FileOperations {
    const when = <T>(effect: () => T, cut?: () => void): Promise<T> =>
      new Promise((resolve, reject) => {
        if (this.#killed.has(process)) return
        const start = (): void => {
          try {
            resolve(effect())
          } catch (error) {
            reject(error)
          }
        }
        this.#waiting.push({ process, start, ...(cut === undefined ? {} : { cut }) })
      })
    const text = (path: string): string => {
      const found = this.files.get(path)
      if (found === undefined) throw failure('ENOENT')
      return found
    }
    const inDirectory = (path: string): void => {
      if (!this.#directories.has(dirname(path))) throw failure('ENOENT')
    }
    const put = (path: string, added: string) => this.files.has(path) && this.files.set(path, text(path) + added)
    return {
      createExclusive: (path) =>
        when(() => {
          inDirectory(path)
          if (this.files.has(path)) throw failure('EEXIST')
          this.files.set(path, '')
        }),
      // Without the name it had, an open file is still written, but nobody sees it.
      append: (path, added) =>
        when(
          () => void put(path, added),
          () => void put(path, added.slice(0, Math.floor(this.#random() * (added.length + 1)))),
        ),
      sync: (path) => when(() => void text(path)),
      syncDirectory: () => when(() => {}),
      read: (path, bytes) => when(() => text(path).slice(0, bytes)),
      list: (directory) =>
        when(() => {
          if (!this.#directories.has(directory)) throw failure('ENOENT')
          return [...this.files.keys(), ...this.#directories]
            .filter((path) => path !== '/' && dirname(path) === directory)
            .map((path) => basename(path))
        }),
      rename: (from, to) =>
        when(() => {
          this.files.set(to, text(from))
          this.files.delete(from)
        }),
      remove: (path) =>
        when(() => {
          text(path)
          this.files.delete(path)
        }),
      makeDirectory: (path) =>
        when(() => {
          inDirectory(path)
          if (this.#directories.has(path)) throw failure('EEXIST')
          this.#directories.add(path)
        }),
      modified: (path) => when(() => text(path).length),
    }
  }
}
