import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { type ToolContext, ToolError, type ToolResult } from '../../../src/index.ts'

const made: string[] = []
afterAll(() => {
  for (const path of made) rmSync(path, { recursive: true, force: true })
})

/** A workspace root and a directory beside it that nothing may reach; both are removed after the file's tests. */
export function temporaryRoot(): { root: string; outside: string } {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'phi-node-')))
  made.push(base)
  const [root, outside] = [join(base, 'root'), join(base, 'outside')]
  mkdirSync(root)
  mkdirSync(outside)
  return { root, outside }
}

/** Whether a program is there; says so when it is not, because the tests that need it are skipped. */
export function present(program: string, ...args: string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore' })
    return true
  } catch {
    console.warn(`${program} is not installed: the tests that need it are SKIPPED`)
    return false
  }
}

/** A tool context that keeps the updates it gets. */
export function toolContext(signal: AbortSignal = new AbortController().signal): ToolContext & { updates: ToolResult[] } {
  const updates: ToolResult[] = []
  return {
    context: undefined,
    data: () => undefined,
    toolCallId: 'call-1',
    toolName: 'tool',
    sessionId: 'session',
    loopId: 'loop',
    signal,
    updates,
    update: (partial) => updates.push(partial),
    progress: () => {},
    budget: { charge: () => {}, exceeded: () => undefined },
    childEvent: () => {},
    changeContext: () => {},
  }
}

/** What a call fails with: the code and message of a `PhiError` or the message of any other error. */
export async function failureOf(call: Promise<unknown> | unknown): Promise<string> {
  try {
    await call
    return 'fulfilled'
  } catch (error) {
    if (error instanceof ToolError) return `${error.code}: ${error.message}`
    if (error instanceof Error && 'code' in error) return String(error.code)
    return String(error)
  }
}
