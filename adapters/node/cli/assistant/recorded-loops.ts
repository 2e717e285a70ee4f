import { type LoopRecord, SessionError, sessionOf } from '../../../../src/session.ts'
import type { Assistant } from './assistant.ts'

/** Reads the open session's loops, including those for undone messages. Returns none if the session is not stored yet. */
export async function recordedLoops({ agent: { sessionId }, store }: Pick<Assistant, 'agent' | 'store'>): Promise<readonly LoopRecord[]> {
  try {
    const { records } = await store.tail(sessionId)
    return sessionOf(records, sessionId).loops
  } catch (error) {
    if (SessionError.isInstance(error) && error.code === 'notFound') return []
    throw error
  }
}
