import { isEqualJson } from '../../../../src/base/json/json-value.ts'
import type { AgentRun, Content } from '../../../../src/index.ts'
import { maxKept } from './queued-inputs.ts'

interface BegunRun {
  /** As the client sent it; the history may have it with warnings of filters. Absent for a request without a message. */
  content: readonly Content[] | undefined
  run: Promise<AgentRun>
  /** Whether it has ended, or could not start. */
  isOver: boolean
}

/** Runs that requests of clients have started, so that a repeated request joins its run. Keeps the newest 100. */
export class PageRuns {
  readonly #begun = new Map<string, BegunRun>()

  /** Returns the run that was started for the message with this id or for this key. */
  of(key: string): BegunRun | undefined {
    return this.#begun.get(key)
  }

  /** Records that `begin` starts the run for this key. Forgets a run that could not start. */
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
 * Returns whether a client repeats the message that the history has under the same id, with the bytes of its media. Filters
 * append warnings to it.
 */
export function isSameContent(stored: readonly Content[], sent: readonly Content[]): boolean {
  const [last] = stored.slice(sent.length)
  const isWarned = last?.type === 'text' && last.text.startsWith('[Warning: ')
  return stored.length === sent.length + (isWarned ? 1 : 0) && sent.every((block, at) => isEqualJson(stored[at], block))
}
