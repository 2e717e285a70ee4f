import { isEqualJson } from '../../../../src/base/json/json-value.ts'
import type { AgentRun, Content } from '../../../../src/index.ts'
import { maxKept } from './queued-inputs.ts'

interface BegunRun {
  /** The original message. The history may contain it with filter warnings. Absent for a request without a message. */
  content: readonly Content[] | undefined
  run: Promise<AgentRun>
  /** Whether the run has ended or could not start. */
  isOver: boolean
}

/** Tracks the runs that client requests started, so that a repeated request joins its run. Caches the newest 100. */
export class PageRuns {
  readonly #begun = new Map<string, BegunRun>()

  /** Returns the run for this key, or for the message with this id. */
  of(key: string): BegunRun | undefined {
    return this.#begun.get(key)
  }

  /** Records that `begin` starts the run for this key. Removes a run that could not start. */
  begin(key: string, content: readonly Content[] | undefined, begin: () => Promise<AgentRun>): Promise<AgentRun> {
    const begun: BegunRun = { content, run: begin(), isOver: false }
    this.#begun.delete(key)
    this.#begun.set(key, begun)
    begun.run
      .then((run) => run.result)
      .catch(() => {
        if (this.#begun.get(key) === begun) this.#begun.delete(key)
      })
      .finally(() => {
        begun.isOver = true
      })
    const [oldest] = this.#begun.keys()
    if (this.#begun.size > maxKept && oldest !== undefined) this.#begun.delete(oldest)
    return begun.run
  }
}

/**
 * Returns whether a client repeats a message with the same id in the history. Compares media bytes, and ignores warnings that filters
 * appended.
 */
export function isSameContent(stored: readonly Content[], sent: readonly Content[]): boolean {
  const [last] = stored.slice(sent.length)
  const isWarned = last?.type === 'text' && last.text.startsWith('[Warning: ')
  return stored.length === sent.length + (isWarned ? 1 : 0) && sent.every((block, at) => isEqualJson(stored[at], block))
}
