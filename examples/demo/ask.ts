import { createInterface } from 'node:readline/promises'
import type { ApprovalRequestedEvent } from 'phi-core/loop'
import { ownEdit } from './project.ts'

/** Returns whether a pending edit is exactly the edit of the demo script, which runs without approval if there is no terminal. */
export function isOwnEdit({ toolName, args }: ApprovalRequestedEvent): boolean {
  const own = Object.entries(ownEdit)
  return toolName === 'edit_file' && Object.keys(args).length === own.length && own.every(([name, value]) => args[name] === value)
}

/** Returns whether input and output are a terminal. */
export const isAttended = (): boolean => process.stdin.isTTY === true && process.stdout.isTTY === true

/** Asks the user. An abort counts as a refusal. */
export async function askPerson(signal: AbortSignal): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  // readline captures Ctrl-C.
  terminal.on('SIGINT', () => process.emit('SIGINT'))
  try {
    return /^y(es)?$/i.test((await terminal.question('  Allow? [y/N] ', { signal })).trim())
  } catch {
    return false // aborted while waiting
  } finally {
    terminal.close()
  }
}
