import { isLlmMessage, type LlmMessage } from '../../../src/context.ts'
import type { AgentMessage } from '../../../src/index.ts'
import type { Session } from '../../../src/session.ts'
import { type Marks, marksIn } from '../state/backend/marks.ts'
import { chainOf } from '../state/conversation/opened-state.ts'
import { type Misfits, noMisfits } from '../state/log/answer-fit.ts'
import { originLabel } from '../state/log/run-words.ts'
import { stopWord } from '../state/log/why-ended.ts'

/** Returns a conversation as Markdown: its newest path, with calls and results. */
export function sessionMarkdown(session: Session, misfits = noMisfits): string {
  const { title, createdAt } = session
  const messages: readonly AgentMessage[] = chainOf(session, undefined).flatMap((loop) => loop.messages)
  const head = `# ${title ?? 'Conversation'}\n\n${new Date(createdAt).toISOString()} · phi-core\n`
  const marks = marksIn(session.sharedState?.value)
  return [head, ...messages.filter(isLlmMessage).map((message) => section(message, marks, misfits))].join('\n')
}

function section(message: LlmMessage, marks: Marks, misfits: Misfits): string {
  const heading =
    message.role === 'toolResult'
      ? `### Result of \`${message.toolName}\``
      : `## ${speaker(message)}${ended(message, misfits)}${marked(marks[message.id])}`
  return `${heading}\n\n${message.content.map((block) => blockText(block, message)).join('\n\n')}\n`
}

/** The user's rating. */
function marked(mark: Marks[string] | undefined): string {
  return mark === undefined ? '' : ` (marked as ${mark})`
}

function speaker(message: Exclude<LlmMessage, { role: 'toolResult' }>): string {
  return message.role === 'assistant' ? message.model : (originLabel(message) ?? 'User')
}

/** The reason why a response is incomplete. */
function ended(message: LlmMessage, misfits: Misfits): string {
  const word = stopWord({ message }, misfits)
  return word === undefined ? '' : ` (${word})`
}

function blockText(block: LlmMessage['content'][number], { role }: LlmMessage): string {
  if (block.type === 'text') return role === 'toolResult' ? fenced(block.text) : block.text
  if (block.type === 'thinking') return `> ${block.thinking.replaceAll('\n', '\n> ')}`
  if (block.type === 'image') return `*Picture, ${block.mimeType}*`
  if (block.type === 'file') return `*File ${block.name ?? ''}, ${block.mimeType}*`
  if (block.type !== 'toolCall') return `*${block.type}*`
  return `**Calls \`${block.name}\`**\n\n${fenced(JSON.stringify(block.arguments, undefined, 2))}`
}

/** Returns a fence that is longer than any run of backticks in the text. */
function fenced(text: string): string {
  const longest = (text.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2)
  const fence = '`'.repeat(longest + 1)
  return `${fence}\n${text}\n${fence}`
}
