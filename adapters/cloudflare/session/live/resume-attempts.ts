import type { SessionRecord } from '../../../../src/session.ts'
import { maxAttempts, progressOf } from '../../../http/internal.ts'
import type { ObjectStorage } from '../workers-platform.ts'

interface Attempts {
  count: number
  progress: number
}

/** Stored attempts to resume a session's run. */
export class ResumeAttempts {
  readonly #storage: ObjectStorage

  constructor(storage: ObjectStorage) {
    this.#storage = storage
  }

  /**
   * Counts an attempt, unless the limit is reached. The count is durable when this resolves, because the attempt may crash the process
   * again.
   */
  async begin(records: readonly SessionRecord[]): Promise<boolean> {
    const progress = progressOf(records)
    const before = await this.#read()
    const count = before?.progress === progress ? before.count + 1 : 1
    if (count > maxAttempts) return false
    await this.#write({ count, progress })
    return true
  }

  /** Undoes the last attempt's count. */
  async takeBack(): Promise<void> {
    const begun = await this.#read()
    if (begun !== undefined) await this.#write({ ...begun, count: begun.count - 1 })
  }

  #read(): Promise<Attempts | undefined> {
    return this.#storage.get<Attempts>('attempts')
  }

  async #write(attempts: Attempts): Promise<void> {
    await this.#storage.put<Attempts>('attempts', attempts)
    await this.#storage.sync()
  }
}
