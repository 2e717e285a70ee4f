import { bytesOfBase64 } from '../../../../src/base/base64.ts'
import { mediaIn } from '../../../../src/base/json/media-blocks.ts'
import type { SavedState } from '../../../../src/contract/session/shared-state.ts'
import { exportSession, type Session, SessionError, sessionOf } from '../../../../src/session.ts'
import { refuse } from '../../access/problem.ts'
import type { LiveSession } from '../live-session.ts'
import { type History, type HistoryPage, type PageQuery, pageIn } from '../read/history-page.ts'
import { messagesIn } from './media-form.ts'
import type { HistoryQuery, LoopStanding, ReadHistory, SessionReads, StoredMedia } from './session-gateway.ts'

/** Reads a session in this process: from its agent if one is in memory, otherwise from the log. */
export class LiveReads implements SessionReads {
  readonly #live: LiveSession

  constructor(live: LiveSession) {
    this.#live = live
  }

  isKnown(): Promise<boolean> {
    return this.#live.recorded.isKnown()
  }

  async running(): Promise<string | undefined> {
    return (await this.#live.currentRun())?.loopId
  }

  async session() {
    const running = await this.#running()
    const session = await this.#loaded()
    return session === undefined ? undefined : { session, ...running }
  }

  async loops(query: PageQuery) {
    const running = await this.#running()
    const { recorded } = this.#live
    return (await recorded.isKnown()) ? { ...(await recorded.loops(query)), ...running } : undefined
  }

  async loop(loopId: string): Promise<LoopStanding | undefined> {
    const { recorded, sessionId } = this.#live
    const isHere = (await this.#live.runOf({ loopId })) !== undefined
    const loop = sessionOf(await recorded.records(), sessionId).loops.find((each) => each.loopId === loopId)
    if (loop === undefined) return isHere ? { approvals: [], clientCalls: [] } : undefined
    const { approvals, clientCalls } = await this.#history(loopId)
    return { loop, approvals, clientCalls }
  }

  async history({ loopId, after, page, media }: HistoryQuery): Promise<ReadHistory> {
    const running = await this.#running()
    if (page !== undefined) {
      const read = loopId === undefined ? await this.#page(page) : pageIn(await this.#history(loopId), page)
      return { ...read, messages: await messagesIn(media, this.#live, read.messages), ...running }
    }
    const read = await this.#history(loopId)
    const at = after === undefined ? -1 : read.messages.findLastIndex(({ id }) => id === after)
    const messages = await messagesIn(media, this.#live, read.messages.slice(at + 1))
    return { ...read, messages, ...(at >= 0 && after !== undefined && { after }), ...running }
  }

  async approvals() {
    return (await this.#page({ limit: 1 })).approvals
  }

  async inputs() {
    return (await this.#live.currentRun())?.pendingInputs() ?? []
  }

  async clientCalls() {
    return (await this.#history()).clientCalls
  }

  queued(messageId: string) {
    return this.#live.recorded.queuedInput(messageId)
  }

  async state(): Promise<SavedState | undefined> {
    const { sharedState } = (await this.#live.inMemory()) ?? {}
    if (sharedState !== undefined) return { version: sharedState.version, value: sharedState.value }
    return this.#live.recorded.sharedState()
  }

  async schedules() {
    return (await this.#live.schedules?.list()) ?? []
  }

  async media(hash: string): Promise<StoredMedia | undefined> {
    const { media, recorded } = this.#live
    // Bytes without a record remain from an interrupted write and belong to no session.
    const recordedBlock = async () => mediaIn(await recorded.records()).find(({ blob }) => blob?.hash === hash)
    const messages = async () => media.among((await this.#live.inMemory())?.messages ?? [], hash)
    const block = media.find(hash) ?? (await recordedBlock()) ?? (await messages())
    if (block === undefined) return undefined
    const { mimeType, data } = block
    const bytes = data === undefined ? await this.#blob(hash) : bytesOfBase64(data)
    const name = block.type === 'file' ? block.name : undefined
    return bytes && { mimeType, bytes, ...(name !== undefined && { name }) }
  }

  exported(): Promise<string> {
    // One read returns whole records, so it also works during a run.
    const { sessionId, store } = this.#live
    return exportSession(store, sessionId)
  }

  async #running(): Promise<{ runningLoopId?: string }> {
    const runningLoopId = await this.running()
    return runningLoopId === undefined ? {} : { runningLoopId }
  }

  /**
   * Returns the history, or the history up to the end of the given loop. Throws `ProblemError` 404 for an unknown loop. Without an agent in
   * memory, pending calls include only those of a paused run.
   */
  async #history(loopId?: string): Promise<History> {
    const { recorded, queued } = this.#live
    const agent = await this.#live.inMemory()
    if (agent === undefined || (loopId !== undefined && agent.lastLoopId !== loopId)) return recorded.history(loopId)
    const { messages, lastLoopId } = agent
    return {
      messages,
      approvals: agent.pendingApprovals(),
      clientCalls: agent.pendingClientCalls(),
      queued: queued.shown(),
      ...(lastLoopId !== undefined && { loopId: lastLoopId }),
    }
  }

  /** Returns a page of the history, with pending approvals and queued messages. Rejects with 400 `invalidCursor`. */
  async #page(query: PageQuery): Promise<HistoryPage> {
    return (await this.#live.inMemory()) === undefined ? this.#live.recorded.page(query) : pageIn(await this.#history(), query)
  }

  async #loaded(): Promise<Session | undefined> {
    const { store, sessionId } = this.#live
    try {
      return await store.load(sessionId)
    } catch (error) {
      if (SessionError.isInstance(error) && error.code === 'notFound') return undefined
      throw error
    }
  }

  async #blob(hash: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const { store, sessionId } = this.#live
    try {
      return await store.blob(sessionId, hash)
    } catch (error) {
      if (!SessionError.isInstance(error)) throw error
      if (error.code === 'notFound') return undefined
      if (error.code === 'invalidSession') refuse(410, 'gone', 'The stored file is damaged. Send the file again.')
      throw error
    }
  }
}
