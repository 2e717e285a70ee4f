import { type LoopRecord, SessionError, sessionOf } from '../../../../src/session.ts'
import type { Assistant } from './assistant.ts'

/** Reads the loops of the session that is open, those of messages that were taken back too; none before anything of it is stored. */
export async function recordedLoops({ agent: { sessionId }, store }: Pick<Assistant, 'agent' | 'store'>): Promise<readonly LoopRecord[]> {
  try {
    const { records } = await store.tail(sessionId)
    return sessionOf(records, sessionId).loops
  } catch (error) {
    if (SessionError.isInstance(error) && error.code === 'notFound') return []
    throw error
  }
}
