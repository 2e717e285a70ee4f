import type { AssistantMessage } from '../../contract/message/message.ts'
import type { StreamDelta } from '../../contract/model/request.ts'
import type { ResponseDelta } from '../../types/run/plugin.ts'
import type { WordFilter } from './plugin-port.ts'

/** The `delta` stage of one plugin. */
export type WordStage = (delta: ResponseDelta) => string

type Words = ResponseDelta['type']
type WordBlock = Extract<AssistantMessage['content'][number], { type: Words }>

/** Flags of a delta before the block's last one. */
const on = { isLast: false, isCut: false }

/** A block's state: the model's text and the shown text. */
interface Block {
  contentIndex: number
  raw: string
  shown: string
}

/** Map key for the refusal text, which is streamed after all blocks but is not a block. */
const refused = 'refusal'

/**
 * Passes one message's text through `stages`, in order. The final message contains only the shown text. Changed blocks lose citations,
 * provider state and token probabilities.
 */
export function wordFilter(stages: readonly WordStage[], messageId: string): WordFilter {
  const blocks = new Map<number | typeof refused, Block>()

  const blockAt = (key: number | typeof refused, contentIndex: number): Block => {
    const block = blocks.get(key) ?? { contentIndex, raw: '', shown: '' }
    blocks.set(key, block)
    return block
  }

  /** Returns the text to show for the new `text`. */
  const pass = (block: Block, type: Words, text: string, end: Pick<ResponseDelta, 'isLast' | 'isCut'> = on): string => {
    const { contentIndex } = block
    block.raw += text
    const shown = stages.reduce((words, stage) => stage({ type, messageId, contentIndex, text: words, ...end }), text)
    block.shown += shown
    return shown
  }

  /** Processes a block's final text that no event contained. If the final text differs from the streamed text, keeps the streamed text. */
  const passRest = (block: Block, type: Words, words: string, message: AssistantMessage): string =>
    pass(block, type, words.startsWith(block.raw) ? words.slice(block.raw.length) : '', { isLast: true, isCut: isCut(message) })

  const closeRefusal = (words: string, message: AssistantMessage, show: (event: StreamDelta) => void): void => {
    const wasStreamed = blocks.has(refused)
    const block = blockAt(refused, message.content.length)
    const delta = passRest(block, 'text', words, message)
    if (wasStreamed && delta !== '') show({ type: 'text', contentIndex: block.contentIndex, delta, refusal: true })
    message.refusal = block.shown
  }

  return {
    take(event) {
      if (event.type !== 'text' && event.type !== 'thinking') return event
      const { type, contentIndex } = event
      const key = type === 'text' && event.refusal === true ? refused : contentIndex
      const delta = pass(blockAt(key, contentIndex), type, event.delta)
      return delta === '' ? undefined : { ...event, delta }
    },
    close(message, show) {
      message.content = message.content.map((block, contentIndex) => {
        if (block.type !== 'text' && block.type !== 'thinking') return block
        const words = wordsOf(block)
        if (words === '' && !blocks.has(contentIndex)) return block
        const passed = blockAt(contentIndex, contentIndex)
        const delta = passRest(passed, block.type, words, message)
        if (delta !== '') show({ type: block.type, contentIndex, delta })
        return withWords(block, passed.shown)
      })
      if (message.refusal !== undefined) closeRefusal(message.refusal, message, show)
      if ([...blocks.values()].some(({ raw, shown }) => raw !== shown)) delete message.logprobs
    },
  }
}

/** Returns whether the text may be truncated within a word. A refusal is complete. */
function isCut({ stopReason, refusal }: AssistantMessage): boolean {
  return stopReason !== 'stop' && stopReason !== 'toolUse' && (stopReason !== 'guardRail' || refusal === undefined)
}

function wordsOf(block: WordBlock): string {
  return block.type === 'text' ? block.text : block.thinking
}

function withWords(block: WordBlock, words: string): WordBlock {
  if (words === wordsOf(block)) return block
  return block.type === 'text' ? { type: 'text', text: words } : { type: 'thinking', thinking: words }
}
