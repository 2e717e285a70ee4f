import type { CompactionOverlay, ContextChange, ContextState, RevertCategory, RevertRecord } from '../../contract/context/context-change.ts'
import { formatNodeId, type NodeTag, newId, type TagKind } from '../../contract/message/identity.ts'
import { type AgentMessage, isLlmMessage, now } from '../../contract/message/message.ts'
import { groupStarts } from '../view/turns.ts'

/** Input for a revert. */
export interface RevertInput {
  /** The whole history. */
  messages: readonly AgentMessage[]
  state: ContextState
  change: Extract<ContextChange, { type: 'revert' }>
  /** The turn that requested the revert. The tag's age is counted from this turn. */
  turnIndex: number
}

/** The tag of a revert, and its target. */
interface Abandonment {
  target: number
  nodeIds: readonly number[]
}

const noIds: ReadonlySet<string> = new Set()

const tagKinds: Record<RevertCategory, TagKind> = {
  failure: 'lesson',
  tangent: 'finding',
  completion: 'outcome',
  stepSummary: 'checkpoint',
}

/**
 * Plans a revert to a node: later messages are no longer sent, and the tag says what was learned. The history is unchanged.
 *
 * **Contract**
 * - The target is extended to the end of its response and results, so `targetNodeId` of the record may be later than requested.
 * - Rejects, with a reason, a target that is missing or abandoned, one before the end of a compacted part, and one followed by a user
 *   message.
 * - Pure except for the id and the record's time.
 *
 * Source: docs/concepts/context.md
 */
export function planRevert({ messages, state, change, turnIndex }: RevertInput): { record: RevertRecord } | { refused: string } {
  const { category, targetNodeId, summary } = change
  const name = formatNodeId(targetNodeId)
  const at = messages.findLastIndex((message) => nodeIdOf(message) === targetNodeId)
  const target = messages[at]
  if (target === undefined) return { refused: `revert target ${name} not found in message history` }
  const abandoned = abandonedIds(messages, state.reverts ?? [])
  if (abandoned.has(target.id)) return { refused: `revert refused: ${name} was abandoned by an earlier revert` }
  if (at <= compactedEnd(messages, state.overlay)) {
    return { refused: `revert refused: ${name} lies in a part of the conversation that was compacted; go back to a later state` }
  }
  const starts = groupStarts(messages)
  const end = starts.lastIndexOf(starts[at] ?? at)
  const later = messages.slice(end + 1).filter((message) => !abandoned.has(message.id))
  if (later.some((message) => message.role === 'user')) {
    return { refused: 'revert refused: abandoned span contains a user message; auto-rebase is not implemented' }
  }
  const group = messages.slice(at, end + 1).filter((_, index) => starts[at + index] === starts[at])
  const last = group.map(nodeIdOf).findLast((id) => id !== undefined) ?? targetNodeId
  const abandonedNodeIds = later.map(nodeIdOf).filter((id) => id !== undefined)
  const tag: NodeTag = { kind: tagKindOf(category), text: summary ?? '', createdAtTurn: turnIndex, abandonedNodeIds }
  return { record: { id: newId(), at: now(), category, targetNodeId: last, abandonedNodeIds, tag } }
}

/** Returns the tag kind for this category of revert. */
export function tagKindOf(category: RevertCategory): TagKind {
  return tagKinds[category]
}

/**
 * Returns the node that the next message follows: the last one, or the target of a later revert. `undefined` without nodes.
 * `reverts`, and tags on messages from sessions of the Rust crate, define what was abandoned.
 */
export function activeNodeId(messages: readonly AgentMessage[], reverts: readonly RevertRecord[]): number | undefined {
  return activeNode(messages, abandonments(messages, reverts))
}

/** Returns the highest node id of `messages` plus 1, or 0 without nodes. It never decreases: abandoned nodes count. */
export function nextNodeId(messages: readonly AgentMessage[]): number {
  let next = 0
  for (const message of messages) next = Math.max(next, (nodeIdOf(message) ?? -1) + 1)
  return next
}

