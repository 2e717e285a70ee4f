import { headOf, tailOf } from '../../base/text/characters.ts'
import type { AgentMessage } from '../../contract/message/message.ts'
import type { TokenCounter } from '../../types/context/compaction.ts'
import { totalTokens } from '../tokens/estimate.ts'

const cutMark = /\n\n\[\.\.\. (\d+) lines truncated \.\.\.\]\n\n/

/**
 * Cuts `text` to at most `maxLines` lines: half of them (rounded down) from its start, the others from its end, and a line with the number of
 * missing lines in between. Text that was cut before and is short enough stays unchanged. When text is cut again, the counts of missing
 * lines are added. The result is never longer than the input.
 */
function truncateLines(text: string, maxLines: number): string {
  const mark = cutMark.exec(text)
  const lines = mark === null ? linesOf(text) : [...linesOf(text.slice(0, mark.index)), ...linesOf(text.slice(mark.index + mark[0].length))]
  if (lines.length <= maxLines) return text
  const head = Math.floor(maxLines / 2)
  const tail = maxLines - head
  const omitted = lines.length - maxLines + Number(mark?.[1] ?? 0)
  const end = lines.slice(lines.length - tail).join('\n')
  const cut = `${lines.slice(0, head).join('\n')}\n\n[... ${omitted} lines truncated ...]\n\n${end}`
  return cut.length < text.length ? cut : text
}

/** Cuts long tool outputs in `messages` to `maxLines` lines. Short messages keep their identity, and shortened messages keep their id. */
export function cutToolOutputs(messages: readonly AgentMessage[], maxLines: number): AgentMessage[] {
  return mapToolTexts(messages, (text) => truncateLines(text, maxLines))
}

/**
 * Cuts tool outputs in `messages` to fewer and fewer lines, then characters, until the messages fit `maxTokens`, or to the minimum if they
 * never fit.
 */
export function cutToolOutputsToFit(
  messages: readonly AgentMessage[],
  { maxTokens, maxLines, counter }: { maxTokens: number; maxLines: number; counter: TokenCounter },
): AgentMessage[] {
  let cut = cutToolOutputs(messages, maxLines)
  for (let lines = maxLines >> 1; lines >= 4 && totalTokens(cut, counter) > maxTokens; lines >>= 1) cut = cutToolOutputs(messages, lines)
  const few = cut
  for (let characters = 4096; characters >= 64 && totalTokens(cut, counter) > maxTokens; characters >>= 1) {
    cut = mapToolTexts(few, (text) => truncateCharacters(text, characters))
  }
  return cut
}

/** A trailing line break ends a line and starts none. */
function linesOf(text: string): string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

function truncateCharacters(text: string, maxCharacters: number): string {
  const note = (omitted: number) => `\n\n[... ${omitted} characters truncated ...]\n\n`
  if (text.length <= maxCharacters + note(text.length).length) return text
  const head = headOf(text, maxCharacters / 2)
  const tail = tailOf(text, maxCharacters / 2)
  return head + note(text.length - head.length - tail.length) + tail
}

function mapToolTexts(messages: readonly AgentMessage[], change: (text: string) => string): AgentMessage[] {
  return messages.map((message) => {
    if (message.role !== 'toolResult') return message
    let isSame = true
    const content = message.content.map((block) => {
      const text = block.type === 'text' ? change(block.text) : ''
      if (block.type !== 'text' || text === block.text) return block
      isSame = false
      return { ...block, text }
    })
    return isSame ? message : { ...message, content }
  })
}
