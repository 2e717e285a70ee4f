import type { ContextState, RevertPolicy, RevertRecord } from '../../contract/context/context-change.ts'
import type { Content, TextContent } from '../../contract/message/content.ts'
import { formatNodeId, type NodeTag, type TagKind } from '../../contract/message/identity.ts'
import { type AgentMessage, isLlmMessage, type ToolResultMessage, text, textOf, type UserMessage } from '../../contract/message/message.ts'
import { fenced, fenceToken, isBridge, withoutToken } from '../view/stand-in.ts'
import { groupStarts } from '../view/turns.ts'
import { nodeIdOf } from './revert.ts'

/** A tag and its node. */
interface PlacedTag {
  tag: NodeTag
  target: number
}

type Carrier = Extract<AgentMessage, UserMessage | ToolResultMessage>

/** Copies by added text. Each copy is created once, so that its encoded form is reused. */
const copies = new WeakMap<AgentMessage, Map<string, Carrier>>()
const tokens = new WeakMap<AgentMessage, string>()

/**
 * Adds node ids and tags for the model: the node id as the first block of user messages and tool results
 * (`<<k3f9a2b1 [n12] k3f9a2b1>>`), tags as the last ones (`<<k3f9a2b1 [lesson] The port was wrong. k3f9a2b1>>`), oldest first.
 *
 * **Contract**
 * - `messages` are those that are sent. Responses are never changed, because signatures cover them. So a tag is on the last result of its
 *   target or, without one, on the last user message or result before its end. If the target is no longer sent, the tag is on the first
 *   message with a later node, or otherwise on the last message.
 * - The token around ids and tags comes from the id of the first numbered message that is sent. It is stable while that message is sent,
 *   unguessable, and removed from message texts: no tool can forge an id or a tag.
 * - A tag whose target was abandoned is dropped. `visibleTags` selects from the remaining tags.
 * - Messages without additions keep their identity. Copies are the same objects at each call.
 *
 * Source: docs/concepts/context.md
 */
export function renderNodes(
  messages: readonly AgentMessage[],
  state: ContextState,
  { policy, turnIndex }: { policy: RevertPolicy; turnIndex: number },
): readonly AgentMessage[] {
  const placed = placedTags(messages, state.reverts ?? [])
  const visible = new Set(
    visibleTags(
      placed.map((each) => each.tag),
      policy,
      turnIndex,
    ),
  )
  const shown = placed.filter(({ tag }) => visible.has(tag))
  const numbered = messages.find((message) => nodeIdOf(message) !== undefined)
  if (shown.length === 0 && numbered === undefined) return messages
  const tags = tagsByPlace(messages, shown)
  const token = tokenOf(numbered ?? messages[0])
  return messages.map((message, at) => (isCarrier(message) ? rendered(message, tags.get(at) ?? [], token) : message))
}

/**
 * Returns the visible tags: all outcomes and checkpoints, lessons and findings of the last `windowTurns` turns (inclusive), and the newest
 * `keepCount` of each kind at any age.
 *
 * **Contract**: `tags` are oldest first, and so is the result. A tag of an earlier loop ages from the turn with the same number, because each loop counts its turns separately.
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

/** Returns every tag on the trunk, oldest first. Tags on messages come from sessions of the Rust crate, and precede our reverts. */
function placedTags(messages: readonly AgentMessage[], reverts: readonly RevertRecord[]): PlacedTag[] {
  const placed: PlacedTag[] = []
  for (const message of messages) {
    if (!isLlmMessage(message) || message.nodeId === undefined) continue
    for (const tag of message.tags ?? []) placed.push({ tag, target: message.nodeId })
  }
  placed.sort((a, b) => a.tag.createdAtTurn - b.tag.createdAtTurn)
  const abandoned = new Set(reverts.flatMap((revert) => revert.abandonedNodeIds))
  for (const { tag, targetNodeId } of reverts) if (!abandoned.has(targetNodeId)) placed.push({ tag, target: targetNodeId })
  return placed
}

/** Returns tags by the index of their message. */
function tagsByPlace(messages: readonly AgentMessage[], placed: readonly PlacedTag[]): Map<number, NodeTag[]> {
  const tags = new Map<number, NodeTag[]>()
  if (placed.length === 0) return tags
  const carrierOf = carriersIn(messages)
  for (const { tag, target } of placed) {
    const at = carrierOf(target)
    if (at < 0) continue
    const own = tags.get(at)
    if (own === undefined) tags.set(at, [tag])
    else own.push(tag)
  }
  return tags
}

/**
 * Returns the index for tags of a target: its last result, otherwise the carrier before its end, otherwise the first one of a later node,
 * otherwise the last.
 */
function carriersIn(messages: readonly AgentMessage[]): (target: number) => number {
  const starts = groupStarts(messages)
  const ends = new Map<number, number>()
  const places = new Map<number, number>()
  const carrierUpTo: number[] = []
  let last = -1
  for (const [at, message] of messages.entries()) {
    if (isCarrier(message)) last = at
    carrierUpTo.push(last)
    ends.set(starts[at] ?? at, at)
    const node = nodeIdOf(message)
    if (node !== undefined) places.set(node, at)
  }
  return (target) => {
    const at = places.get(target)
    const before = at === undefined ? -1 : (carrierUpTo[ends.get(starts[at] ?? at) ?? at] ?? -1)
    if (before >= 0) return before
    const after = messages.findIndex((message) => isCarrier(message) && (message.nodeId ?? -1) > target)
    return after >= 0 ? after : last
  }
}

function isCarrier(message: AgentMessage): message is Carrier {
  return (message.role === 'user' && !isBridge(message)) || message.role === 'toolResult'
}

/** Ids are random, unless an application sets its own. A tool does not know time and text then. */
function tokenOf(message: AgentMessage | undefined): string {
  if (message === undefined || !isLlmMessage(message)) return fenceToken(message?.id ?? '')
  let token = tokens.get(message)
  if (token === undefined) {
    token = fenceToken(`${message.id} ${message.timestamp} ${textOf(message.content)}`)
    tokens.set(message, token)
  }
  return token
}

function rendered(message: Carrier, tags: readonly NodeTag[], token: string): Carrier {
  if (message.nodeId === undefined && tags.length === 0) return message
  const notes = tags.map(({ kind, text: words }) => fenced(words === '' ? `[${kind}]` : `[${kind}] ${words}`, token))
  const key = [token, ...notes].join('\0')
  let known = copies.get(message)
  if (known === undefined) {
    known = new Map()
    copies.set(message, known)
  }
  let copy = known.get(key)
  if (copy === undefined) {
    const label: TextContent[] = message.nodeId === undefined ? [] : [text(fenced(`[${formatNodeId(message.nodeId)}]`, token))]
    copy = { ...message, content: [...label, ...message.content.map((block) => escaped(block, token)), ...notes.map(text)] }
    known.set(key, copy)
  }
  return copy
}

function escaped(block: Content, token: string): Content {
  if (block.type !== 'text') return block
  const words = withoutToken(block.text, token)
  return words === block.text ? block : { ...block, text: words }
}
