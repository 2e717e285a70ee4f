import type { WriteStream } from 'node:tty'
import { styleText } from 'node:util'
import { type AgentEvent, textOf } from 'phi-core'
import type { ApprovalRequestedEvent } from 'phi-core/loop'
import { escapeControls } from 'phi-core/store'

type Format = Parameters<typeof styleText>[0]

/** Prints a run as it happens, with all text escaped. Respects NO_COLOR and pipes, as `styleText` does. */
export function renderTo(out: WriteStream) {
  // Output of a model, a tool or a file must not move the cursor, set the title or reorder text.
  const style = (format: Format, text: string) => styleText(format, escapeControls(text), { stream: out })
  let section: 'text' | 'thinking' | undefined
  const say = (next: typeof section, text = '') => {
    if (section !== undefined && section !== next) out.write('\n')
    section = next
    out.write(text)
  }
  const line = (text: string) => {
    say(undefined)
    out.write(`${text}\n`)
  }
  return {
    line,
    note: (text: string) => line(style('dim', text)),
    prompt: (text: string) => line(style('bold', `> ${text}`)),
    event(event: AgentEvent): void {
      if (event.type === 'messageUpdate' && event.delta.type === 'text') say('text', escapeControls(event.delta.delta))
      if (event.type === 'messageUpdate' && event.delta.type === 'thinking') say('thinking', style('dim', event.delta.delta))
      if (event.type === 'messageEnd') say(undefined)
      if (event.type === 'toolExecutionStart') line(style('cyan', `⚙ ${event.toolName} ${shortened(JSON.stringify(event.args))}`))
      if (event.type === 'toolExecutionEnd') for (const text of head(textOf(event.result.content))) line(style(colorOf(text), `  ${text}`))
      if (event.type === 'providerRetry') line(style('yellow', `${event.error.message} Trying again in ${event.delayMs} ms.`))
    },
    /** Returns what the user approves: the diff of an edit, otherwise the arguments. */
    question({ toolName, args }: ApprovalRequestedEvent): void {
      line(style('yellow', `? ${toolName} ${typeof args.path === 'string' ? args.path : ''} asks for your approval`))
      const { old_text: before, new_text: after } = args
      if (typeof before !== 'string' || typeof after !== 'string') line(`  ${escapeControls(shortened(JSON.stringify(args)))}`)
      else {
        for (const text of before.split('\n')) line(style('red', `  - ${text}`))
        for (const text of after.split('\n')) line(style('green', `  + ${text}`))
      }
    },
    end: (status: string, error?: string) => line(style(error === undefined ? 'dim' : 'red', `[${status}] ${error ?? ''}`.trimEnd())),
  }
}

const colorOf = (text: string): Format => (text.startsWith('FAIL') ? 'red' : text.startsWith('ok') ? 'green' : 'dim')
const shortened = (text: string): string => (text.length > 90 ? `${text.slice(0, 89)}…` : text)

/** Returns the first lines of a tool result. */
function head(text: string): string[] {
  const lines = text.trimEnd().split('\n')
  return lines.length > 9 ? [...lines.slice(0, 8), `… ${lines.length - 8} more lines`] : lines.map(shortened)
}
