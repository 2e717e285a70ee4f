import type { WriteStream } from 'node:tty'
import { styleText } from 'node:util'
import { type AgentEvent, textOf, type Usage } from 'phi-core'
import type { ApprovalRequestedEvent } from 'phi-core/loop'
import { escapeControls } from 'phi-core/store'

/** Calls of one turn beyond this many are summed up in one line. */
const shownCalls = 4

/** Prints a run as it happens, nothing of it unescaped. Honours NO_COLOR and pipes, as `styleText` does. */
export function renderTo(out: WriteStream) {
  // What a model, a tool or a file wrote must not move the cursor, set a title or reorder what is read.
  const style = (format: Parameters<typeof styleText>[0], text: string) => styleText(format, escapeControls(text), { stream: out })
  let section = ''
  let calls = 0
  let hidden = 0

  const begin = (next: string) => {
    if (section !== '' && section !== next) out.write('\n')
    section = next
  }
  const line = (text: string) => {
    begin('line')
    out.write(`${text}\n`)
  }
  const flushHidden = () => {
    if (hidden > 0) line(style('dim', `  … and ${hidden} more calls`))
    hidden = 0
    calls = 0
  }

  return {
    prompt: (text: string) => line(style('bold', `> ${text}`)),
    event(event: AgentEvent): void {
      if (event.type === 'turnStart' || event.type === 'turnEnd') flushHidden()
      if (event.type === 'messageUpdate' && event.delta.type === 'text') {
        begin('text')
        out.write(escapeControls(event.delta.delta))
      }
      if (event.type === 'messageUpdate' && event.delta.type === 'thinking') {
        begin('thinking')
        out.write(style('dim', event.delta.delta))
      }
      if (event.type === 'messageEnd' && event.message.role === 'assistant' && section !== 'line') {
        out.write('\n')
        section = 'line'
      }
      if (event.type === 'toolExecutionStart' && ++calls <= shownCalls)
        line(style('cyan', `⚙ ${event.toolName} ${JSON.stringify(event.args)}`))
      if (event.type === 'toolExecutionEnd') {
        if (calls > shownCalls) hidden = calls - shownCalls
        else line(style(event.isError ? 'red' : 'dim', summary(textOf(event.result.content))))
      }
      if (event.type === 'providerRetry') line(style('yellow', `${event.error.message} Trying again in ${event.delayMs} ms.`))
    },
    decided({ toolName }: ApprovalRequestedEvent, isAllowed: boolean): void {
      line(style('yellow', `? ${toolName} asked for approval: ${isAllowed ? 'given, it runs in a sandbox' : 'not given'}`))
    },
    end(status: string, usage: Usage, error?: string): void {
      const tokens = usage.totalTokens > 0 ? `, ${usage.totalTokens} tokens` : ''
      line(style(error === undefined ? 'dim' : 'red', `[${status}${tokens}]${error === undefined ? '' : ` ${error}`}`))
    },
  }
}

/** The first lines of a tool's output, indented. */
function summary(text: string): string {
  const lines = text.trimEnd().split('\n')
  const shown = lines.slice(0, 6).map((line) => `  ${line.length > 110 ? `${line.slice(0, 109)}…` : line}`)
  if (lines.length > 6) shown.push(`  … ${lines.length - 6} more lines`)
  return shown.join('\n')
}
