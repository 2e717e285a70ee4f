import { shortened } from '../../../../src/base/text/characters.ts'
import { isReport } from '../../../../src/contract/message/message.ts'
import { type AgentMessage, textOf } from '../../../../src/index.ts'
import { joined, type Painted } from '../terminal/paint.ts'
import type { Screen } from '../terminal/screen.ts'
import { callLines, subjectOf } from './call-lines.ts'
import { MarkdownLines } from './markdown.ts'

/** Number of turns to show in full, and maximum length per text. */
const shownTurns = 3
const longestText = 2000
const longestAnswer = 20_000

/** Shows a restored conversation: the last turns, and a summary line for earlier ones. */
export function showPast(messages: readonly AgentMessage[], screen: Screen): void {
  const prompts = messages.flatMap((message, at) => (message.role === 'user' && !isReport(message) ? [at] : []))
  const from = prompts.at(-shownTurns) ?? 0
  const { paint } = screen.paint
  if (from > 0) screen.line(paint('dim', `┄ earlier: ${from} messages, starting with "${firstWords(messages[prompts[0] ?? 0])}"`))
  for (const message of messages.slice(from)) for (const line of linesOf(message, messages, screen)) screen.line(line)
  if (messages.length > 0) screen.line(paint('dim', '┄ end of history'))
}

function linesOf(message: AgentMessage, messages: readonly AgentMessage[], screen: Screen): Painted[] {
  const { paint, plain } = screen.paint
  if (message.role === 'user') {
    const text = textOf(message.content).trim()
    const mark = isReport(message) ? paint('dim', '┄ ') : paint('green', '› ')
    return [joined(mark, plain(shortened(text, longestText)))]
  }
  if (message.role !== 'assistant') return []
  return message.content.flatMap((block) => {
    if (block.type === 'text') return answerLines(block.text.slice(0, longestAnswer), screen)
    if (block.type !== 'toolCall') return []
    const result = messages.find((other) => other.role === 'toolResult' && other.toolCallId === block.id)
    if (result?.role !== 'toolResult') return []
    const { name: toolName, arguments: args } = block
    return callLines({ toolName, subject: subjectOf(args), isError: result.isError, result }, screen.paint, screen.width)
  })
}

function answerLines(text: string, screen: Screen): Painted[] {
  const markdown = new MarkdownLines(screen.paint, () => screen.width)
  const lines = [...markdown.push(text), ...markdown.end()]
  return lines.slice(lines.findIndex((line) => line.trim() !== ''))
}

function firstWords(message: AgentMessage | undefined): string {
  const [line = ''] = message?.role === 'user' ? textOf(message.content).trim().split('\n', 1) : []
  return line.length > 60 ? `${line.slice(0, 59)}…` : line
}