/**
 * Returns the ids of messages that reverts removed from the trunk. Empty without reverts.
 *
 * **Contract**
 * - The trunk is the chain of parents from the active node. Messages before its end (a root, a missing parent, a cycle) stay too, unless a
 *   revert names them. If the active node is missing, all messages stay. So `messages` may be the compacted rest of a history.
 * - A result follows its call. Another message without a node follows the next node, or at the end the trunk. Messages before the first
 *   node, user messages and extension messages always stay.
 *
 * Source: docs/concepts/context.md
 */
export function abandonedIds(messages: readonly AgentMessage[], reverts: readonly RevertRecord[]): ReadonlySet<string> {
  const entries = abandonments(messages, reverts)
  if (entries.length === 0) return noIds
  const trunk = trunkFrom(messages, activeNode(messages, entries))
  const named = new Set(entries.flatMap((entry) => entry.nodeIds))
  const stays: boolean[] = []
  let isOnTrunk = true
  for (let at = messages.length - 1; at >= trunk.firstNode; at -= 1) {
    const message = messages[at]
    const node = message && nodeIdOf(message)
    if (node !== undefined) isOnTrunk = trunk.positions.has(at) || (at < trunk.end && !named.has(node))
    stays[at] = isOnTrunk || message?.role === 'user' || message?.role === 'extension'
  }
  const starts = groupStarts(messages)
  const abandoned = new Set<string>()
  messages.forEach((message, at) => {
    if (stays[starts[at] ?? at] === false) abandoned.add(message.id)
  })
  return abandoned
}

/** Returns a message's node id, if any. */
export function nodeIdOf(message: AgentMessage): number | undefined {
  return isLlmMessage(message) ? message.nodeId : undefined
}

function abandonments(messages: readonly AgentMessage[], reverts: readonly RevertRecord[]): Abandonment[] {
  const found: Abandonment[] = []
  for (const message of messages) {
    if (!isLlmMessage(message) || message.nodeId === undefined || message.tags === undefined) continue
    for (const tag of message.tags) found.push({ target: message.nodeId, nodeIds: tag.abandonedNodeIds })
  }
  for (const revert of reverts) found.push({ target: revert.targetNodeId, nodeIds: revert.abandonedNodeIds })
  return found
}

/** Follows reverts back from the last node: a turn can revert twice, the second time to before the first target. */
function activeNode(messages: readonly AgentMessage[], entries: readonly Abandonment[]): number | undefined {
  let active: number | undefined
  for (let at = messages.length - 1; at >= 0 && active === undefined; at -= 1) {
    const message = messages[at]
    active = message && nodeIdOf(message)
  }
  const backTo = new Map<number, number>()
  for (const { target, nodeIds } of entries) {
    // A revert always leads to a lower id. Any other revert was not created here and could cause an endless loop.
    for (const node of nodeIds) if (target < node) backTo.set(node, target)
  }
  while (active !== undefined) {
    const target = backTo.get(active)
    if (target === undefined) return active
    active = target
  }
  return undefined
}

/** Follows the parents from `active`. Returns the message indexes of these nodes, the lowest index, and the index of the first node. */
function trunkFrom(messages: readonly AgentMessage[], active: number | undefined) {
  const nodes = new Map<number, { at: number; parent: number | undefined }>()
  let firstNode = messages.length
  messages.forEach((message, at) => {
    if (!isLlmMessage(message) || message.nodeId === undefined) return
    if (nodes.size === 0) firstNode = at
    nodes.set(message.nodeId, { at, parent: message.parentId })
  })
  const positions = new Set<number>()
  let end = messages.length
  let node = active === undefined ? undefined : nodes.get(active)
  while (node !== undefined && !positions.has(node.at)) {
    positions.add(node.at)
    end = Math.min(end, node.at)
    node = node.parent === undefined ? undefined : nodes.get(node.parent)
  }
  return { positions, end, firstNode }
}

/** Returns the index of the last message that a compaction summarized or retained before the summary. Returns -1 without a compaction. */
function compactedEnd(messages: readonly AgentMessage[], overlay: CompactionOverlay | undefined): number {
  if (overlay === undefined) return -1
  const ids = [overlay.keepFirst?.lastId, overlay.keepCompacted.range.lastId]
  return messages.findLastIndex((message) => ids.includes(message.id))
}
