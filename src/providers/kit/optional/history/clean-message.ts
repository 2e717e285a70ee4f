import { interrupted, mediaName, serviceToolText, wordsOf } from '../../../../contract/message/block-words.ts'
import { type Content, isMedia, type TextContent, type ToolCallContent } from '../../../../contract/message/content.ts'
import { type AssistantMessage, type Message, shownContent, text, type UserMessage } from '../../../../contract/message/message.ts'
import { perObject } from '../../encode/json-pieces.ts'
import { isAuthor, isStateOf, type NormaliseTarget } from '../../history/target.ts'
import { leftOutAt, leftOutFor, takenMedia } from '../media/media-rules.ts'

/** Caches copies per target and message. */
const copies = perObject((_target: NormaliseTarget) => new WeakMap<Message, Message>())

const noOutput: TextContent = { type: 'text', text: '(no tool output)' }
const noText: TextContent = { type: 'text', text: '(empty message)' }

/**
 * Converts `message` to a form that `target` accepts, regardless of the other messages. Returns the same object if nothing changed,
 * otherwise the same copy at each call, or `undefined` if nothing is left.
 */
export function cleanMessage(message: Message, target: NormaliseTarget): Message | undefined {
  const cleaned = cleaning(message, target)
  if (cleaned === message || cleaned === undefined) return cleaned
  const known = copies(target)
  const before = known.get(message)
  if (before === undefined) known.set(message, cleaned)
  return before ?? cleaned
}

function cleaning(message: Message, target: NormaliseTarget): Message | undefined {
  if (message.role === 'assistant') return cleanAssistant(message, target)
  // `HistoryWalk` sets a result's id.
  const content = shown(message.content, target, message.role === 'user' ? noText : noOutput)
  return content === message.content ? message : { ...message, content }
}

/** Returns text and images, or `placeholder` if none is left. */
function shown(content: Content[], target: NormaliseTarget, placeholder: TextContent): Content[] {
  const kept = mapBlocks(content, (block) => {
    if (isMedia(block)) return takenMedia(block, target.media, target.api, content)
    return block.type === 'text' && block.text.trim() !== '' ? withoutForeignState(block, target, false) : undefined
  })
  return kept.length === 0 ? [placeholder] : kept
}

/** Drops a failed response, because it may contain an incomplete block, which providers reject. */
function cleanAssistant(message: AssistantMessage, target: NormaliseTarget): AssistantMessage | undefined {
  if (message.stopReason === 'error' || message.stopReason === 'aborted') return undefined
  const isOwn = isAuthor(message, target)
  const mayBeOpen = message.stopReason === 'paused' || message.stopReason === 'toolUse'
  const shownBlocks = shownContent(message)
  const isUncited = shownBlocks.some((block) => block.type === 'serviceTool' && target.knowsTool?.(block) === false)
  let content = mapBlocks(shownBlocks, (block) => {
    // Omit a provider-executed tool without an outcome.
    if (!mayBeOpen && isUnended(block)) return undefined
    // Remove the citation state, which requires the omitted tool call.
    const isBare = isUncited && block.type === 'text' && block.providerState !== undefined
    return cleanAssistantBlock(isBare ? withoutState(block) : block, target, isOwn)
  })
  // A response must not end with thinking.
  const end = content.findLastIndex((block) => block.type !== 'thinking') + 1
  if (end < content.length) content = content.slice(0, end)
  if (content.length === 0) {
    const words = message.content.map(wordsOf).find((each) => each !== undefined)
    return words === undefined ? undefined : { ...message, content: [text(words)] }
  }
  return content === message.content ? message : { ...message, content }
}

function cleanAssistantBlock(block: Content, target: NormaliseTarget, isOwn: boolean): Content | undefined {
  const goesBack = isOwn && isStateOf(block, target)
  switch (block.type) {
    case 'thinking':
      return goesBack && target.keepsThinking(block) ? block : undefined
    // `picturesOf` sends a block without provider state in a following user message.
    case 'image':
    case 'file':
      if (!goesBack || block.providerState === undefined) return undefined
      return target.takesBack?.(block) === false ? leftOutFor(block, `this model does not accept ${mediaName(block)}`) : block
    case 'serviceTool':
      return goesBack && block.providerState !== undefined && target.knowsTool?.(block) !== false ? block : text(serviceToolText(block))
    case 'opaque':
      return goesBack ? block : undefined
    case 'toolCall':
      return legalCall(withoutForeignState(block, target, isOwn), target, goesBack)
    case 'text': {
      const cleaned = withoutForeignState(block, target, isOwn)
      return cleaned.text.trim() !== '' || cleaned.providerState !== undefined ? cleaned : undefined
    }
  }
}

/** Returns whether a provider-executed tool has no outcome. */
function isUnended(block: Content): boolean {
  return block.type === 'serviceTool' && (block.status === 'running' || block.error?.code === interrupted)
}

const shownBefore: TextContent = { type: 'text', text: '(What the answer above showed:)' }
const shownMedia = new WeakMap<Message, UserMessage>()

/**
 * Returns response media that the provider does not accept from a model, as a user message, so that the next model receives them. Returns
 * the same object at each call, or `undefined` if there are none.
 */
export function picturesOf({ content }: AssistantMessage, cleaned: AssistantMessage): UserMessage | undefined {
  const known = shownMedia.get(cleaned)
  if (known !== undefined) return known
  const media = content.filter((block) => isMedia(block) && !cleaned.content.includes(block))
  const shown = media.filter((block) => !cleaned.content.some((each) => leftOutAt(each)?.block === block))
  if (shown.length === 0) return undefined
  const made: UserMessage = { role: 'user', content: [shownBefore, ...shown], timestamp: 0 }
  shownMedia.set(cleaned, made)
  return made
}

/** Returns the text of an aborted response as a complete response, or `undefined` if it has no text. */
export const stoppedText = perObject((message: AssistantMessage): AssistantMessage | undefined => {
  // Keep only the text, because attached state may be incomplete.
  const content = message.content.flatMap((block) => (block.type === 'text' && block.text.trim() !== '' ? [text(block.text)] : []))
  const { errorMessage: _stopped, ...answer } = message
  return content.length === 0 ? undefined : { ...answer, content, stopReason: 'stop' }
})

function legalCall(call: ToolCallContent, target: NormaliseTarget, isIssued: boolean): ToolCallContent {
  const id = isIssued && call.id !== '' ? call.id : target.toolCallId(call.id)
  const hasForgedArguments = call.invalidArguments !== undefined && Object.keys(call.arguments).length > 0
  if (id === call.id && !hasForgedArguments) return call
  return { ...call, id, arguments: call.invalidArguments === undefined ? call.arguments : {} }
}

function withoutForeignState<Block extends TextContent | ToolCallContent>(block: Block, target: NormaliseTarget, isOwn: boolean): Block {
  const state = block.providerState
  return state === undefined || (isOwn && isStateOf(block, target)) ? block : withoutState(block)
}

function withoutState<Block extends TextContent | ToolCallContent>(block: Block): Block {
  const bare = { ...block }
  delete bare.providerState
  return bare
}

/** Replaces each block of `content` by `change` (`undefined` drops it). Returns the same array if nothing changed. */
function mapBlocks(content: Content[], change: (block: Content) => Content | undefined): Content[] {
  let changed: Content[] | undefined
  let at = 0
  for (const block of content) {
    const next = change(block)
    if (next !== block) changed ??= content.slice(0, at)
    if (changed !== undefined && next !== undefined) changed.push(next)
    at += 1
  }
  return changed ?? content
}
