import { createInterface } from 'node:readline/promises'
import type { ApprovalRequestedEvent } from 'phi-core/loop'
import { ownEdit } from './project.ts'

/** Whether the edit that asks is the one of the demo's own script, word for word: where nobody is there to be asked, that one is made all the same. */
export function isOwnEdit({ toolName, args }: ApprovalRequestedEvent): boolean {
  const own = Object.entries(ownEdit)
  return toolName === 'edit_file' && Object.keys(args).length === own.length && own.every(([name, value]) => args[name] === value)
}

/** Whether somebody sits in front of this. */
export const isAttended = (): boolean => process.stdin.isTTY === true && process.stdout.isTTY === true

/** Waits for the answer of a person. The signal means no. */
export async function askPerson(signal: AbortSignal): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  // The interface takes Ctrl-C for itself.
  terminal.on('SIGINT', () => process.emit('SIGINT'))
  try {
    return /^y(es)?$/i.test((await terminal.question('  Allow? [y/N] ', { signal })).trim())
  } catch {
    return false // stopped while it waited
  } finally {
    terminal.close()
  }
}
