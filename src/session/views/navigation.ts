import { combineUsage, emptyUsage, type Usage } from '../../contract/model/usage.ts'
import type { ChildLoopRef, LoopRecord, Session, SpawnRef } from '../../contract/session/session.ts'

/** The call that started a sub-agent, as far as known. */
export interface SpawnOrigin {
  parent: LoopRecord
  toolCallId: string
  toolName: string
}

/** Adds a sub-agent's loop to the calling loop once, and sets its session when it becomes known. */
export function linkChild({ childLoopRefs }: LoopRecord, ref: ChildLoopRef): void {
  const known = childLoopRefs.find(({ toolCallId, childLoopId }) => toolCallId === ref.toolCallId && childLoopId === ref.childLoopId)
  if (known === undefined) childLoopRefs.push(ref)
  else known.childSessionId ||= ref.childSessionId
}

/** Adds the calling loop to a sub-agent's session, without overriding known values. Ignores loops of the same session. */
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

/** Returns the session id in a sub-agent's loop id: the part before `.sub.`, or an empty string if the id has another form. */
export function sessionOfChild(childLoopId: string): string {
  return childLoopId.slice(0, Math.max(0, childLoopId.lastIndexOf('.sub.')))
}

/** Returns the loop with this id, or the latest of several loops with the same id. */
export function getLoop(session: Session, loopId: string): LoopRecord | undefined {
  return session.loops.findLast((loop) => loop.loopId === loopId)
}

/** Returns the loops whose parent is not in this session, in start order. */
export function rootLoops(session: Session): LoopRecord[] {
  const ids = new Set(session.loops.map((loop) => loop.loopId))
  return session.loops.filter(({ parentLoopId }) => parentLoopId === undefined || !ids.has(parentLoopId))
}

/** Returns a loop's direct children, in start order. */
export function childrenOf(session: Session, loopId: string): LoopRecord[] {
  return session.loops.filter((loop) => loop.parentLoopId === loopId)
}

/** Returns all branches of the loop's parallel group, including this loop, in configuration order. Empty if the loop is not a branch. */
export function parallelSiblings(session: Session, loopId: string): LoopRecord[] {
  const ids = getLoop(session, loopId)?.parallelGroup?.allLoopIds ?? []
  return ids.map((id) => getLoop(session, id)).filter((loop) => loop !== undefined)
}

/**
 * Returns the loop ids from the root to this loop, or an empty list for an unknown loop. If parents form a cycle, each loop occurs once.
 */
export function loopChainTo(session: Session, loopId: string): string[] {
  const parents = new Map(session.loops.map((loop) => [loop.loopId, loop.parentLoopId]))
  const chain = new Set<string>()
  for (let id: string | undefined = loopId; id !== undefined && parents.has(id) && !chain.has(id); id = parents.get(id)) chain.add(id)
  return [...chain].reverse()
}

/** Returns the total token usage of all loops. A judge's usage is counted in the branches' `parallelGroup`. */
export function totalUsage(session: Session): Usage {
  return session.loops.reduce((sum, loop) => combineUsage(sum, loop.usage), emptyUsage())
}
