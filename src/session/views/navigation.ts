import { combineUsage, emptyUsage, type Usage } from '../../contract/model/usage.ts'
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

/** The loop with this id; the one begun last, should there be several. */
export function getLoop(session: Session, loopId: string): LoopRecord | undefined {
  return session.loops.findLast((loop) => loop.loopId === loopId)
}

/** Loops that descend from none of this session, in the order they began: its first, and that of a sub-agent's session. */
export function rootLoops(session: Session): LoopRecord[] {
  const ids = new Set(session.loops.map((loop) => loop.loopId))
  return session.loops.filter(({ parentLoopId }) => parentLoopId === undefined || !ids.has(parentLoopId))
}

/** Loops that descend directly from this one, in the order they began. */
export function childrenOf(session: Session, loopId: string): LoopRecord[] {
  return session.loops.filter((loop) => loop.parentLoopId === loopId)
}

/** All branches of the group this loop belongs to, itself among them, in the order of the configurations; none where it is no branch. */
export function parallelSiblings(session: Session, loopId: string): LoopRecord[] {
  const ids = getLoop(session, loopId)?.parallelGroup?.allLoopIds ?? []
  return ids.map((id) => getLoop(session, id)).filter((loop) => loop !== undefined)
}

/**
 * Ids of the loops from a root down to this one, itself last; none for an unknown loop. Where parents go round in a circle, each loop of it
 * comes once.
 */
export function loopChainTo(session: Session, loopId: string): string[] {
  const parents = new Map(session.loops.map((loop) => [loop.loopId, loop.parentLoopId]))
  const chain = new Set<string>()
  for (let id: string | undefined = loopId; id !== undefined && parents.has(id) && !chain.has(id); id = parents.get(id)) chain.add(id)
  return [...chain].reverse()
}

/** Tokens of all loops. The usage of a judge that chose between branches is in their `parallelGroup`. */
export function totalUsage(session: Session): Usage {
  return session.loops.reduce((sum, loop) => combineUsage(sum, loop.usage), emptyUsage())
}
