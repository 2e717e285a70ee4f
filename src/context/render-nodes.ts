import type { TextContent } from '../types/content.ts'
import type { ContextState, RevertPolicy, RevertRecord } from '../types/context-change.ts'
import { type AgentMessage, isLlmMessage, type ToolResultMessage, text, type UserMessage } from '../types/message.ts'
import { formatNodeId, type NodeTag, type TagKind } from '../types/node-tag.ts'
import { groupStarts } from './call-groups.ts'
import { nodeIdOf } from './revert.ts'

/** A tag, and the node it was left at. */
interface PlacedTag {
  tag: NodeTag
  target: number
}

type Carrier = Extract<AgentMessage, UserMessage | ToolResultMessage>

/** Copies by what was added to them: each is made once, so that encoded forms are found again. */
const copies = new WeakMap<AgentMessage, Map<string, Carrier>>()

/**
 * Shows the model where it can go back to and what it learnt there: the node id as the first block of user messages and tool results
 * (`[n12]`), the tags as their last ones (`[lesson] The port was wrong.`), oldest first.
 *
 * **Contract**
 * - `messages` is what is sent. Answers are never altered: their signatures are bound to them. So a tag stands on the last result of its
 *   target, or, where the target has none, on the last user message or result before its end. When the target is not sent any more, it stands
 *   on the first one with a later node, else on the last.
 * - A tag whose target was itself abandoned is gone. Which others are shown is for `visibleTags` to say.
 * - Messages that carry nothing keep their identity; copies are the same objects at each call.
 *
 * Source: reference/phi-core-0.10.md §1 "Composition I", "Node ids".
 */
export function renderNodes(
  messages: readonly AgentMessage[],
  state: ContextState,
  { policy, turnIndex }: { policy: RevertPolicy; turnIndex: number },
): readonly AgentMessage[] {
  const tags = new Map<number, NodeTag[]>()
  const placed = placedTags(messages, state.reverts ?? [])
  const all = placed.map((each) => each.tag)
  const visible = new Set(visibleTags(all, policy, turnIndex))
  const starts = visible.size === 0 ? [] : groupStarts(messages)
  for (const { tag, target } of placed) {
    const at = visible.has(tag) ? carrierOf(messages, starts, target) : -1
    if (at >= 0) tags.set(at, [...(tags.get(at) ?? []), tag])
  }
  return messages.map((message, at) => (isCarrier(message) ? rendered(message, tags.get(at) ?? []) : message))
}

/**
 * The tags that are still shown: outcomes and checkpoints always, lessons and findings for `windowTurns` turns (the last included) and the
 * newest `keepCount` of each kind whatever their age.
 *
 * **Contract**: `tags` are oldest first, and so is the result. A tag of an earlier loop, whose turns counted for themselves, ages from the
 * turn of the same number on.
 */
export function visibleTags(tags: readonly NodeTag[], policy: RevertPolicy, turnIndex: number): NodeTag[] {
  const newer: Record<TagKind, number> = { lesson: 0, finding: 0, outcome: 0, checkpoint: 0 }
  return tags
    .toReversed()
    .filter(({ kind, createdAtTurn }) => {
      const isKept = newer[kind] < policy.keepCount
      newer[kind] += 1
      return isKept || kind === 'outcome' || kind === 'checkpoint' || turnIndex - createdAtTurn <= policy.windowTurns
    })
    .reverse()
}

/** Every tag that lies on the trunk, oldest first. Those on messages come from sessions of the Rust crate, so before any revert of ours. */
function placedTags(messages: readonly AgentMessage[], reverts: readonly RevertRecord[]): PlacedTag[] {
  const placed: PlacedTag[] = []
  for (const message of messages) {
    if (!isLlmMessage(message) || message.nodeId === undefined) continue
    for (const tag of message.tags ?? []) placed.push({ tag, target: message.nodeId })
  }
  placed.sort((a, b) => a.tag.createdAtTurn - b.tag.createdAtTurn)
  const gone = new Set(reverts.flatMap((revert) => revert.abandonedNodeIds))
  for (const { tag, targetNodeId } of reverts) if (!gone.has(targetNodeId)) placed.push({ tag, target: targetNodeId })
  return placed
}

function carrierOf(messages: readonly AgentMessage[], starts: readonly number[], target: number): number {
  const at = messages.findLastIndex((message) => nodeIdOf(message) === target)
  const end = at < 0 ? -1 : starts.lastIndexOf(starts[at] ?? at)
  const before = messages.slice(0, end + 1).findLastIndex(isCarrier)
  if (before >= 0) return before
  const after = messages.findIndex((message) => isCarrier(message) && (message.nodeId ?? -1) > target)
  return after >= 0 ? after : messages.findLastIndex(isCarrier)
}

function isCarrier(message: AgentMessage): message is Carrier {
  return message.role === 'user' || message.role === 'toolResult'
}

function rendered(message: Carrier, tags: readonly NodeTag[]): Carrier {
  if (message.nodeId === undefined && tags.length === 0) return message
  const notes = tags.map(({ kind, text: words }) => (words === '' ? `[${kind}]` : `[${kind}] ${words}`))
  const key = notes.join('\0')
  let known = copies.get(message)
  if (known === undefined) {
    known = new Map()
    copies.set(message, known)
  }
  let copy = known.get(key)
  if (copy === undefined) {
    const label: TextContent[] = message.nodeId === undefined ? [] : [text(`[${formatNodeId(message.nodeId)}]`)]
    copy = { ...message, content: [...label, ...message.content, ...notes.map(text)] }
    known.set(key, copy)
  }
  return copy
}
