import { isLlmMessage, type LlmMessage } from '../../../src/context/index.ts'
import type { AgentMessage } from '../../../src/index.ts'
import type { Session } from '../../../src/session/index.ts'
import { type Marks, marksIn } from '../state/backend/marks.ts'
import { chainOf } from '../state/conversation/opened-state.ts'

/** A conversation to read: its newest path, with calls and results. */
export function sessionMarkdown(session: Session): string {
  const { title, createdAt } = session
  const messages: readonly AgentMessage[] = chainOf(session, undefined).flatMap((loop) => loop.messages)
  const head = `# ${title ?? 'Conversation'}\n\n${new Date(createdAt).toISOString()} · phi-core\n`
  const marks = marksIn(session.sharedState?.value)
  return [head, ...messages.filter(isLlmMessage).map((message) => section(message, marks))].join('\n')
}

function section(message: LlmMessage, marks: Marks): string {
  const heading = message.role === 'toolResult' ? `### ${message.toolName} answered` : `## ${speaker(message)}${marked(marks[message.id])}`
  return `${heading}\n\n${message.content.map((block) => blockText(block, message)).join('\n\n')}\n`
}

/** What a person said of it. */
function marked(mark: Marks[string] | undefined): string {
  return mark === undefined ? '' : ` (marked as ${mark})`
}

function speaker(message: Exclude<LlmMessage, { role: 'toolResult' }>): string {
  if (message.role === 'assistant') return message.model
  return message.provenanceHint?.kind === 'background' ? 'Background' : 'User'
}

function blockText(block: LlmMessage['content'][number], { role }: LlmMessage): string {
  if (block.type === 'text') return role === 'toolResult' ? fenced(block.text) : block.text
  if (block.type === 'thinking') return `> ${block.thinking.replaceAll('\n', '\n> ')}`
  if (block.type === 'image') return `*Image, ${block.mimeType}*`
  if (block.type === 'file') return `*File ${block.name ?? ''}, ${block.mimeType}*`
  if (block.type !== 'toolCall') return `*${block.type}*`
  return `**Calls \`${block.name}\`**\n\n${fenced(JSON.stringify(block.arguments, undefined, 2))}`
}

/** A fence longer than any run of backticks within. */
function fenced(text: string): string {
  const longest = (text.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2)
  const fence = '`'.repeat(longest + 1)
  return `${fence}\n${text}\n${fence}`
}
