import type { ChildLoopRef, LoopRecord, Session, SpawnRef } from '../../contract/session/session.ts'

/** The call that runs a sub-agent, as far as it is known. */
export interface SpawnOrigin {
  parent: LoopRecord
  toolCallId: string
  toolName: string
}

/** Notes on a loop which sub-agent's loop one of its calls ran; once, and with the session as soon as it is known. */
export function linkChild({ childLoopRefs }: LoopRecord, ref: ChildLoopRef): void {
  const known = childLoopRefs.find(({ toolCallId, childLoopId }) => toolCallId === ref.toolCallId && childLoopId === ref.childLoopId)
  if (known === undefined) childLoopRefs.push(ref)
  else known.childSessionId ||= ref.childSessionId
}

/** Notes on a sub-agent's session which call began it; what is known already stays. A loop of the same session begins none. */
export function linkParent(session: Session, { parent, toolCallId, toolName }: SpawnOrigin): void {
  if (parent.sessionId === session.sessionId) return
  const known: SpawnRef | undefined = session.parentSpawnRef
  if (known !== undefined && known.parentLoopId !== parent.loopId) return
  session.parentSpawnRef = {
    parentSessionId: parent.sessionId,
    parentLoopId: parent.loopId,
    toolCallId: known?.toolCallId || toolCallId,
    toolName: known?.toolName || toolName,
  }
}

/** The session of a sub-agent's loop that nothing was heard of: the part of its id before `.sub.`, or empty where it has another form. */
export function sessionOfChild(childLoopId: string): string {
  return childLoopId.slice(0, Math.max(0, childLoopId.lastIndexOf('.sub.')))
}
