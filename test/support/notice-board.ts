import type { SessionNotice } from '../../adapters/http/index.ts'

/** What a host has told, for tests that wait for it. */
export class NoticeBoard {
  readonly #notices: SessionNotice[] = []
  readonly #readers = new Set<() => void>()

  readonly tell = (notice: SessionNotice): void => {
    this.#notices.push(notice)
    for (const reader of this.#readers) reader()
  }

  /** What was told of a session, and is of this type; waits for the first. */
  async told(sessionId: string, type: SessionNotice['type']): Promise<SessionNotice[]> {
    for (;;) {
      const found = this.#notices.filter((notice) => notice.sessionId === sessionId && notice.type === type)
      if (found.length > 0) return found
      await new Promise<void>((resolve) => {
        this.#readers.add(resolve)
      })
    }
  }
}
