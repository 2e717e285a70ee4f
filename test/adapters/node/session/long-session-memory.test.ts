import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { quickProgram } from '../../../support/quick-program.ts'
import { temporaryRoot } from '../temporary.ts'

const program = quickProgram(fileURLToPath(new URL('long-agent.ts', import.meta.url)))

it('uses at most 1.5 times the stored size in memory for a long session', async () => {
  const { root } = temporaryRoot()
  await promisify(execFile)(process.execPath, [program.path, root, 'write'])
  // 80 MB of text, and some 25 MB that a program takes which has done nothing.
  const { stdout } = await promisify(execFile)(process.execPath, ['--max-old-space-size=145', program.path, root, 'resume'])
  expect(stdout).toBe('2000 messages, then completed\n')
})
