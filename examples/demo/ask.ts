import { createInterface } from 'node:readline/promises'
import type { ApprovalRequestedEvent } from 'phi-core/loop'
import { escapeControls } from 'phi-core/store'
import { gitCommand } from './evidence.ts'

/** Whether the command that asks is the one of the demo's own script, word for word: nobody else wrote it, so nobody has to be asked. */
export function isOwnCommand({ toolName, arguments: args }: ApprovalRequestedEvent): boolean {
  return toolName === 'bash' && Object.keys(args).length === 1 && args.command === gitCommand
}

/** Shows a person what wants to run and waits for the answer; without a terminal nobody can answer, and the answer is no. */
export async function askPerson({ toolName, arguments: args }: ApprovalRequestedEvent, signal: AbortSignal): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return false
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  // The interface takes Ctrl-C for itself.
  terminal.on('SIGINT', () => process.emit('SIGINT'))
  try {
    const shown = escapeControls(typeof args.command === 'string' ? args.command : JSON.stringify(args))
    const answer = await terminal.question(`? ${toolName} wants to run:\n  ${shown.replaceAll('\n', '\n  ')}\n  Allow? [y/N] `, { signal })
    return /^y(es)?$/i.test(answer.trim())
  } catch {
    return false // stopped while it waited
  } finally {
    terminal.close()
  }
}
