import type { AssistantMessage } from '../../contract/message/message.ts'
import type { ResponseDelta } from '../../types/run/plugin.ts'
import type { WordFilter } from './plugin-port.ts'

/** The `delta` stage of one plugin. */
export type WordStage = (delta: ResponseDelta) => string

type Words = ResponseDelta['type']
type WordBlock = Extract<AssistantMessage['content'][number], { type: Words }>

/** What a block has come to: the words of the model, and what is shown in their place. */
interface Block {
  type: Words
  raw: string
  shown: string
}

/**
 * Passes the words of one message through `stages`, in order. The message then says what was shown, and nothing that still holds the words of the model:
 * no citations and no state of the service for a block that was changed, no figures of its tokens.
 */
export function wordFilter(stages: readonly WordStage[], messageId: string): WordFilter {
  const blocks = new Map<number, Block>()

  /** What is shown now that `text` has come. */
  const pass = (contentIndex: number, type: Words, text: string, isLast: boolean): string => {
    const block = blocks.get(contentIndex) ?? { type, raw: '', shown: '' }
    blocks.set(contentIndex, block)
    block.raw += text
    const shown = stages.reduce((words, stage) => stage({ type, messageId, contentIndex, text: words, isLast }), text)
    block.shown += shown
    return shown
  }

  return {
    take(event) {
      if (event.type !== 'text' && event.type !== 'thinking') return event
      const delta = pass(event.contentIndex, event.type, event.delta, false)
      return delta === '' ? undefined : { ...event, delta }
    },
    close(message, show) {
      message.content = message.content.map((block, contentIndex) => {
        if (block.type !== 'text' && block.type !== 'thinking') return block
        const { raw = '', shown = '' } = blocks.get(contentIndex) ?? {}
        const words = wordsOf(block)
        // What the message has and no event said. Another text than was said is no news of the model.
        const rest = words.startsWith(raw) ? words.slice(raw.length) : ''
        if (words === '' && raw === '') return block
        const delta = pass(contentIndex, block.type, rest, true)
        if (delta !== '') show({ type: block.type, contentIndex, delta })
        return withWords(block, shown + delta)
      })
      if ([...blocks.values()].some(({ raw, shown }) => raw !== shown)) delete message.logprobs
    },
  }
}

function wordsOf(block: WordBlock): string {
  return block.type === 'text' ? block.text : block.thinking
}

function withWords(block: WordBlock, words: string): WordBlock {
  if (words === wordsOf(block)) return block
  return block.type === 'text' ? { type: 'text', text: words } : { type: 'thinking', thinking: words }
}
